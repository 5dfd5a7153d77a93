package watermillclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/event"
)

// Delivery is the data of a fired event: what a callback would get as its body.
type Delivery = event.Delivery

// ErrNotFired says that a message is no fired event.
var ErrNotFired = errors.New("not a fired event")

// ReadFired reads a fired event, from timerbus.fired or from a timer's own topic. id is the delivery's: whoever
// has seen it has seen the delivery.
func ReadFired(m *message.Message) (id string, d Delivery, err error) {
	e, err := event.Decode(m.Metadata, m.Payload)
	if err != nil {
		return "", d, fmt.Errorf("message %s: %w: %w", m.UUID, ErrNotFired, err)
	}
	if e.Type != event.TypeFired {
		return "", d, fmt.Errorf("message %s: %w: its type is %q", m.UUID, ErrNotFired, e.Type)
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return "", d, fmt.Errorf("message %s: %w: %w", m.UUID, ErrNotFired, err)
	}
	return e.ID, d, nil
}

// isFired looks at the metadata only.
func isFired(m *message.Message) bool {
	for name, value := range m.Metadata {
		if value == event.TypeFired && (strings.EqualFold(name, "ce_type") || strings.EqualFold(name, "ce-type")) {
			return true
		}
	}
	return false
}
