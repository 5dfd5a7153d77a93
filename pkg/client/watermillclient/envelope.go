package watermillclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/timer"
)

// envelope is the payload of the timer of a delayed message.
type envelope struct {
	Message *wrapped `json:"watermillMessage"`
}

// wrapped has the message's payload as bytes, in base64, because a JSON payload could be re-encoded differently.
type wrapped struct {
	UUID     string            `json:"uuid"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Payload  []byte            `json:"payload"`
}

func wrap(m *message.Message) (json.RawMessage, error) {
	if !utf8.ValidString(m.UUID) {
		return nil, fmt.Errorf("its UUID %q is not UTF-8", m.UUID)
	}
	for name, value := range m.Metadata {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("its metadata %q: %.100q is not UTF-8", name, value)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(envelope{&wrapped{UUID: m.UUID, Metadata: m.Metadata, Payload: m.Payload}}); err != nil {
		return nil, err
	}
	payload := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	if len(payload) > timer.MaxPayload {
		return nil, fmt.Errorf("a payload of %d bytes with its metadata is too large for a timer: %w",
			len(m.Payload), &timer.PayloadTooLargeError{Size: len(payload), Limit: timer.MaxPayload})
	}
	return payload, nil
}

// Unwrap converts a fired event into the delayed message that it contains, in place. It does not change any other
// message, and returns false.
func Unwrap(m *message.Message) bool {
	if !isFired(m) {
		return false
	}
	_, d, err := ReadFired(m)
	if err != nil {
		return false
	}
	var e envelope
	if json.Unmarshal(d.Payload, &e) != nil || e.Message == nil {
		return false
	}
	m.UUID, m.Payload = e.Message.UUID, e.Message.Payload
	m.Metadata = e.Message.Metadata
	if m.Metadata == nil {
		m.Metadata = message.Metadata{}
	}
	return true
}

// NewSubscriber returns a Subscriber that unwraps delayed messages.
func NewSubscriber(s message.Subscriber) (message.Subscriber, error) {
	return message.MessageTransformSubscriberDecorator(func(m *message.Message) { Unwrap(m) })(s)
}

// Unwrapped is a router middleware that unwraps delayed messages, as NewSubscriber does.
func Unwrapped(next message.HandlerFunc) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		Unwrap(m)
		return next(m)
	}
}
