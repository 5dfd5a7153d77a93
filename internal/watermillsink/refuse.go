package watermillsink

import (
	"errors"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// shownCommand is how much of a refused command its refusal contains, in bytes.
const shownCommand = 1024

// refusals is the Publisher of the poison queue. For each message, which no session has received, it publishes a
// refusal event to the dead topic, the same as for a command that ingest refuses.
type refusals struct{ sink *Sink }

// Publish implements message.Publisher.
func (r refusals) Publish(_ string, messages ...*message.Message) error {
	for _, m := range messages {
		refusal, err := r.sink.refusal(m)
		if err != nil {
			return err
		}
		if _, err := r.sink.Publish(m.Context(), bus.Dead, refusal); err != nil {
			// The command is returned to its Pub/Sub, and some Pub/Subs deliver it again immediately.
			timer.Sleep(m.Context(), r.sink.config.Pause)
			return err
		}
		r.sink.config.Logger.Warn("command refused", "message", m.UUID, "reason", m.Metadata.Get(middleware.ReasonForPoisonedKey))
	}
	return nil
}

// Close implements message.Publisher.
func (r refusals) Close() error { return nil }

func (s *Sink) refusal(m *message.Message) (bus.Message, error) {
	in := incoming(m)
	// If the command cannot be parsed completely, use the parsed fields.
	c, _ := event.ParseCommand(in.Headers, in.Body)
	a := event.Answer{
		CommandID: c.ID, Verb: c.Verb,
		Error: "INVALID_INPUT", Message: m.Metadata.Get(middleware.ReasonForPoisonedKey), Details: []byte("{}"),
		Command: string(in.Body[:min(len(in.Body), shownCommand)]),
	}
	if a.CommandID == "" {
		a.CommandID = in.ID
	}
	e, err := event.AnswerOf(s.config.Source, &a, c.CorrelationID, s.config.Clock())
	if err != nil {
		return bus.Message{}, fmt.Errorf("refuse %s: %w", in.ID, err)
	}
	headers, body, err := e.Encode(event.ModeOf(s.Properties().HeaderAttributes))
	if err != nil {
		return bus.Message{}, errors.Join(fmt.Errorf("refuse %s", in.ID), err)
	}
	return bus.Message{Key: in.Key, ID: e.ID, Headers: headers, Body: body}, nil
}
