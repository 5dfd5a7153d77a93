package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// ErrFull reports that too many operations wait. Nothing was applied.
var ErrFull = errors.New("too many operations wait for the store")

// Config configures a Committer. All fields are required.
type Config struct {
	// Write writes to the store.
	Write func(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error)
	// Now returns the time for the written rows. If it returns an error, Write is not called, and the operations of the batch
	// fail with this error. Committed, Sizes and Seconds count such a batch as a write.
	Now func() (timer.Millis, error)
	// After returns a time after the commit.
	After timer.Clock
	// Writers is the number of queues. Each makes one write at a time. The shard of an operation determines its queue, so
	// operations on one timer are written in their order, even if a client has given up waiting for an earlier one. But the
	// store may apply a write whose outcome is unknown after later writes.
	Writers int
	// BatchOps and BatchBytes bound one write.
	BatchOps, BatchBytes int
	// QueueOps and QueueBytes bound the waiting operations. Each queue has an equal part, so it may refuse operations while
	// others have room. An empty queue accepts the operations of one Submit, however many and large they are.
	QueueOps, QueueBytes int
	// Timeout bounds one write. If it ends, the outcome is unknown unless Write returns store.ErrUnavailable, and the queue makes its
	// next write.
	Timeout time.Duration
	// Committed is called after every write, before the operations are answered.
	Committed func(Batch)
	// Sizes and Seconds observe the operations per write and its duration.
	Sizes, Seconds prometheus.Observer
}

// Batch is one finished write.
type Batch struct {
	Ops []store.Op
	// Written is the store's answer. Err is the error of Write, mapped by WriteError, or the error of Now.
	Written []store.Written
	Err     error
	// Now is the time in the rows, After the time after the commit.
	Now, After timer.Millis
}

// ErrOf returns the error of the operation with index i: that of the batch, or the store's transient failure for this operation
// alone. It is nil if the store applied or refused the operation; the reason of a refusal is in Written.
func (b *Batch) ErrOf(i int) error {
	if b.Err == nil && store.IsTransient(b.Written[i].Err) {
		return b.Written[i].Err
	}
	return b.Err
}

// Item is an operation, and its approximate size in memory, in bytes.
type Item struct {
	Op   store.Op
	Size int
}

// Outcome is the result of one operation.
type Outcome struct {
	// Written is the store's answer, and After the time after the commit, if Err is nil. Written points into the answer to the
	// whole write, because a copy of a timer is large.
	Written *store.Written
	After   timer.Millis
	// Err, if it is not nil, wraps one of these errors:
	//   - ErrFull, store.ErrUnavailable or the error of Config.Now: the operation is not applied, now or later.
	//   - store.ErrOutcomeUnknown: it may be applied, now or later.
	//   - another error of the store, such as store.ErrClosed.
	Err error
}

// Committer combines operations into writes. It adds no delay: an operation whose queue is idle is written immediately,
// and operations that arrive during a write form the next batch.
type Committer struct {
	cfg    Config
	queues []*writerQueue
}

// New returns a Committer. It accepts operations immediately and writes them while Run runs.
func New(cfg Config) *Committer {
	c := &Committer{cfg: cfg}
	for range cfg.Writers {
		c.queues = append(c.queues, &writerQueue{
			wake:     make(chan struct{}, 1),
			maxOps:   max(1, cfg.QueueOps/cfg.Writers),
			maxBytes: max(1, cfg.QueueBytes/cfg.Writers),
		})
	}
	return c
}

// Run writes until Stop was called and the queues are empty.
func (c *Committer) Run() {
	var queues sync.WaitGroup
	for _, l := range c.queues {
		queues.Go(func() { c.run(l) })
	}
	queues.Wait()
}

// Stop makes Submit refuse operations with store.ErrUnavailable.
func (c *Committer) Stop() {
	for _, l := range c.queues {
		l.close()
	}
}

// Waiting returns the number of operations in the queues. An operation whose caller has given up is counted, and uses room, until
// its queue removes it.
func (c *Committer) Waiting() int {
	n := 0
	for _, l := range c.queues {
		n += l.waiting()
	}
	return n
}

// Submit waits until the operations are written, and returns the outcome of each. Operations on one timer are written in their
// order (Config.Writers). If ctx ends after the write of an operation began, its outcome is unknown: it may be applied, now or
// later. If the store refused an operation, the reason is in Written.
func (c *Committer) Submit(ctx context.Context, items ...Item) []Outcome {
	entries := make([]entry, len(items))
	g := &group{done: make(chan struct{})}
	g.open.Store(int32(len(items)))
	queues := make([][]*entry, len(c.queues))
	for i, item := range items {
		e := &entries[i]
		e.op, e.size, e.group = item.Op, item.Size, g
		at := int(refOf(item.Op).Shard) % len(c.queues)
		queues[at] = append(queues[at], e)
	}
	for i, mine := range queues {
		if len(mine) == 0 {
			continue
		}
		if err := c.queues[i].add(mine); err != nil {
			for _, e := range mine {
				e.answer(Outcome{Err: err})
			}
		}
	}
	select {
	case <-g.done:
	case <-ctx.Done():
	}
	out := make([]Outcome, len(items))
	for i := range entries {
		out[i] = entries[i].result(ctx)
	}
	return out
}

// result returns the outcome. If the client gave up before the answer, the error says whether the write had begun.
func (e *entry) result(ctx context.Context) Outcome {
	switch {
	case e.state.CompareAndSwap(queued, withdrawn):
		return Outcome{Err: fmt.Errorf("wait for the store: %w: %w", store.ErrUnavailable, ctx.Err())}
	case e.state.Load() == answered:
		return e.outcome
	default:
		return Outcome{Err: fmt.Errorf("wait for the commit: %w: %w", store.ErrOutcomeUnknown, ctx.Err())}
	}
}

// run is the loop of one queue.
func (c *Committer) run(l *writerQueue) {
	var batch []*entry
	for {
		var open bool
		if batch, open = l.take(batch[:0], c.cfg.BatchOps, c.cfg.BatchBytes); len(batch) > 0 {
			c.write(batch)
			clear(batch) // otherwise the answer to this write stays in memory until the next one
			continue
		}
		if !open {
			return
		}
		<-l.wake
	}
}

func (c *Committer) write(batch []*entry) {
	b := Batch{Ops: make([]store.Op, len(batch))}
	for i, e := range batch {
		b.Ops[i] = e.op
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	defer cancel()
	took := prometheus.NewTimer(c.cfg.Seconds)
	if b.Now, b.Err = c.cfg.Now(); b.Err == nil {
		b.Written, b.Err = c.cfg.Write(ctx, b.Now, b.Ops)
	}
	took.ObserveDuration()
	c.cfg.Sizes.Observe(float64(len(batch)))
	b.After = c.cfg.After()
	b.Err = WriteError(b.Err, len(b.Written), len(b.Ops))
	c.cfg.Committed(b)
	for i, e := range batch {
		o := Outcome{Err: b.ErrOf(i)}
		if o.Err == nil {
			o.Written, o.After = &b.Written[i], b.After
		}
		e.answer(o)
	}
}

// WriteError maps the error of a write of ops operations. answers is the number of answers that the store gave. Transient errors of the
// store are returned unchanged, also if they wrap an ended context. Any other ended context, or a wrong number of answers, means an
// unknown outcome (store.ErrOutcomeUnknown). Other errors are returned unchanged.
func WriteError(err error, answers, ops int) error {
	switch {
	case err == nil && answers == ops:
		return nil
	case err == nil:
		return fmt.Errorf("%w: the store answered %d of %d operations", store.ErrOutcomeUnknown, answers, ops)
	case store.IsTransient(err):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
	default:
		return err
	}
}

func refOf(op store.Op) store.Ref {
	switch op := op.(type) {
	case store.Put:
		return op.Ref
	case store.Update:
		return op.Ref
	case store.Delete:
		return op.Ref
	case store.Pause:
		return op.Ref
	case store.Resume:
		return op.Ref
	default:
		return store.Ref{}
	}
}
