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

// ErrBatcherClosed is the error of a Batcher after Close was called.
var ErrBatcherClosed = errors.New("the batcher is closed")

// BatcherOptions configure a Batcher.
type BatcherOptions struct {
	// MaxItems is the maximum number of items in a batch, 1 to MaxBatch. Default 100.
	MaxItems int
	// MaxBytes limits the JSON of a batch, in bytes; the last item may exceed it. Default 4 MiB.
	MaxBytes int
	// MaxWait is how long the first item of a batch waits for others. Default 2 ms.
	MaxWait time.Duration
	// InFlight is the maximum number of batches in flight. Default 4.
	InFlight int
}

// Batcher creates timers for many concurrent callers. Requests that arrive within a short time are sent in one batch
// and committed together. Each caller gets the answer or error of its own timer.
//
// If InFlight batches are in flight and the next one is full, callers wait, so that at most InFlight + 1 batches are in
// memory. Batches are repeated under the conditions of BatchCreateTimers: callers with onConflict fail should not share
// a Batcher with callers with other values.
type Batcher struct {
	client  *Client
	options BatcherOptions

	intake  chan *item
	slots   chan struct{} // one element per batch in flight
	closing chan struct{}
	close   func()
	done    chan struct{} // closed when every item is answered

	// alive is the context of all requests.
	alive context.Context
	kill  context.CancelFunc
}

// item is the request of one caller.
type item struct {
	ctx    context.Context
	json   json.RawMessage
	repeat repeatable
	answer chan outcome // buffered: the caller may no longer wait
}

type outcome struct {
	written BatchWritten
	err     error
}

// NewBatcher starts a batcher. The caller must close it.
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

// maxItem is the size in bytes above which an item is sent alone: the service refuses it, or it is so large that
// batching gains nothing.
const maxItem = 256 << 10

// CreateTimer creates a timer like Client.CreateTimer, but in a batch, and returns fewer fields. If ctx ends first, the
// timer may still be created.
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
	case <-b.closing: // checked first: a closed batcher must not accept the item even if intake is ready
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

// Close stops the intake, sends the accepted items, and returns when every caller has an answer. If ctx ends before
// that, Close cancels the requests in flight, and their callers get errors.
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

// gather collects items until the batch is full, or until it has waited MaxWait and a slot is free. It returns with one
// slot acquired.
func (b *Batcher) gather(first *item) []*item {
	batch, size := []*item{first}, len(first.json)
	waited := time.NewTimer(b.options.MaxWait)
	defer waited.Stop()
	var free chan<- struct{} // nil, and so never ready, until MaxWait has passed
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

// send sends the items whose callers still wait, and answers each.
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
