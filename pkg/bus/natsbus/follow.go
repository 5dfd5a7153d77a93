package natsbus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// followAhead bounds the prefetched messages of a topic.
const followAhead = 256

// Follow reads public topics until ctx ends. It joins no group, creates nothing persistent on the server, and commits
// nothing. Of Options it uses the connection settings, Name, Prefix and Logger.
//
// Follow calls each with the messages published since the given time; with the zero time, with new messages only. It
// keeps the order of each topic and does not call each concurrently. After the loss of a connection it continues
// without a gap as long as the topic keeps its messages. An error of each ends Follow.
func Follow(ctx context.Context, opts Options, since time.Time, topics []bus.Topic, each func(bus.Topic, *bus.Message) error) error {
	opts, err := complete(opts)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(opts.URL, opts.onlooker()...)
	if err != nil {
		return fmt.Errorf("connect to NATS at %s: %w", opts.address(), unreachable(err))
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("prepare NATS at %s: %w", opts.address(), err)
	}
	f := &follower{ctx: ctx, opts: &opts, each: each}
	from := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy}
	if !since.IsZero() {
		from.DeliverPolicy, from.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	for _, topic := range topics {
		if err := f.open(js, topic, from); err != nil {
			return err
		}
	}
	return f.run()
}

func (o *Options) onlooker() []nats.Option {
	options := []nats.Option{
		nats.Name(o.Name), nats.Timeout(2 * time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond),
		nats.PingInterval(5 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Logger.Warn("connection lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.Logger.Warn("connected again") }),
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess))
	}
	return append(options, o.credentials()...)
}

// follower is one call of Follow.
type follower struct {
	ctx  context.Context
	opts *Options
	each func(bus.Topic, *bus.Message) error

	topics []followed
	mu     sync.Mutex // serialises the calls of each
}

type followed struct {
	topic    bus.Topic
	messages jetstream.MessagesContext
}

func (f *follower) open(js jetstream.JetStream, topic bus.Topic, from jetstream.OrderedConsumerConfig) error {
	name := f.opts.Prefix + "-" + string(topic)
	ctx, cancel := context.WithTimeout(f.ctx, f.opts.AckTimeout)
	defer cancel()
	consumer, err := js.OrderedConsumer(ctx, name, from)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("follow %s: there is no stream %s at %s: check the address and the prefix %q",
			topic, name, f.opts.address(), f.opts.Prefix)
	}
	if err != nil {
		return fmt.Errorf("follow %s: %w", topic, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(followAhead))
	if err != nil {
		return fmt.Errorf("follow %s: %w", topic, err)
	}
	f.topics = append(f.topics, followed{topic: topic, messages: messages})
	return nil
}

// run reads all topics until ctx ends or one of them fails permanently, and waits for all.
func (f *follower) run() error {
	ctx, stop := context.WithCancelCause(f.ctx)
	defer stop(nil)
	var reading sync.WaitGroup
	for _, t := range f.topics {
		reading.Go(func() {
			if err := f.read(ctx, &t); err != nil {
				stop(err)
			}
		})
	}
	<-ctx.Done()
	for _, t := range f.topics {
		t.messages.Stop()
	}
	reading.Wait()
	if f.ctx.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

func (f *follower) read(ctx context.Context, t *followed) error {
	for {
		in, err := t.messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return nil //nolint:nilerr // ctx has ended; Next reports that with various errors
		}
		if err != nil {
			return fmt.Errorf("follow %s: %w", t.topic, err)
		}
		m := decode(&nats.Msg{Header: in.Headers(), Data: in.Data()}, partitionOf(in.Subject()))
		if err := f.tell(t.topic, &m); err != nil {
			return err
		}
	}
}

func (f *follower) tell(topic bus.Topic, m *bus.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.each(topic, m)
}
