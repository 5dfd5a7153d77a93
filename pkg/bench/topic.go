package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"           //nolint:depguard // commands come from outside clients, and this is one
	"github.com/nats-io/nats.go/jetstream" //nolint:depguard // as above

	"github.com/timerbus/timerbus/pkg/event"
)

const (
	// publishWindow bounds the commands that are on their way to the bus.
	publishWindow = 4096
	// answerWindow bounds the answers that wait to be counted, in messages and bytes.
	answerWindow, answerBytes = 1 << 20, 1 << 30
	// keyHeader is where a message on NATS carries namespace/id.
	keyHeader = "Timerbus-Key"
	// typeHeader is the attribute "type" of an event on NATS.
	typeHeader = "ce-type"
)

// commands measures how fast commands through the topic are applied: from the first publish until the
// answer to the last one has come.
func (r *run) commands(ctx context.Context, f *figures) error {
	t, err := r.connectTopic(ctx)
	if err != nil {
		return err
	}
	defer t.nc.Close()
	s := r.pendingSet("topic", SmallPayload, r.Plan.Commands)
	r.Watch.begin(Step{Phase: r.phase, What: "commands through the topic", Total: s.count})
	answers, err := t.listen(r.Namespace+"/"+s.prefix, s.count, &r.Watch.done)
	if err != nil {
		return err
	}
	end, err := r.spend(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := t.publish(ctx, s); err != nil {
		return err
	}
	published := time.Since(began)
	applied, err := answers.await(ctx, began, r.Plan.Patience)
	if err != nil {
		return err
	}
	m, err := end()
	if err != nil {
		return err
	}
	f.add("rate", "commands through the topic, applied", PerSecond, float64(s.count)/applied.Seconds())
	f.add("published", "commands through the topic, acknowledged by the bus", PerSecond, float64(s.count)/published.Seconds())
	f.addCost("commands through the topic", m.cost, s.count)
	return nil
}

// topic is an outside client of the bus.
type topic struct {
	nc         *nats.Conn
	js         jetstream.JetStream
	prefix     string
	partitions int
}

func (r *run) connectTopic(ctx context.Context) (_ *topic, err error) {
	options := []nats.Option{nats.Name("timerbus-bench"), nats.Timeout(dialTimeout)}
	if r.Target.token != "" && !strings.Contains(r.NATS, "@") {
		options = append(options, nats.Token(r.Target.token))
	}
	nc, err := nats.Connect(r.NATS, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the bus at %s: %w", r.NATS, err)
	}
	defer func() {
		if err != nil {
			nc.Close()
		}
	}()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(publishWindow))
	if err != nil {
		return nil, err
	}
	name := r.Prefix + "-commands"
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("find the command topic, stream %s: %w", name, err)
	}
	t := &topic{nc: nc, js: js, prefix: r.Prefix}
	for _, subject := range stream.CachedInfo().Config.Subjects {
		if _, err := strconv.Atoi(strings.TrimPrefix(subject, r.Prefix+".commands.")); err == nil {
			t.partitions++
		}
	}
	if t.partitions == 0 {
		return nil, fmt.Errorf("stream %s has no subjects of partitions", name)
	}
	return t, nil
}

// publish sends the creates of a set and waits until the bus has all of them.
func (t *topic) publish(ctx context.Context, s *set) error {
	subjects := make([]string, t.partitions)
	for p := range subjects {
		subjects[p] = t.prefix + ".commands." + strconv.Itoa(p)
	}
	header := nats.Header{"content-type": {"application/cloudevents+json"}}
	var refused atomic.Pointer[error]
	futures := make(chan jetstream.PubAckFuture, 2*publishWindow)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for f := range futures {
			select {
			case <-f.Ok():
			case err := <-f.Err():
				refused.CompareAndSwap(nil, &err)
			case <-ctx.Done():
			}
		}
	}()
	err := func() error {
		defer close(futures)
		var id []byte
		for n := range s.count {
			id = s.appendID(id[:0], n)
			f, err := t.js.PublishMsgAsync(&nats.Msg{
				Subject: subjects[crc32.ChecksumIEEE(id)%uint32(t.partitions)], Header: header, Data: s.command(n),
			}, jetstream.WithStallWait(requestTimeout))
			if err != nil {
				return fmt.Errorf("publish command %d: %w", n, err)
			}
			futures <- f
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return nil
	}()
	<-watched
	if first := refused.Load(); err == nil && first != nil {
		err = fmt.Errorf("publish commands: %w", *first)
	}
	return errors.Join(err, context.Cause(ctx))
}

// command is the event that creates the timer of a number. The bus keeps it, so it is not used again.
func (s *set) command(n int) []byte {
	to := make([]byte, 0, 256+len(s.head)+len(s.middle)+len(s.tail))
	to = append(to, `{"specversion":"1.0","type":"`+event.TypeCreate+`","source":"timerbus/bench","id":"`...)
	to = s.appendID(to, n)
	to = append(to, `","data":`...)
	return append(s.appendCreate(to, n), '}')
}

// answers counts what comes back.
type answers struct {
	wanted  int64
	applied *atomic.Int64
	refused atomic.Pointer[string]
	// all is closed when as many as wanted were applied.
	all chan struct{}
}

// listen counts the answers about timers whose keys begin so.
func (t *topic) listen(prefix string, wanted int, applied *atomic.Int64) (*answers, error) {
	a := &answers{wanted: int64(wanted), applied: applied, all: make(chan struct{})}
	for _, name := range []string{"results", "dead"} {
		subscription, err := t.nc.Subscribe(t.prefix+"."+name+".*", func(m *nats.Msg) {
			if key := m.Header[keyHeader]; len(key) == 1 && strings.HasPrefix(key[0], prefix) {
				a.count(m)
			}
		})
		if err == nil {
			err = subscription.SetPendingLimits(answerWindow, answerBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("listen to answers: %w", err)
		}
	}
	return a, t.nc.Flush()
}

func (a *answers) count(m *nats.Msg) {
	kind := m.Header[typeHeader]
	switch {
	case len(kind) == 1 && kind[0] == event.TypeApplied:
		if a.applied.Add(1) == a.wanted {
			close(a.all)
		}
	case len(kind) == 1 && kind[0] == event.TypeRefused:
		text := string(m.Data)
		a.refused.CompareAndSwap(nil, &text)
	}
}

// await waits for all answers and tells how long they took; the clock stops with the last one.
func (a *answers) await(ctx context.Context, began time.Time, patience time.Duration) (time.Duration, error) {
	seen, moved := int64(-1), time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-a.all:
			return time.Since(began), nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case now := <-tick.C:
			if refused := a.refused.Load(); refused != nil {
				return 0, fmt.Errorf("a command was refused: %s", *refused)
			}
			if n := a.applied.Load(); n != seen {
				seen, moved = n, now
			}
			if now.Sub(moved) > patience {
				return 0, fmt.Errorf("%d of %d commands were answered, and none in the last %v", seen, a.wanted, patience)
			}
		}
	}
}
