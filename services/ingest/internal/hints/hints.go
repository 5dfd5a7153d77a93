// Package hints publishes hints to the schedulers about timers that have changed and are due soon.
//
// It imports pkg/bus, internal/event, internal/outage and pkg/shard. Add never waits: if the queue is full, a hint is dropped. A
// failed publish is counted and not repeated, because the schedulers also read the store (rule I1).
package hints

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Config configures a Publisher. All fields are required.
type Config struct {
	Bus    bus.Bus
	Outage *outage.Log
	// Queue bounds the waiting hints, Batch the hints of one publish.
	Queue, Batch int
	// Timeout bounds one publish.
	Timeout                    time.Duration
	Published, Failed, Dropped prometheus.Counter
}

// Publisher publishes in the background. Hints that arrive during a publish form the next batch.
type Publisher struct {
	cfg  Config
	wake chan struct{} // has a token if Run must look at the queue

	mu     sync.Mutex
	queue  []event.Hint
	closed bool
}

// New returns a Publisher. It accepts hints immediately and publishes them while Run runs.
func New(cfg Config) *Publisher {
	return &Publisher{cfg: cfg, wake: make(chan struct{}, 1)}
}

// Add adds as many hints as there is room for, and drops the rest.
func (p *Publisher) Add(hints []event.Hint) {
	if len(hints) == 0 {
		return
	}
	p.mu.Lock()
	room := max(0, p.cfg.Queue-len(p.queue))
	if p.closed {
		room = 0
	}
	take := min(room, len(hints))
	p.queue = append(p.queue, hints[:take]...)
	p.mu.Unlock()
	p.cfg.Dropped.Add(float64(len(hints) - take))
	p.signal()
}

// Stop makes Run return once the queue is flushed. Later hints are dropped.
func (p *Publisher) Stop() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.signal()
}

func (p *Publisher) signal() {
	select {
	case p.wake <- struct{}{}:
	default: // the token is already there
	}
}

// Run publishes until Stop was called and the queue is flushed. After Stop, it also returns if a publish fails.
func (p *Publisher) Run() {
	for {
		batch, closed := p.take()
		if len(batch) == 0 {
			if closed {
				return
			}
			<-p.wake
			continue
		}
		if err := p.publish(batch); err != nil && closed {
			p.dropAll()
			return
		}
	}
}

func (p *Publisher) take() (batch []event.Hint, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.queue), p.cfg.Batch)
	batch = append(batch, p.queue[:n]...)
	p.queue = p.queue[:copy(p.queue, p.queue[n:])]
	return batch, p.closed
}

// dropAll drops the remaining hints, so that a dead bus does not delay a shutdown.
func (p *Publisher) dropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg.Dropped.Add(float64(len(p.queue)))
	p.queue = nil
}

// operation is the name of a publish in the log.
const operation = "publish hints"

func (p *Publisher) publish(batch []event.Hint) error {
	messages := make([]bus.Message, len(batch))
	for i, h := range batch {
		messages[i] = bus.Message{
			Partition: shard.PartitionOf(h.Shard, p.cfg.Bus.Partitions()),
			Key:       h.Shard.String(),
			Body:      event.MarshalHint(h),
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.Timeout)
	defer cancel()
	if _, err := p.cfg.Bus.Publish(ctx, bus.Shards, messages...); err != nil {
		p.cfg.Failed.Add(float64(len(batch)))
		p.cfg.Outage.Failed(operation, err, "hints", len(batch)) // polls find their timers
		return err
	}
	p.cfg.Outage.Succeeded(operation)
	p.cfg.Published.Add(float64(len(batch)))
	return nil
}
