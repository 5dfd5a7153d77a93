package health

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Registry contains the running Consume calls of one handle. The zero value is ready to use.
type Registry struct {
	mu        sync.Mutex
	consumers []*Consumer
}

// Begin registers a Consume call that has not joined its group yet. The caller must call End.
func (r *Registry) Begin(spec bus.Spec, log *slog.Logger) *Consumer {
	c := &Consumer{
		registry: r, topic: spec.Topic, group: spec.Group,
		outage: outage.New(log.With("topic", string(spec.Topic), "group", spec.Group), "consumer", "part"),
		faults: make(map[Part]*fault),
	}
	c.Waiting(Member, errNotJoined)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.consumers = append(r.consumers, c)
	return c
}

func (r *Registry) remove(c *Consumer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.consumers = slices.DeleteFunc(r.consumers, func(o *Consumer) bool { return o == c })
}

// Ready returns why a Consume of the topic in the group makes no progress; nil if all of them make progress.
func (r *Registry) Ready(topic bus.Topic, group string) error {
	r.mu.Lock()
	consumers := slices.Clone(r.consumers)
	r.mu.Unlock()
	found := false
	for _, c := range consumers {
		if c.topic != topic || c.group != group {
			continue
		}
		found = true
		if err := c.err(time.Now()); err != nil {
			return fmt.Errorf("consume %s in group %q: %w: %w", topic, group, bus.ErrUnavailable, err)
		}
	}
	if !found {
		return fmt.Errorf("consume %s in group %q: %w: this handle does not consume it", topic, group, bus.ErrUnavailable)
	}
	return nil
}
