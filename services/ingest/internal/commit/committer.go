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

// ErrFull says that too many operations wait. Nothing was applied.
var ErrFull = errors.New("too many operations wait for the store")

// Config is all a Committer needs; nothing has a default here.
type Config struct {
	// Write is the store's.
	Write func(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error)
	Clock timer.Clock
	// Lanes is how many writes may run at once. An operation's lane follows from its shard, so that
	// those on one timer keep their order even when the store hangs and the client gives up in between.
	Lanes int
	// BatchOps and BatchBytes bound one write.
	BatchOps, BatchBytes int
	// QueueOps and QueueBytes bound what waits, all lanes together.
	QueueOps, QueueBytes int
	// Timeout bounds one write; after it the outcome is unknown.
	Timeout time.Duration
	// Committed is called after every write, before the operations are answered.
	Committed func(Batch)
	// AfterIsBefore is planted by simulations: After is then the time before the commit.
	AfterIsBefore bool
	// Sizes and Seconds observe operations per write and its duration.
	Sizes, Seconds prometheus.Observer
}

// Batch is one finished write.
type Batch struct {
	Ops []store.Op
	// Written and Err are the store's answer; an expired write's Err is store.ErrOutcomeUnknown.
	Written []store.Written
	Err     error
	// Now is the time the rows carry, After the time after the commit.
	Now, After timer.Millis
}

// Result is the store's answer to one operation, and the time after the commit.
type Result struct {
	Written store.Written
	After   timer.Millis
}

// Committer gathers operations and writes them. It adds no wait: an operation that finds its lane idle
// is written at once, and the next batch is what came meanwhile.
type Committer struct {
	cfg   Config
	lanes []*lane
}

// New returns a Committer; it takes operations at once and writes them from Run on.
func New(cfg Config) *Committer {
	c := &Committer{cfg: cfg}
	for range cfg.Lanes {
		c.lanes = append(c.lanes, &lane{
			wake:     make(chan struct{}, 1),
			maxOps:   max(1, cfg.QueueOps/cfg.Lanes),
			maxBytes: max(1, cfg.QueueBytes/cfg.Lanes),
		})
	}
	return c
}

// Run writes until Stop was called and everything taken before it is answered.
func (c *Committer) Run() {
	var lanes sync.WaitGroup
	for _, l := range c.lanes {
		lanes.Go(func() { c.run(l) })
	}
	lanes.Wait()
}

// Stop refuses operations from now on, with store.ErrUnavailable.
func (c *Committer) Stop() {
	for _, l := range c.lanes {
		l.close()
	}
}

// Waiting counts the operations that wait.
func (c *Committer) Waiting() int {
	n := 0
	for _, l := range c.lanes {
		n += l.waiting()
	}
	return n
}

// Submit waits until the operation was written. size is about what it holds in memory.
//
// Its error is ErrFull, store.ErrUnavailable (not applied, and never will be) or
// store.ErrOutcomeUnknown, which is also the answer when ctx ends after the write began: it may be
// applied, now or later. An item's own refusal is in the Result.
func (c *Committer) Submit(ctx context.Context, op store.Op, size int) (Result, error) {
	e := &entry{op: op, size: size, done: make(chan outcome, 1)}
	l := c.lanes[int(refOf(op).Shard)%len(c.lanes)]
	if err := l.add(e); err != nil {
		return Result{}, err
	}
	select {
	case o := <-e.done:
		return o.Result, o.err
	case <-ctx.Done():
		if e.state.CompareAndSwap(queued, withdrawn) {
			return Result{}, fmt.Errorf("wait for the store: %w: %w", store.ErrUnavailable, ctx.Err())
		}
		return Result{}, fmt.Errorf("wait for the commit: %w: %w", store.ErrOutcomeUnknown, ctx.Err())
	}
}

// run is one lane's loop.
func (c *Committer) run(l *lane) {
	var batch []*entry
	for {
		var open bool
		if batch, open = l.take(batch[:0], c.cfg.BatchOps, c.cfg.BatchBytes); len(batch) > 0 {
			c.write(batch)
			continue
		}
		if !open {
			return
		}
		<-l.wake
	}
}

func (c *Committer) write(batch []*entry) {
	b := Batch{Ops: make([]store.Op, len(batch)), Now: c.cfg.Clock()}
	for i, e := range batch {
		b.Ops[i] = e.op
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	defer cancel()
	took := prometheus.NewTimer(c.cfg.Seconds)
	b.Written, b.Err = c.cfg.Write(ctx, b.Now, b.Ops)
	took.ObserveDuration()
	c.cfg.Sizes.Observe(float64(len(batch)))
	b.After = c.cfg.Clock()
	if c.cfg.AfterIsBefore {
		b.After = b.Now
	}
	b.Err = Settle(b.Err, len(b.Written), len(b.Ops))
	c.cfg.Committed(b)
	for i, e := range batch {
		o := outcome{err: b.Err}
		if b.Err == nil {
			o.Result = Result{Written: b.Written[i], After: b.After}
		}
		e.done <- o
	}
}

// Settle makes a write's error one of the contract's: an ended context means an unknown outcome.
func Settle(err error, answers, ops int) error {
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
	default:
		return store.Ref{}
	}
}
