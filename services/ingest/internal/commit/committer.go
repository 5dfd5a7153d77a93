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
	// Now is the time of the rows that are written. If it returns an error, nothing is written.
	Now func() (timer.Millis, error)
	// After is a time after the commit.
	After timer.Clock
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

// ErrOf is why an operation was not answered: the batch's error, or the store's failure with this operation alone. A
// refusal of the operation is in Written.
func (b *Batch) ErrOf(i int) error {
	if b.Err == nil && store.IsTransient(b.Written[i].Err) {
		return b.Written[i].Err
	}
	return b.Err
}

// Item is an operation, and about what it holds in memory, in bytes.
type Item struct {
	Op   store.Op
	Size int
}

// Outcome is what became of one operation.
type Outcome struct {
	// Written is the store's answer, and After the time after the commit, where Err is nil.
	Written store.Written
	After   timer.Millis
	// Err is ErrFull, store.ErrUnavailable (not applied, and never will be) or store.ErrOutcomeUnknown.
	Err error
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

// Submit waits until the operations were written, those on one timer in their order, and answers each.
// When ctx ends after an operation's write began, its outcome is unknown: it may be applied, now or later.
// What an operation itself was refused for is in Written.
func (c *Committer) Submit(ctx context.Context, items ...Item) []Outcome {
	entries := make([]entry, len(items))
	g := &group{done: make(chan struct{})}
	g.open.Store(int32(len(items)))
	lanes := make([][]*entry, len(c.lanes))
	for i, item := range items {
		e := &entries[i]
		e.op, e.size, e.group = item.Op, item.Size, g
		at := int(refOf(item.Op).Shard) % len(c.lanes)
		lanes[at] = append(lanes[at], e)
	}
	for i, mine := range lanes {
		if len(mine) == 0 {
			continue
		}
		if err := c.lanes[i].add(mine); err != nil {
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
		out[i] = entries[i].settled(ctx)
	}
	return out
}

// settled is the answer, or what can be said of an operation whose client gives up.
func (e *entry) settled(ctx context.Context) Outcome {
	switch {
	case e.state.CompareAndSwap(queued, withdrawn):
		return Outcome{Err: fmt.Errorf("wait for the store: %w: %w", store.ErrUnavailable, ctx.Err())}
	case e.state.Load() == answered:
		return e.outcome
	default:
		return Outcome{Err: fmt.Errorf("wait for the commit: %w: %w", store.ErrOutcomeUnknown, ctx.Err())}
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
	if c.cfg.AfterIsBefore {
		b.After = b.Now
	}
	b.Err = Settle(b.Err, len(b.Written), len(b.Ops))
	c.cfg.Committed(b)
	for i, e := range batch {
		o := Outcome{Err: b.ErrOf(i)}
		if o.Err == nil {
			o.Written, o.After = b.Written[i], b.After
		}
		e.answer(o)
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
