package main

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bench"
)

// natsDriver uses message schedules of JetStream: the server publishes a message at a time, and a consumer calls the receiver
// and acknowledges it.
type natsDriver struct{}

const (
	natsStream = "TIMERS"
	// natsSchedules is followed by the id, because a subject has at most one schedule. Messages that are due have natsDue.
	natsSchedules = "timer."
	natsDue       = "due"
	natsWorkers   = 256
	// natsUnanswered bounds asynchronous publishes, in all batches together.
	natsUnanswered = 4096
)

func connectNATS(in surroundings) (*nats.Conn, jetstream.JetStream, error) {
	connection, err := nats.Connect(in.Servers["nats"])
	if err != nil {
		return nil, nil, err
	}
	stream, err := jetstream.New(connection, jetstream.WithPublishAsyncMaxPending(natsUnanswered))
	return connection, stream, err
}

// Client implements driver.
func (natsDriver) Client(_ context.Context, in surroundings) (client, string, error) {
	connection, stream, err := connectNATS(in)
	if err != nil {
		return nil, "", err
	}
	versions := "nats-server " + connection.ConnectedServerVersion() + ", " + moduleVersion("github.com/nats-io/nats.go")
	return natsClient{connection, stream}, versions, nil
}

// Work implements driver.
func (natsDriver) Work(ctx context.Context, in surroundings, ready func()) error {
	connection, js, err := connectNATS(in)
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: natsStream, Subjects: []string{natsSchedules + "*", natsDue}, Retention: jetstream.WorkQueuePolicy,
		Storage: jetstream.FileStorage, AllowMsgSchedules: true, AllowMsgTTL: true,
	})
	if err != nil {
		return err
	}
	consumer, err := js.CreateConsumer(ctx, natsStream, jetstream.ConsumerConfig{
		Durable: "callbacks", FilterSubject: natsDue, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute,
		MaxAckPending: natsUnanswered,
	})
	if err != nil {
		return err
	}
	to := newCaller(in.Callback, natsWorkers)
	messages := make(chan jetstream.Msg)
	var workers sync.WaitGroup
	defer workers.Wait()
	for range natsWorkers {
		workers.Go(func() {
			for m := range messages {
				if to.call(ctx, m.Data()) == nil {
					_ = m.Ack() // otherwise the message is delivered again
				} else {
					_ = m.Nak()
				}
			}
		})
	}
	defer close(messages)
	consuming, err := consumer.Messages(jetstream.PullMaxMessages(2 * natsWorkers))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, consuming.Stop)()
	ready()
	for {
		m, err := consuming.Next()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		messages <- m
	}
}

type natsClient struct {
	connection *nats.Conn
	js         jetstream.JetStream
}

func (c natsClient) close() error {
	c.connection.Close()
	return nil
}

func (c natsClient) create(ctx context.Context, order creation) error {
	message := func(n int) *nats.Msg {
		id := string(bench.AppendID(nil, order.Prefix, n))
		return &nats.Msg{Subject: natsSchedules + id, Data: order.delivery(n), Header: nats.Header{
			"Nats-Schedule":        {"@at " + order.at(n).UTC().Format(time.RFC3339Nano)},
			"Nats-Schedule-Target": {natsDue},
		}}
	}
	return inCalls(ctx, &order, func(ctx context.Context, from, upto int) error {
		if order.Batch == 1 {
			_, err := c.js.PublishMsg(ctx, message(from))
			return err
		}
		var answers []jetstream.PubAckFuture
		for n := from; n < upto; n++ {
			answer, err := c.js.PublishMsgAsync(message(n), jetstream.WithStallWait(callTimeout))
			if err != nil {
				return err
			}
			answers = append(answers, answer)
		}
		for _, answer := range answers {
			select {
			case <-answer.Ok():
			case err := <-answer.Err():
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
}
