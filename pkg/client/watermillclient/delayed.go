package watermillclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Timers stores delayed messages as timers: a *client.Client, or the result of Through.
type Timers interface {
	CreateTimer(ctx context.Context, r client.CreateTimerRequest) (client.Written, error)
}

// Through returns Timers that create timers by commands on the topic (Commands, unless the cluster has another prefix).
// With a Publisher that writes in a database transaction, a delayed message is published if and only if the transaction
// commits. If the service refuses a command later, it reports that only on the topic Dead. Answers are empty.
func Through(p message.Publisher, topic, source string) Timers { return commands{p, topic, source} }

type commands struct {
	publisher     message.Publisher
	topic, source string
}

func (c commands) CreateTimer(ctx context.Context, r client.CreateTimerRequest) (client.Written, error) {
	m, err := Create(c.source, r)
	if err != nil {
		return client.Written{}, err
	}
	m.SetContext(ctx)
	return client.Written{}, c.publisher.Publish(c.topic, m)
}

// DelayedConfig configures a Delayed. Publisher and Timers are required.
type DelayedConfig struct {
	// Publisher publishes the messages without a delay. Delayed.Close closes it.
	Publisher message.Publisher
	// Timers stores the messages with a delay.
	Timers Timers
	// Namespace of the timers; default "default". Its eventTopics must allow the topics that are published to.
	Namespace string
	// Key, if not nil, returns the key of a delayed message's event. If the service publishes to a Pub/Sub, that
	// Pub/Sub receives the message without its event, and must choose partitions by the message's own metadata.
	Key func(topic string, m *message.Message) string
	// Clock returns the present. Default: the system's clock.
	Clock timer.Clock
}

// Delayed is a Publisher that implements Watermill's delay metadata (components/delay) on every Pub/Sub. It stores a
// message with a delay as a timer. When the timer fires, the message is published on its topic with the original UUID,
// metadata and payload: never early, at least once, and each time with the same UUID. Delayed publishes a message
// without a delay immediately.
//
// The service publishes the timer as a fired event that contains the message. If the service's public topics are on the
// same Pub/Sub (pkg/timerbus), the service extracts the message before it publishes. Otherwise NewSubscriber or
// Unwrapped extracts it on arrival.
type Delayed struct{ config DelayedConfig }

var _ message.Publisher = (*Delayed)(nil)

// NewDelayed returns a Delayed.
func NewDelayed(c DelayedConfig) (*Delayed, error) {
	if c.Publisher == nil || c.Timers == nil {
		return nil, errors.New("watermillclient: a delayed publisher needs Publisher and Timers")
	}
	if c.Clock == nil {
		c.Clock = timer.SystemClock
	}
	return &Delayed{c}, nil
}

// Publish implements message.Publisher. It publishes nothing if the delay of a message is invalid or a message does not
// fit into a timer, whose payload is at most 100 KiB: about 75,000 bytes of a message's payload. After another error,
// some messages may have been published. If a message is published again, it replaces the timer with its topic and
// UUID.
func (d *Delayed) Publish(topic string, messages ...*message.Message) error {
	timers := make([]client.CreateTimerRequest, len(messages))
	for i, m := range messages {
		at, delayed, err := when(m, d.config.Clock())
		if err != nil || !delayed {
			if err != nil {
				return fmt.Errorf("publish delayed message %s to %s: %w", m.UUID, topic, err)
			}
			continue
		}
		payload, err := wrap(m)
		if err != nil {
			return fmt.Errorf("publish delayed message %s to %s: %w", m.UUID, topic, err)
		}
		timers[i] = client.CreateTimerRequest{
			Namespace: d.config.Namespace, ID: TimerID(topic, m.UUID), ExecuteAt: client.At(at.Time()),
			Deliver: client.DeliverEvent, Topic: topic, Payload: payload,
		}
		if m.UUID == "" {
			timers[i].ID = TimerID(topic, watermill.NewUUID())
		}
		if d.config.Key != nil {
			timers[i].Key = d.config.Key(topic, m)
		}
	}
	for i, m := range messages {
		var err error
		if timers[i].ID == "" {
			err = d.config.Publisher.Publish(topic, m)
		} else {
			_, err = d.config.Timers.CreateTimer(m.Context(), timers[i])
		}
		if err != nil {
			return fmt.Errorf("publish message %d of %d (%s) to %s: %w", i+1, len(messages), m.UUID, topic, err)
		}
	}
	return nil
}

// Close implements message.Publisher.
func (d *Delayed) Close() error { return d.config.Publisher.Close() }

// TimerID returns the id of the timer of a delayed message, so that a program can delete or reschedule it.
func TimerID(topic, uuid string) string {
	id := topic + "/" + uuid
	if len(id) > timer.MaxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return timer.UUIDOf(topic, uuid).String()
	}
	return id
}
