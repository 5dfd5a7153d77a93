package handle

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/bus"
)

// MaxMessage is the contract's limit for body, key and headers together, in bytes.
const MaxMessage = 1 << 20

// Check returns an error for messages that the bus can never accept. checkOwn is the engine's check of the names of user
// topics.
func Check(topic bus.Topic, messages []bus.Message, partitions int, checkOwn func(bus.Topic) error) error {
	if topic.Kind() == 0 {
		return fmt.Errorf("publish to %q: %w: no such topic", topic, bus.ErrUnsupported)
	}
	if err := checkOwn(topic); err != nil {
		return fmt.Errorf("publish to %w", err)
	}
	_, own := topic.OwnName()
	for i := range messages {
		m := &messages[i]
		if !own && (m.Partition < 0 || int(m.Partition) >= partitions) {
			return fmt.Errorf("publish to %s: message %d: partition %d is outside 0..%d", topic, i, m.Partition, partitions-1)
		}
		if n := m.Size(); n > MaxMessage {
			return fmt.Errorf("publish to %s: message %d (key %q) has %d bytes, the limit is %d: %w",
				topic, i, m.Key, n, MaxMessage, bus.ErrTooLarge)
		}
	}
	return nil
}

// Begin returns an error if a publish must not begin: the handle is closed, or the caller's context has ended.
func (h *Handle) Begin(ctx context.Context, topic bus.Topic) error {
	if h.Closed() {
		return fmt.Errorf("publish to %s: %w", topic, bus.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	return nil
}
