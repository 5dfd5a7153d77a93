package watermillclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/internal/event"
)

// Delivery is the data of a fired event, which equals the body of a callback.
type Delivery = event.Delivery

// ErrNotFired reports that a message is not a fired event.
var ErrNotFired = errors.New("not a fired event")

// ReadFired reads a fired event, from timerbus.fired or from a timer's topic. id is the id of the delivery: repeated
// deliveries have the same id.
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

// isFired checks only the metadata.
func isFired(m *message.Message) bool {
	for name, value := range m.Metadata {
		if value == event.TypeFired && (strings.EqualFold(name, "ce_type") || strings.EqualFold(name, "ce-type")) {
			return true
		}
	}
	return false
}
