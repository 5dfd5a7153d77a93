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

// Timers is where delayed messages wait: a *client.Client, or what Through makes.
type Timers interface {
	CreateTimer(ctx context.Context, r client.CreateTimerRequest) (client.Written, error)
}

// Through lets delayed messages wait as timers that are created by commands on the topic (Commands, unless the
// prefix was changed). With a Publisher that writes into a database transaction, a delayed message is published
// with the transaction or not at all. What is refused later is told on the topic of the dead only, and answers
// are empty.
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

// DelayedConfig is what a Delayed needs. Publisher and Timers are required.
type DelayedConfig struct {
	// Publisher takes the messages without a delay. It is closed with the Delayed.
	Publisher message.Publisher
	// Timers keep the others.
	Timers Timers
	// Namespace is the timers': "default". Its eventTopics must allow the topics that are published to.
	Namespace string
	// Key, if not nil, gives the key of a delayed message's event. A Pub/Sub that the service publishes to gets the
	// message without its event, and must choose partitions by the message's own metadata.
	Key func(topic string, m *message.Message) string
	// Clock tells the present: the system's.
	Clock timer.Clock
}

// Delayed is a Publisher that honours Watermill's delay metadata (components/delay) on every Pub/Sub. A message
// with a delay waits as a timer, and comes out on its topic, with UUID, metadata and payload as published, when
// its time has come: never before, at least once, with the same UUID each time. A message without one goes
// straight through.
//
// The service publishes it as a fired event with the message inside. Where the service's public topics are on
// the same Pub/Sub (pkg/timerbus), it is taken out before that; elsewhere a NewSubscriber or Unwrapped takes it
// out on arrival.
type Delayed struct{ config DelayedConfig }

var _ message.Publisher = (*Delayed)(nil)

// NewDelayed makes a Delayed.
func NewDelayed(c DelayedConfig) (*Delayed, error) {
	if c.Publisher == nil || c.Timers == nil {
		return nil, errors.New("watermillclient: a delayed publisher needs Publisher and Timers")
	}
	if c.Clock == nil {
		c.Clock = timer.SystemClock
	}
	return &Delayed{c}, nil
}

// Publish implements message.Publisher. Nothing is published if a message's delay cannot be read or the message
// does not fit into a timer, whose payload is at most 100 KiB: about 75,000 bytes of the message's. After another error
// some may have been; published again, a message replaces the timer with its topic and UUID.
func (d *Delayed) Publish(topic string, messages ...*message.Message) error {
	timers := make([]client.CreateTimerRequest, len(messages))
	for i, m := range messages {
		at, delayed, err := when(m, d.config.Clock())
		if err != nil || !delayed {
			if err != nil {
				return fmt.Errorf("publish message %s to %s later: %w", m.UUID, topic, err)
			}
			continue
		}
		payload, err := wrap(m)
		if err != nil {
			return fmt.Errorf("publish message %s to %s later: %w", m.UUID, topic, err)
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

// TimerID is the id of the timer that a delayed message waits as, for whoever wants to delete or move it.
func TimerID(topic, uuid string) string {
	id := topic + "/" + uuid
	if len(id) > timer.MaxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return timer.UUIDOf(topic, uuid).String()
	}
	return id
}
