package dynamostore_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// faulty returns a store whose wire injects faults.
func faulty(t *testing.T) (*dynamostore.Store, *wire, *watcher) {
	t.Helper()
	o := theServer(t).database(t)
	watch := newWatcher()
	o.MaxAttempts, o.Observer = 3, watch
	w := hook(&o)
	return open(t, o), w, watch
}

func row(t *testing.T, s *dynamostore.Store, ref store.Ref) (timer.Timer, bool) {
	t.Helper()
	out, err := s.Current(t.Context(), []store.Check{{Ref: ref}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0].Timer, out[0].Found
}

// answerOf returns the error of the only item of a batch. An error of the whole call loses its kind, because the call
// must not fail.
func answerOf[T any](out []T, err error, of func(T) error) error {
	if err != nil {
		return fmt.Errorf("the whole call: %w", errors.New(err.Error())) // the call must not fail
	}
	return of(out[0])
}

// wantOnly fails unless the error wraps want, does not wrap not, and is one line.
func wantOnly(t *testing.T, what string, err, want, not error) {
	t.Helper()
	if !errors.Is(err, want) || errors.Is(err, not) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %v and not %v", what, err, want, not)
	}
}

func TestThrottledForAWhileIsOnlySlow(t *testing.T) {
	s, w, watch := faulty(t)
	for _, operation := range []string{"UpdateItem", "Query", "BatchGetItem", "TransactWriteItems"} {
		w.first(operation, throttle)
		made := made(t, s, putIn(0, operation, present))
		claims := claimed(t, s, 0)
		answer, err := s.Due(t.Context(), dueIn(claims))
		if err != nil || len(answer[0].Rows) != 1 {
			t.Fatalf("%s throttled once: due %+v, %v", operation, answer, err)
		}
		errs, err := s.Finish(t.Context(), present, []store.Finish{finishOf(0, &made[0], store.FinishDone)})
		if err != nil || errs[0] != nil {
			t.Fatalf("%s throttled once: finish %v, %v", operation, errs, err)
		}
	}
	if watch.throttled != 4 {
		t.Errorf("the observer was told of %d throttled attempts, want 4", watch.throttled)
	}
}

func TestThrottledForGoodIsUnavailable(t *testing.T) {
	s, w, _ := faulty(t)
	kept := made(t, s, putIn(0, "kept", present))[0]
	claims := claimed(t, s, 0)
	w.on(func(string, string) fault { return throttle })
	ctx := t.Context()
	op := putIn(0, "new", present)
	var group sync.WaitGroup // all of them wait before their retries
	for what, call := range map[string]func() error{
		"write": func() error {
			out, err := s.Write(ctx, present, []store.Op{op})
			return answerOf(out, err, func(w store.Written) error { return w.Err })
		},
		"get": func() error { _, err := s.Get(ctx, present, op.Ref); return err },
		"due": func() error {
			out, err := s.Due(ctx, dueIn(claims))
			return answerOf(out, err, func(d store.DueShard) error { return d.Err })
		},
		"current": func() error {
			out, err := s.Current(ctx, []store.Check{{Ref: op.Ref}})
			return answerOf(out, err, func(c store.Checked) error { return c.Err })
		},
		"advance": func() error {
			out, err := s.Advance(ctx, present, []store.Advance{{Claim: claims[0], Watermark: store.MaxKeyAt(1)}})
			return answerOf(out, err, func(err error) error { return err })
		},
		"finish": func() error {
			out, err := s.Finish(ctx, present, []store.Finish{finishOf(0, &kept, store.FinishDone)})
			return answerOf(out, err, func(err error) error { return err })
		},
	} {
		group.Go(func() { wantOnly(t, what, call(), store.ErrUnavailable, store.ErrOutcomeUnknown) })
	}
	group.Wait()
	w.on(nil)
	if _, found := row(t, s, op.Ref); found {
		t.Error("a write that was refused is there")
	}
	if now, found := row(t, s, store.Ref{UUID: kept.UUID}); !found || now.Revision != kept.Revision {
		t.Error("a finish that was refused has moved the row")
	}
}

// TestPartOfABatch: one refused item does not change the answers of the other 39.
func TestPartOfABatch(t *testing.T) {
	s, w, _ := faulty(t)
	ops := make([]store.Op, 40)
	for i := range ops {
		ops[i] = putIn(0, fmt.Sprint(i), present)
	}
	last := timer.UUIDOf("default", "39").String()
	w.on(func(operation, body string) fault {
		if operation == "UpdateItem" && strings.Contains(body, last) {
			return throttle
		}
		return pass
	})
	out, err := s.Write(t.Context(), present, ops)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out[:39] {
		if out[i].Err != nil {
			t.Errorf("put %d: %v", i, out[i].Err)
		}
	}
	wantOnly(t, "the put that was refused", out[39].Err, store.ErrUnavailable, store.ErrOutcomeUnknown)
}

// TestPartOfABatchWithoutTheService: a failure that does not concern a shard ends the batch. Items that were not tried
// are unavailable, and items that were applied are not.
func TestPartOfABatchWithoutTheService(t *testing.T) {
	s, w, _ := faulty(t)
	ops := make([]store.Op, 400)
	for i := range ops {
		ops[i] = putIn(shard.ID(i%7), fmt.Sprint(i), present)
	}
	var done atomic.Int64
	w.on(func(operation, _ string) fault {
		if operation == "UpdateItem" && done.Add(1) > 100 {
			return breakDown
		}
		return pass
	})
	out, err := s.Write(t.Context(), present, ops)
	if err != nil {
		t.Fatal(err)
	}
	w.on(nil)
	counts := map[string]int{}
	for i := range out {
		put, _ := ops[i].(store.Put)
		_, found := row(t, s, put.Ref)
		switch {
		case out[i].Err == nil && found:
			counts["done"]++
		case errors.Is(out[i].Err, store.ErrOutcomeUnknown) && !errors.Is(out[i].Err, store.ErrUnavailable):
			counts["unknown"]++
		case errors.Is(out[i].Err, store.ErrUnavailable) && !found:
			counts["not tried"]++
		default:
			t.Errorf("put %d: %v, and the row is there: %t", i, out[i].Err, found)
		}
	}
	if counts["done"] != 100 || counts["unknown"] == 0 || counts["unknown"] > 64 || counts["not tried"] == 0 {
		t.Errorf("of %d puts: %v; want 100 done, those unknown that were under way, and the others not tried", len(ops), counts)
	}
}

// TestALostAnswerIsUnknown: a write that was applied and whose answer was lost is never reported as refused, and a
// retry does not fail on its own condition.
func TestALostAnswerIsUnknown(t *testing.T) {
	s, w, _ := faulty(t)
	ctx := t.Context()
	op := putIn(0, "put", present)
	w.first("UpdateItem", loseAnswer)
	_, err := s.Write(ctx, present, []store.Op{op})
	wantOnly(t, "put", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	t0, found := row(t, s, op.Ref)
	if !found {
		t.Fatal("the put was not done")
	}

	w.first("PutItem", loseAnswer)
	update := store.Update{Ref: op.Ref, Revision: revisions.Next()}
	_, err = s.Write(ctx, present, []store.Op{update})
	wantOnly(t, "update", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	if t0, _ = row(t, s, op.Ref); t0.Revision != update.Revision {
		t.Error("the update was not done")
	}

	w.first("UpdateItem", loseAnswer)
	lease := finishOf(0, &t0, store.FinishLeased)
	_, err = s.Finish(ctx, present, []store.Finish{lease})
	wantOnly(t, "lease", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	// I2: the row carries the revision that this dispatcher wrote.
	if t0, _ = row(t, s, op.Ref); t0.Revision != lease.Next {
		t.Error("the lease was not taken")
	}

	w.first("DeleteItem", loseAnswer)
	_, err = s.Write(ctx, present, []store.Op{store.Delete{Ref: op.Ref}})
	wantOnly(t, "delete", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	if _, found := row(t, s, op.Ref); found {
		t.Error("the delete was not done")
	}

	w.first("UpdateItem", loseAnswer)
	_, err = s.Claim(ctx, present, store.Owner{}, count(1))
	wantOnly(t, "claim", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	if next := claimed(t, s, 0)[0]; next.Version != 2 {
		t.Errorf("version %d, want 2 behind the claim whose answer was lost", next.Version)
	}
}

// TestATransactionIsKnownByItsToken: an attempt whose answer was lost is retried and not applied twice.
func TestATransactionIsKnownByItsToken(t *testing.T) {
	s, w, _ := faulty(t)
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishRetry, store.FinishDead, store.FinishParked} {
		t0 := made(t, s, putIn(0, fmt.Sprint(kind), present))[0]
		f := finishOf(0, &t0, kind)
		w.first("TransactWriteItems", loseAnswer)
		errs, err := s.Finish(t.Context(), present, []store.Finish{f})
		if err != nil || errs[0] != nil {
			t.Errorf("kind %d: %v, %v", kind, errs, err)
		}
		history, err := s.History(t.Context(), present, f.Ref, 10)
		if want := map[bool]int{true: 0, false: 1}[kind == store.FinishParked]; err != nil || len(history) != want {
			t.Errorf("kind %d: %d entries of history (%v), want %d", kind, len(history), err, want)
		}
	}
}

// TestATransactionWhoseAnswerWasLostIsNeverCalledUnavailable: the first attempt was applied, and the service refuses
// the later attempts. The answers to those do not say whether the first attempt was applied.
func TestATransactionWhoseAnswerWasLostIsNeverCalledUnavailable(t *testing.T) {
	s, w, _ := faulty(t)
	t0 := made(t, s, putIn(0, "a", present))[0]
	tried := 0
	w.on(func(operation, _ string) fault {
		if operation != "TransactWriteItems" {
			return pass
		}
		if tried++; tried == 1 {
			return loseAnswer
		}
		return throttle
	})
	f := finishOf(0, &t0, store.FinishDone)
	out, err := s.Finish(t.Context(), present, []store.Finish{f})
	err = answerOf(out, err, func(err error) error { return err })
	wantOnly(t, "finish", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	w.on(nil)
	if _, found := row(t, s, f.Ref); found || tried != 3 {
		t.Errorf("after %d attempts the row is there: %v; want 3 and false", tried, found)
	}
}

func TestAServiceThatBreaksDownMayHaveDoneIt(t *testing.T) {
	s, w, _ := faulty(t)
	w.on(func(operation, _ string) fault {
		if operation == "UpdateItem" {
			return breakDown
		}
		return pass
	})
	_, err := s.Write(t.Context(), present, []store.Op{putIn(0, "a", present)})
	wantOnly(t, "write", err, store.ErrOutcomeUnknown, store.ErrUnavailable)
	w.first("GetItem", breakDown) // reads are retried
	if _, err := s.Get(t.Context(), present, store.Ref{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
}

// TestMarksOfARefusedBucketHideNoOthers: outbox items are in buckets. Each bucket is a partition, which can be hot.
func TestMarksOfARefusedBucketHideNoOthers(t *testing.T) {
	s, w, _ := faulty(t)
	for id := range shard.ID(2) {
		there := made(t, s, putIn(id, id.String(), present))[0]
		if errs, err := s.Finish(t.Context(), present, []store.Finish{finishOf(id, &there, store.FinishDead)}); err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
	}
	marks := func(shards ...shard.ID) ([]store.OutboxEntry, error) {
		return s.Outbox(t.Context(), shards, present+1000, 10)
	}
	bucketIn := regexp.MustCompile(`":bucket":\{"N":"-?\d+"\}`)
	var bucket string
	w.on(func(operation, body string) fault {
		if operation == "Query" {
			bucket = bucketIn.FindString(body)
		}
		return pass
	})
	if got, err := marks(0); err != nil || len(got) != 1 || bucket == "" {
		t.Fatalf("%d marks in %s: %v", len(got), bucket, err)
	}
	w.on(func(operation, body string) fault {
		if operation == "Query" && strings.Contains(body, bucket) {
			return throttle
		}
		return pass
	})
	if got, err := marks(0, 1); err != nil || len(got) != 1 || got[0].ID.Ref.Shard != 1 {
		t.Errorf("with one hot bucket of two: %d marks, %v; want that of shard 1", len(got), err)
	}
	if got, err := marks(0); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("of the hot bucket alone: %d marks, %v; want ErrUnavailable", len(got), err)
	}
}

func TestAFullCollection(t *testing.T) {
	s, w, watch := faulty(t)
	there := made(t, s, putIn(7, "there", present))[0]
	w.on(func(operation, _ string) fault {
		if operation == "UpdateItem" {
			return fill
		}
		return pass
	})
	out, err := s.Write(t.Context(), present, []store.Op{putIn(7, "more", present)})
	err = answerOf(out, err, func(w store.Written) error { return w.Err })
	wantOnly(t, "write", err, store.ErrUnavailable, store.ErrOutcomeUnknown)
	if !errors.Is(err, dynamostore.ErrCollectionFull) || !strings.Contains(err.Error(), "shard 7") || !strings.Contains(err.Error(), "docs/dynamodb.md") {
		t.Errorf("the error is %v", err)
	}
	if watch.fulls != 1 || watch.full != 7 {
		t.Errorf("the observer was told %d times, of shard %s", watch.fulls, watch.full)
	}
	// Existing timers can still be finished.
	errs, err := s.Finish(t.Context(), present, []store.Finish{finishOf(7, &there, store.FinishDone)})
	if err != nil || errs[0] != nil {
		t.Errorf("finish: %v, %v", errs, err)
	}
}

// TestI13_AFullCollectionCountsNoStarts: a count makes its row longer, and dispatchers repeat the check until it is
// answered. If it were refused, no timer would be delivered any more, and so none would end and free space.
func TestI13_AFullCollectionCountsNoStarts(t *testing.T) {
	s, w, watch := faulty(t)
	full, other := made(t, s, putIn(7, "full", present))[0], made(t, s, putIn(8, "other", present))[0]
	w.on(func(operation, body string) fault {
		if operation == "UpdateItem" && strings.Contains(body, full.UUID.String()) {
			return fill
		}
		return pass
	})
	checked, err := s.Current(t.Context(), []store.Check{
		{Ref: store.Ref{Shard: 7, UUID: full.UUID}, Revision: full.Revision, CountStart: true},
		{Ref: store.Ref{Shard: 8, UUID: other.UUID}, Revision: other.Revision, CountStart: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !checked[0].Matches(full.Revision) || checked[0].Counted || !checked[1].Matches(other.Revision) || !checked[1].Counted {
		t.Errorf("in the full shard: %+v; in the other: %+v", checked[0], checked[1])
	}
	if watch.fulls != 1 {
		t.Errorf("the observer was told %d times, want once", watch.fulls)
	}
}

func TestACollectionThatGrows(t *testing.T) {
	s, w, watch := faulty(t)
	w.on(func(operation, body string) fault {
		if operation == "UpdateItem" && strings.Contains(body, `"ReturnItemCollectionMetrics":"SIZE"`) {
			return estimate // DynamoDB Local reports none
		}
		return pass
	})
	for i := range 300 { // some of them request the size
		made(t, s, putIn(7, fmt.Sprint(i%3), present))
	}
	if watch.measured != 2 || watch.gigabytes != 9 {
		t.Errorf("the observer was told %d times, last of %.0f GB; want 2 times, of 9 GB", watch.measured, watch.gigabytes)
	}
}

// TestAnEmptyPageIsNotTheEnd: DynamoDB may answer a Query with no items and a key from which to continue.
func TestAnEmptyPageIsNotTheEnd(t *testing.T) {
	s, w, _ := faulty(t)
	made(t, s, putIn(0, "due", present), putIn(0, "later", present+3_600_000))
	claims := claimed(t, s, 0)
	// Every second Query is answered with an empty page, beginning with the first.
	n := 0
	w.on(func(operation, _ string) fault {
		if operation != "Query" {
			return pass
		}
		if n++; n%2 == 1 {
			return emptyPage
		}
		return pass
	})
	due, err := s.Due(t.Context(), dueIn(claims))
	if err != nil || len(due[0].Rows) != 1 || due[0].NextDueAt != present+3_600_000 || due[0].Cut {
		t.Errorf("due: %+v, %v; want one row and the next an hour later", due, err)
	}
	overdue, err := s.Overdue(t.Context(), overdueIn(claims))
	if err != nil || len(overdue[0].Rows) != 1 || overdue[0].More {
		t.Errorf("overdue: %+v, %v; want one row", overdue, err)
	}
	states, err := s.Inspect(t.Context(), []shard.ID{0})
	if err != nil || states[0].NextDueAt != present {
		t.Errorf("inspect: %+v, %v; want the next timer due at %s", states, err, present)
	}
	ns := store.Namespace{Name: "default", Shards: shard.Block{Count: 1}}
	page, err := s.List(t.Context(), present, store.ListQuery{Namespace: ns, Limit: 10})
	if err != nil || len(page.Timers) != 2 || len(page.Next) != 0 {
		t.Errorf("list: %d timers, next %q, %v; want 2 and the last page", len(page.Timers), page.Next, err)
	}
}

func TestAnItemThatIsTooLarge(t *testing.T) {
	s, _, _ := faulty(t)
	large, small := putIn(0, "large", present), putIn(0, "small", present)
	large.Spec.Payload = bytes.Repeat([]byte("7"), 450<<10)
	out, err := s.Write(t.Context(), present, []store.Op{large, small})
	if err != nil {
		t.Fatal(err)
	}
	wantOnly(t, "write", out[0].Err, store.ErrInvalid, store.ErrUnavailable)
	if !strings.Contains(out[0].Err.Error(), "400 KB") || out[1].Err != nil {
		t.Errorf("answers are %v and %v", out[0].Err, out[1].Err)
	}
	if _, found := row(t, s, large.Ref); found {
		t.Error("the large one is there")
	}
	if _, found := row(t, s, small.Ref); !found {
		t.Error("the small one is not there")
	}
}

// TestAKeptCreateMeetsAWholeLife: between a create's read of history and its write, another create of the same timer is
// applied, and that timer fires and is done. Then a third create writes its placeholder and gets no further. The late
// create must not make the timer fire again: the placeholder is not its own.
func TestAKeptCreateMeetsAWholeLife(t *testing.T) {
	for _, with := range []store.OnConflict{store.Keep, store.Fail} {
		o := theServer(t).database(t)
		slow, fast, stuck := o, o, o
		stuck.MaxAttempts = 1
		w, broken := hook(&slow), hook(&stuck)
		late, early, third := open(t, slow), open(t, fast), open(t, stuck)
		broken.on(func(operation, _ string) fault {
			if operation == "Query" {
				return breakDown
			}
			return pass
		})
		op := putIn(0, "a", present)
		op.OnConflict = with
		lived := false
		w.on(func(operation, _ string) fault {
			// The last request of the late create: it has read the history, which is empty.
			if operation != "PutItem" || lived {
				return pass
			}
			lived = true
			twin := op
			twin.Revision = revisions.Next()
			t0 := made(t, early, twin)[0]
			if errs, err := early.Finish(t.Context(), present, []store.Finish{finishOf(0, &t0, store.FinishDone)}); err != nil || errs[0] != nil {
				t.Errorf("finish: %v, %v", errs, err)
			}
			op := op
			op.Revision = revisions.Next()
			if out, err := third.Write(t.Context(), present, []store.Op{op}); err == nil && out[0].Err == nil {
				t.Errorf("the third create did not break down: %+v", out[0])
			}
			return pass
		})
		out, err := late.Write(t.Context(), present, []store.Op{op})
		if err != nil {
			t.Fatal(err)
		}
		if with == store.Keep && (out[0].Err != nil || !out[0].Kept) || with == store.Fail && !errors.Is(out[0].Err, store.ErrExists) {
			t.Errorf("the late create is answered %+v", out[0])
		}
		if out[0].Timer.Status != timer.StatusDone || !lived {
			t.Errorf("the late create finds it %q", out[0].Timer.Status)
		}
		if _, found := row(t, late, op.Ref); found {
			t.Error("the timer lives again")
		}
	}
}

// TestATakeOverDuringAPoll: another process claims the shard immediately before a poll reads the rows, or immediately
// before it reads the claim. If it read the claim first, it would not notice one of them.
func TestATakeOverDuringAPoll(t *testing.T) {
	for _, before := range []string{"Query", "BatchGetItem"} {
		t.Run(before, func(t *testing.T) { takeOverDuringAPoll(t, before) })
	}
}

func takeOverDuringAPoll(t *testing.T, before string) {
	o := theServer(t).database(t)
	polled, other := o, o
	w := hook(&polled)
	old, heir := open(t, polled), open(t, other)
	made(t, old, putIn(0, "a", present))
	claims := claimed(t, old, 0)
	w.on(func(operation, _ string) fault {
		if operation == before {
			claimed(t, heir, 0)
		}
		return pass
	})
	answer, err := old.Due(t.Context(), dueIn(claims))
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(answer[0].Err, store.ErrFenced) || len(answer[0].Rows) != 0 {
		t.Errorf("due: %d rows, %v; want none and ErrFenced", len(answer[0].Rows), answer[0].Err)
	}
}
