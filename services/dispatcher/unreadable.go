package dispatcher

import (
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
)

// A due event of an unknown version goes back to the queue, because a process of a later release can deliver it. The
// delay doubles from unknownFirst to unknownMost. After unknownTries deliveries (10 minutes) the event is dropped: on
// Kafka an event that is never acknowledged stops its partition, and the sweep publishes the timer again (I4).
const (
	unknownFirst = time.Second
	unknownMost  = 30 * time.Second
	unknownTries = 24
)

// unreadable deals with a message that UnmarshalDue refused with err.
func (s *Service) unreadable(m *bus.Delivery, err error) {
	if errors.Is(err, event.ErrUnknown) && m.Deliveries < unknownTries {
		s.metrics.unknown.Inc()
		if s.unknown[m.Body[0]].CompareAndSwap(false, true) {
			s.config.Logger.Warn("due event returned to the queue: a later release must deliver it", "error", err, "key", m.Key)
		}
		m.Nack(unknownDelay(m.Deliveries))
		return
	}
	// No process can deliver it. The sweep finds the row that it was meant for.
	s.metrics.malformed.Inc()
	s.config.Logger.Warn("message on the due queue dropped", "error", err, "key", m.Key, "deliveries", m.Deliveries)
	m.Ack()
}

// unknownDelay is the delay after the n-th delivery; on a bus that does not count them, n is 0.
func unknownDelay(n int) time.Duration {
	return min(unknownFirst<<min(max(n-1, 0), 10), unknownMost)
}
