package commit_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
)

// bench is a committer with a slow store.
type bench struct {
	*commit.Committer

	mu      sync.Mutex
	batches [][]byte // the ids of each write, in the order in which writes began
}

const writeTakes = time.Second

func newBench(t *testing.T, tune func(*commit.Config)) *bench {
	t.Helper()
	b := &bench{}
	config := commit.Config{
		Write: b.write, Now: func() (timer.Millis, error) { return timer.SystemClock(), nil }, After: timer.SystemClock,
		Writers: 1, BatchOps: 3, BatchBytes: 100, QueueOps: 4, QueueBytes: 200,
		Timeout: time.Minute, Committed: func(commit.Batch) {},
		Sizes: prometheus.NewHistogram(prometheus.HistogramOpts{}), Seconds: prometheus.NewHistogram(prometheus.HistogramOpts{}),
	}
	if tune != nil {
		tune(&config)
	}
	b.Committer = commit.New(config)
	var running sync.WaitGroup
	running.Go(b.Run)
	t.Cleanup(func() { b.Stop(); running.Wait() })
	return b
}

func (b *bench) write(ctx context.Context, _ timer.Millis, ops []store.Op) ([]store.Written, error) {
	ids := make([]byte, len(ops))
	for i, o := range ops {
		ids[i] = o.(store.Delete).Ref.UUID[0] //nolint:errcheck // these tests submit nothing else.
	}
	b.mu.Lock()
	b.batches = append(b.batches, ids)
	b.mu.Unlock()
	select {
	case <-time.After(writeTakes):
		return make([]store.Written, len(ops)), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b *bench) wantBatches(t *testing.T, want ...[]byte) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.EqualFunc(b.batches, want, slices.Equal) {
		t.Fatalf("written: %v, want %v", b.batches, want)
	}
}

// later submits an operation from a goroutine; the channel gets its error.
func (b *bench) later(ctx context.Context, id byte, size int) <-chan error {
	done := make(chan error, 1)
	op := store.Delete{Ref: store.Ref{Shard: shard.ID(id), UUID: timer.UUID{id}}}
	go func() { done <- b.Submit(ctx, commit.Item{Op: op, Size: size})[0].Err }()
	synctest.Wait()
	return done
}

func TestWhatComesDuringAWriteSharesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		var all []<-chan error
		for id := range byte(5) {
			all = append(all, b.later(t.Context(), id, 1))
		}
		for _, done := range all {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		b.wantBatches(t, []byte{0}, []byte{1, 2, 3}, []byte{4})
	})
}

func TestABatchIsBoundedInBytesAndHoldsAtLeastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		var all []<-chan error
		for id, size := range []int{1, 60, 60, 150} {
			done := b.later(t.Context(), byte(id), size)
			if size == 150 {
				if err := <-done; !errors.Is(err, commit.ErrFull) {
					t.Fatalf("beyond the queue's bytes: %v", err)
				}
				continue
			}
			all = append(all, done)
		}
		for _, done := range all {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		b.wantBatches(t, []byte{0}, []byte{1}, []byte{2})
		// An empty queue accepts even an operation that is larger than a batch.
		if err := <-b.later(t.Context(), 9, 150); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOperationsOnOneTimerShareALaneAndOthersDoNotWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *commit.Config) { c.Writers = 2 })
		began := time.Now()
		even, odd, again := b.later(t.Context(), 2, 1), b.later(t.Context(), 3, 1), b.later(t.Context(), 2, 1)
		if err := errors.Join(<-even, <-odd); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != writeTakes {
			t.Fatalf("two queues took %v", took)
		}
		if err := <-again; err != nil {
			t.Fatal(err)
		}
		b.wantBatches(t, []byte{2}, []byte{3}, []byte{2})
	})
}

// TestOperationsOnOneTimerNeverRunAtTheSameTime: with any number of operations on other timers between two operations
// on one timer, the second one is not written before the first one is answered.
func TestOperationsOnOneTimerNeverRunAtTheSameTime(t *testing.T) {
	const queues = 3
	for between := range 2*queues + 1 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(c *commit.Config) { c.Writers, c.BatchOps, c.QueueOps = queues, 1, 100 })
			began := time.Now()
			first := b.later(t.Context(), 0, 1)
			for i := range between {
				b.later(t.Context(), byte(1+i%(queues-1)), 1) // in the other queues
			}
			second := b.later(t.Context(), 0, 1)
			if err := errors.Join(<-first, <-second); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 2*writeTakes {
				t.Errorf("with %d operations between them, both took %v, want %v: one after the other and no other before them", between, took, 2*writeTakes)
			}
		})
	}
}

// TestOneClientsOperationsOnOneTimerAreInOrder: a batch may create a timer and delete it.
func TestOneClientsOperationsOnOneTimerAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *commit.Config) { c.Writers, c.BatchOps, c.QueueOps = 4, 1, 100 })
		began := time.Now()
		for i, o := range b.several(t.Context(), 5, 5, 5) {
			if o.Err != nil {
				t.Errorf("operation %d: %v", i, o.Err)
			}
		}
		if took := time.Since(began); took != 3*writeTakes {
			t.Errorf("took %v, want %v: one write after the other", took, 3*writeTakes)
		}
	})
}

// TestWrittenOperationsFreeTheirBytes: the queue's bound applies to operations that wait, not to all that have waited.
func TestWrittenOperationsFreeTheirBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		for round := range 3 {
			begun, waiting := b.later(t.Context(), 1, 1), b.later(t.Context(), 2, 60)
			more := b.later(t.Context(), 3, 60)
			if err := errors.Join(<-begun, <-waiting, <-more); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
	})
}

func TestWhoGivesUpIsToldWhetherItMayBeApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		begun, waiting := b.later(ctx, 1, 1), b.later(ctx, 2, 1)
		if n := b.Waiting(); n != 1 {
			t.Fatalf("%d wait, want 1", n)
		}
		giveUp()
		if err := <-begun; !errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("canceled while it was written: %v", err)
		}
		if err := <-waiting; !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("canceled before it was written: %v", err)
		}
		if err := <-b.later(t.Context(), 3, 1); err != nil {
			t.Fatal(err)
		}
		b.wantBatches(t, []byte{1}, []byte{3})
	})
}

func TestStopAnswersWhatWasTakenAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		taken, waiting := b.later(t.Context(), 1, 1), b.later(t.Context(), 2, 1)
		b.Stop()
		if err := <-b.later(t.Context(), 3, 1); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("after Stop: %v", err)
		}
		if err := errors.Join(<-taken, <-waiting); err != nil {
			t.Error(err)
		}
	})
}

// several submits the operations of one client.
func (b *bench) several(ctx context.Context, ids ...byte) []commit.Outcome {
	items := make([]commit.Item, len(ids))
	for i, id := range ids {
		items[i] = commit.Item{Op: store.Delete{Ref: store.Ref{Shard: shard.ID(id), UUID: timer.UUID{id}}}, Size: 1}
	}
	return b.Submit(ctx, items...)
}

func TestOneClientsOperationsAreAnsweredInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *commit.Config) { c.Writers, c.QueueOps = 2, 8 })
		began := time.Now()
		out := b.several(t.Context(), 1, 2, 3, 5, 4)
		for i, o := range out {
			if o.Err != nil || o.After == 0 {
				t.Errorf("operation %d: %+v", i, o)
			}
		}
		if took := time.Since(began); took != writeTakes {
			t.Errorf("took %v, want one write in each queue", took)
		}
	})
}

func TestOneLaneIsFullAndTheOtherIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *commit.Config) { c.Writers, c.QueueOps = 2, 4 })
		begun, waiting := b.later(t.Context(), 1, 1), b.later(t.Context(), 3, 1)
		out := b.several(t.Context(), 5, 2, 7)
		for i, want := range []error{commit.ErrFull, nil, commit.ErrFull} {
			if !errors.Is(out[i].Err, want) {
				t.Errorf("operation %d: %v, want %v", i, out[i].Err, want)
			}
		}
		if err := errors.Join(<-begun, <-waiting); err != nil {
			t.Error(err)
		}
	})
}

func TestWhoGivesUpOnSeveralIsToldOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *commit.Config) { c.QueueOps = 8 })
		ctx, cancel := context.WithTimeout(t.Context(), writeTakes+writeTakes/2)
		defer cancel()
		out := b.several(ctx, 1, 2, 3, 4, 5, 6, 7) // three per write
		for i, want := range []error{nil, nil, nil, store.ErrOutcomeUnknown, store.ErrOutcomeUnknown, store.ErrOutcomeUnknown, store.ErrUnavailable} {
			if !errors.Is(out[i].Err, want) {
				t.Errorf("operation %d: %v, want %v", i, out[i].Err, want)
			}
		}
	})
}

func TestWriteError(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		err          error
		answers, ops int
		want         error
	}{
		{nil, 2, 2, nil},
		{nil, 1, 2, store.ErrOutcomeUnknown},
		{context.DeadlineExceeded, 0, 2, store.ErrOutcomeUnknown},
		{context.Canceled, 0, 2, store.ErrOutcomeUnknown},
		{store.ErrUnavailable, 0, 2, store.ErrUnavailable},
		{errors.Join(store.ErrUnavailable, context.DeadlineExceeded), 0, 2, store.ErrUnavailable},
		{other, 0, 2, other},
	} {
		if got := commit.WriteError(c.err, c.answers, c.ops); !errors.Is(got, c.want) ||
			errors.Is(got, store.ErrOutcomeUnknown) != errors.Is(c.want, store.ErrOutcomeUnknown) {
			t.Errorf("WriteError(%v, %d, %d) is %v, want %v", c.err, c.answers, c.ops, got, c.want)
		}
	}
}

func TestTheQueueKeepsNoAnswerAfterTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prior weak.Pointer[timer.Timer]
		b := newBench(t, func(c *commit.Config) {
			c.Write = func(_ context.Context, _ timer.Millis, ops []store.Op) ([]store.Written, error) {
				written := make([]store.Written, len(ops))
				written[0].Prior = &timer.Timer{}
				prior = weak.Make(written[0].Prior)
				return written, nil
			}
		})
		if err := <-b.later(t.Context(), 1, 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		runtime.GC()
		if prior.Value() != nil {
			t.Error("the idle queue keeps the answer of its last write in memory")
		}
	})
}
