// Package tap is a user's NATS or Kafka client: it publishes commands and consumes the service's messages.
//
// It relies on schemas/asyncapi.yaml and imports internal/event for the format of events. It does not know the
// implementation of the bus.
//
// tap.go is for NATS, kafka.go for Kafka.
package tap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/internal/event"
)

// Subjects of the topics, as in the documentation.
const (
	Commands = "timerbus.commands"
	Fired    = "timerbus.fired.>"
	Results  = "timerbus.results.>"
	Dead     = "timerbus.dead.>"
)

// Message is one message of a topic.
type Message struct {
	At      time.Time
	Subject string
	Event   event.CloudEvent
	// Err is set if the message is not a CloudEvent.
	Err error
}

// Tap is a connection.
type Tap struct {
	// Prefix replaces the prefix of the subjects above, if it is not empty.
	Prefix string

	nc *nats.Conn
	js jetstream.JetStream
}

// Connect connects, and reconnects when the connection is lost.
func Connect(url string, options ...nats.Option) (*Tap, error) {
	options = append([]nats.Option{
		nats.Name("tap"), nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.ReconnectJitter(0, 0),
	}, options...)
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncTimeout(2*time.Second))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to %s: %w", url, err)
	}
	return &Tap{nc: nc, js: js}, nil
}

// Close ends the connection.
func (t *Tap) Close() { t.nc.Close() }

// Listen records the messages published to a subject from now on, as a plain subscriber.
func (t *Tap) Listen(subject string) (*record.Record[Message], error) {
	heard := &record.Record[Message]{}
	_, err := t.nc.Subscribe(subject, func(m *nats.Msg) { heard.Add(decode(m.Subject, m.Header, m.Data)) })
	if err == nil {
		// The server has the subscription before any later message.
		err = t.nc.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	return heard, nil
}

// ReadAll returns all messages that the topic of this subject has now, from its beginning.
func (t *Tap) ReadAll(ctx context.Context, subject string) ([]Message, error) {
	return t.ReadAfter(ctx, subject, 0)
}

// ReadAfter is ReadAll without the first messages.
func (t *Tap) ReadAfter(ctx context.Context, subject string, first int) ([]Message, error) {
	if t.Prefix != "" {
		subject = strings.Replace(subject, "timerbus", t.Prefix, 1)
	}
	for {
		all, err := t.readAfter(ctx, subject, first)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) {
			return all, err
		}
	}
}

// answerWithin is the timeout of a request. A request that was in flight when the server died is never answered, and is
// repeated.
const answerWithin = 3 * time.Second

func (t *Tap) readAfter(ctx context.Context, subject string, first int) ([]Message, error) {
	asking, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	name, err := t.js.StreamNameBySubject(asking, subject)
	if err != nil {
		return nil, fmt.Errorf("stream of %s: %w", subject, err)
	}
	stream, err := t.js.Stream(asking, name)
	if err != nil {
		return nil, fmt.Errorf("stream of %s: %w", subject, err)
	}
	state := stream.CachedInfo().State
	if state.Msgs <= uint64(first) {
		return nil, nil
	}
	consumer, err := stream.OrderedConsumer(asking, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: uint64(first) + 1, InactiveThreshold: answerWithin,
	})
	if err != nil {
		return nil, fmt.Errorf("consume %s: %w", subject, err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		return nil, fmt.Errorf("consume %s: %w", subject, err)
	}
	defer messages.Stop()
	var all []Message
	for ctx.Err() == nil {
		m, err := messages.Next(jetstream.NextMaxWait(answerWithin))
		if err != nil {
			return all, fmt.Errorf("read %s after %d of %d messages: %w", subject, len(all), state.Msgs, err)
		}
		all = append(all, decode(m.Subject(), m.Headers(), m.Data()))
		at, err := m.Metadata()
		if err != nil {
			return all, fmt.Errorf("read %s: %w", subject, err)
		}
		if at.Sequence.Stream >= state.LastSeq {
			return all, nil
		}
	}
	return all, fmt.Errorf("read %s after %d of %d messages: %w", subject, len(all), state.Msgs, ctx.Err())
}

func decode(subject string, header nats.Header, body []byte) Message {
	m := Message{At: time.Now(), Subject: subject}
	m.Event, m.Err = event.Decode(flatten(header), body)
	return m
}

func flatten(header nats.Header) map[string]string {
	flat := make(map[string]string, len(header))
	for name, values := range header {
		if len(values) > 0 {
			flat[name] = values[0]
		}
	}
	return flat
}

// Publish publishes an event and returns when the bus has it. On the embedded bus it is then durable.
func (t *Tap) Publish(ctx context.Context, subject string, e *event.CloudEvent, mode event.Mode) error {
	headers, body, err := e.Encode(mode)
	if err != nil {
		return err
	}
	return t.PublishRaw(ctx, subject, headers, body)
}

// PublishRaw is Publish for messages that need not be events.
func (t *Tap) PublishRaw(ctx context.Context, subject string, headers map[string]string, body []byte) error {
	m := nats.NewMsg(subject)
	m.Data = body
	for name, value := range headers {
		m.Header[name] = []string{value}
	}
	if _, err := t.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0)); err != nil {
		return fmt.Errorf("publish to %s: %w", subject, err)
	}
	return nil
}

// PublishSoon publishes an event without waiting; the channel gets the answer, nil once the bus has it.
func (t *Tap) PublishSoon(subject string, e *event.CloudEvent) <-chan error {
	answer := make(chan error, 1)
	m := nats.NewMsg(subject)
	headers, body, err := e.Encode(event.Structured)
	if err == nil {
		m.Data = body
		for name, value := range headers {
			m.Header[name] = []string{value}
		}
		var ack jetstream.PubAckFuture
		if ack, err = t.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0)); err == nil {
			go func() {
				select {
				case <-ack.Ok():
					answer <- nil
				case err := <-ack.Err():
					answer <- err
				case <-time.After(answerWithin):
					// The client does not report an answer for all messages in flight at a kill.
					answer <- context.DeadlineExceeded
				}
			}()
			return answer
		}
	}
	answer <- err
	return answer
}
