package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBatcherClosed is what a Batcher answers after Close was called.
var ErrBatcherClosed = errors.New("the batcher is closed")

// BatcherOptions bound a Batcher.
type BatcherOptions struct {
	// MaxItems are sent together at most, 1 to MaxBatch. Default 100.
	MaxItems int
	// MaxBytes of JSON are sent together at most, give or take one item. Default 4 MiB.
	MaxBytes int
	// MaxWait is how long the first item of a batch waits for others. Default 2 ms.
	MaxWait time.Duration
	// InFlight batches are under way at the same time at most. Default 4.
	InFlight int
}

// Batcher creates timers for many callers at once: what they ask for within a short time travels and is
// committed together. Each caller gets its own timer's answer or error.
//
// Callers wait while InFlight batches are under way and the next one is full, so that no more than
// InFlight + 1 batches are held. A batch is repeated as BatchCreateTimers says: those who create with
// onConflict fail should not share a Batcher with those who do not.
type Batcher struct {
	client  *Client
	options BatcherOptions

	intake  chan *item
	slots   chan struct{} // one for each batch under way
	closing chan struct{}
	close   func()
	done    chan struct{} // everything is answered

	// alive is the context of all sending.
	alive context.Context
	kill  context.CancelFunc
}

// item is one caller's request.
type item struct {
	ctx    context.Context
	json   json.RawMessage
	repeat repeatable
	answer chan outcome // has room for the answer: its caller may have left
}

type outcome struct {
	written BatchWritten
	err     error
}

// NewBatcher starts a batcher. It is to be closed.
func NewBatcher(c *Client, o BatcherOptions) *Batcher {
	o.MaxItems = min(cmp.Or(max(o.MaxItems, 0), 100), MaxBatch)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), 4<<20)
	o.MaxWait = cmp.Or(max(o.MaxWait, 0), 2*time.Millisecond)
	o.InFlight = cmp.Or(max(o.InFlight, 0), 4)
	closing := make(chan struct{})
	b := &Batcher{
		client: c, options: o,
		intake: make(chan *item), slots: make(chan struct{}, o.InFlight), done: make(chan struct{}),
		closing: closing, close: sync.OnceFunc(func() { close(closing) }),
	}
	b.alive, b.kill = context.WithCancel(context.Background())
	go b.run()
	return b
}

// maxItem is the size above which an item goes by itself: the service refuses it, or it is so large
// that company would gain nothing.
const maxItem = 256 << 10

// CreateTimer is Client.CreateTimer, in company, and answers less. When ctx ends first the timer may be
// created all the same.
func (b *Batcher) CreateTimer(ctx context.Context, r CreateTimerRequest) (BatchWritten, error) {
	encoded, err := encode(r)
	if err != nil {
		return BatchWritten{}, fmt.Errorf("timers/batch-create: %w", err)
	}
	if len(encoded) > maxItem {
		return b.alone(ctx, r)
	}
	i := &item{ctx: ctx, json: encoded, repeat: r.OnConflict != Fail, answer: make(chan outcome, 1)}
	select {
	case <-b.closing: // before the others: a batcher that is closed takes nothing, however ready it is
		return BatchWritten{}, ErrBatcherClosed
	default:
	}
	select {
	case b.intake <- i:
	case <-b.closing:
		return BatchWritten{}, ErrBatcherClosed
	case <-ctx.Done():
		return BatchWritten{}, fmt.Errorf("timers/batch-create: %w", ctx.Err())
	}
	select {
	case o := <-i.answer:
		return o.written, o.err
	case <-ctx.Done():
		return BatchWritten{}, fmt.Errorf("timers/batch-create: %w", ctx.Err())
	}
}

func (b *Batcher) alone(ctx context.Context, r CreateTimerRequest) (BatchWritten, error) {
	results, err := b.client.BatchCreateTimers(ctx, []CreateTimerRequest{r})
	switch {
	case err != nil:
		return BatchWritten{}, err
	case results[0].Err != nil:
		return BatchWritten{}, fmt.Errorf("timers/batch-create: %w", results[0].Err)
	default:
		return results[0].BatchWritten, nil
	}
}

// Close takes no more, sends what was taken, and returns when everybody has an answer. If ctx ends before
// that, what is under way is given up and its callers get errors.
func (b *Batcher) Close(ctx context.Context) error {
	b.close()
	defer b.kill()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		b.kill()
		<-b.done
		return fmt.Errorf("close the batcher: %w", ctx.Err())
	}
}

func (b *Batcher) run() {
	defer close(b.done)
	var sending sync.WaitGroup
	defer sending.Wait()
	for {
		var batch []*item
		select {
		case first := <-b.intake:
			batch = b.gather(first)
		case <-b.closing:
			return
		}
		sending.Go(func() {
			defer func() { <-b.slots }()
			b.send(batch)
		})
	}
}

// gather takes items until the batch is full, or until it has waited long enough and a slot is free. It
// returns with a slot.
func (b *Batcher) gather(first *item) []*item {
	batch, size := []*item{first}, len(first.json)
	waited := time.NewTimer(b.options.MaxWait)
	defer waited.Stop()
	var free chan<- struct{} // nil, so never ready, while others may still come
	for len(batch) < b.options.MaxItems && size < b.options.MaxBytes {
		select {
		case i := <-b.intake:
			batch, size = append(batch, i), size+len(i.json)
		case <-waited.C:
			free = b.slots
		case <-b.closing:
			b.slots <- struct{}{}
			return batch
		case free <- struct{}{}:
			return batch
		}
	}
	b.slots <- struct{}{}
	return batch
}

// send sends those items whose callers still wait, and answers each.
func (b *Batcher) send(batch []*item) {
	var waiting []*item
	var request encodedBatch
	repeat := repeatable(true)
	for _, i := range batch {
		if i.ctx.Err() != nil {
			continue
		}
		waiting, request.Timers = append(waiting, i), append(request.Timers, i.json)
		repeat = repeat && i.repeat
	}
	if len(waiting) == 0 {
		return
	}
	results, err := b.client.batch(b.alive, "timers/batch-create", repeat, len(waiting), request)
	for n, i := range waiting {
		switch {
		case err != nil:
			i.answer <- outcome{err: err}
		case results[n].Err != nil:
			i.answer <- outcome{err: fmt.Errorf("timers/batch-create: %w", results[n].Err)}
		default:
			i.answer <- outcome{written: results[n].BatchWritten}
		}
	}
}
