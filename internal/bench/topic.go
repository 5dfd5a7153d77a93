package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"           //nolint:depguard // the benchmark publishes commands as an external client
	"github.com/nats-io/nats.go/jetstream" //nolint:depguard // as above

	"github.com/timerbus/timerbus/internal/event"
)

const (
	// publishWindow is the maximum number of commands that the bus has not acknowledged, and batchWindow that of batches.
	publishWindow, batchWindow = 4096, 8
	// answerWindow and answerBytes limit the answers that wait to be counted, in messages and bytes.
	answerWindow, answerBytes = 1 << 20, 1 << 30
	// keyHeader is the NATS header that contains namespace/id.
	keyHeader = "Timerbus-Key"
	// typeHeader is the NATS header with the attribute "type" of an event.
	typeHeader = "ce-type"
)

// commands measures how fast commands through the topic are applied: from the first publish until the answer to the
// last command has arrived. The commands are published one by one, and then in batches that the bus stores as a whole.
func (r *run) commands(ctx context.Context, f *figures) error {
	t, err := r.connectTopic(ctx)
	if err != nil {
		return err
	}
	defer t.nc.Close()
	if err := r.commandsIn(ctx, f, "", t, 1); err != nil {
		return err
	}
	return r.commandsIn(ctx, f, "batched_", t, BatchSize)
}

// commandsIn publishes commands in batches of a size.
func (r *run) commandsIn(ctx context.Context, f *figures, key string, t *topic, size int) error {
	what := "commands through the topic"
	if size > 1 {
		what += fmt.Sprintf(" in batches of %d", size)
	}
	s := r.pendingSet("topic"+key, SmallPayload, r.Plan.Commands)
	r.Watch.begin(Step{Phase: r.phase, What: what, Total: s.count})
	answers, stop, err := t.listen(r.Namespace+"/"+s.prefix, &r.Watch.done)
	if err != nil {
		return err
	}
	defer stop()
	end, err := r.spend(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	published, err := t.publish(ctx, s, size, r.Plan.Publishing)
	if err != nil {
		return err
	}
	acknowledged := time.Since(began)
	applied, err := answers.await(ctx, published, r.Plan.Patience)
	if err != nil {
		return err
	}
	r.pending -= s.count - published
	s.count = published
	m, err := end()
	if err != nil {
		return err
	}
	f.add(key+"rate", what+", applied", PerSecond, float64(s.count)/applied.Sub(began).Seconds())
	f.add(key+"published", what+", acknowledged by the bus", PerSecond, float64(s.count)/acknowledged.Seconds())
	if size == 1 {
		f.addCost(what, m.cost, s.count)
	}
	return nil
}

// topic is an external client of the bus.
type topic struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	prefix   string
	subjects []string // of the partitions
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
			t.subjects = append(t.subjects, subject)
		}
	}
	if len(t.subjects) == 0 {
		return nil, fmt.Errorf("stream %s has no subjects of partitions", name)
	}
	return t, nil
}

// publish publishes the creates of a set in batches of a size, as many as the limit allows, and waits until the bus has
// acknowledged them. It returns their number. JetStream stores a batch of several messages as a whole, and syncs it once.
func (t *topic) publish(ctx context.Context, s *set, size int, limit time.Duration) (published int, err error) {
	var refused atomic.Pointer[error]
	window := 2 * publishWindow
	if size > 1 {
		window = batchWindow
	}
	futures := make(chan jetstream.PubAckFuture, window)
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
	began := time.Now()
	err = func() error {
		defer close(futures)
		for n := 0; n < s.count && (n%BatchSize != 0 || time.Since(began) < limit); n++ {
			m, last := t.message(s, n, size)
			published++
			if !last {
				if err := t.nc.PublishMsg(m); err != nil {
					return fmt.Errorf("publish command %d: %w", n, err)
				}
				continue
			}
			f, err := t.js.PublishMsgAsync(m, jetstream.WithStallWait(requestTimeout))
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
	return published, errors.Join(err, context.Cause(ctx))
}

// message returns the command that creates the n-th timer, and whether it is the last one of its batch, which the server acknowledges.
func (t *topic) message(s *set, n, size int) (m *nats.Msg, last bool) {
	m = &nats.Msg{Subject: t.subjects[crc32.ChecksumIEEE(s.appendID(nil, n))%uint32(len(t.subjects))], Header: single, Data: s.command(n)}
	if size == 1 {
		return m, true
	}
	m.Header = maps.Clone(single)
	m.Header["Nats-Batch-Id"] = []string{fmt.Sprintf("%s%d", s.prefix, n/size)}
	m.Header["Nats-Batch-Sequence"] = []string{strconv.Itoa(n%size + 1)}
	if last = (n+1)%size == 0 || n+1 == s.count; last {
		m.Header["Nats-Batch-Commit"] = []string{"1"}
	}
	return m, last
}

// single has the headers of a command that is published alone.
var single = nats.Header{"content-type": {"application/cloudevents+json"}}

// command returns the event that creates the n-th timer. The client keeps the slice until the acknowledgement, so it is
// not reused.
func (s *set) command(n int) []byte {
	to := make([]byte, 0, 256+len(s.head)+len(s.middle)+len(s.tails[0]))
	to = append(to, `{"specversion":"1.0","type":"`+event.TypeCreate+`","source":"timerbus/bench","id":"`...)
	to = s.appendID(to, n)
	to = append(to, `","data":`...)
	return append(s.appendCreate(to, n), '}')
}

// answers counts the answers to commands.
type answers struct {
	applied *atomic.Int64
	refused atomic.Pointer[string]
	// last is when the last answer arrived, in nanoseconds since 1970.
	last atomic.Int64
}

// listen counts the answers about timers whose keys begin with prefix, until stop is called.
func (t *topic) listen(prefix string, applied *atomic.Int64) (a *answers, stop func(), err error) {
	a = &answers{applied: applied}
	var subscriptions []*nats.Subscription
	stop = func() {
		for _, s := range subscriptions {
			_ = s.Unsubscribe() // the connection is closed soon
		}
	}
	for _, name := range []string{"results", "dead"} {
		subscription, err := t.nc.Subscribe(t.prefix+"."+name+".*", func(m *nats.Msg) {
			if key := m.Header[keyHeader]; len(key) == 1 && strings.HasPrefix(key[0], prefix) {
				a.count(m)
			}
		})
		if err == nil {
			subscriptions = append(subscriptions, subscription)
			err = subscription.SetPendingLimits(answerWindow, answerBytes)
		}
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("subscribe to answers: %w", err)
		}
	}
	return a, stop, t.nc.Flush()
}

func (a *answers) count(m *nats.Msg) {
	kind := m.Header[typeHeader]
	switch {
	case len(kind) == 1 && kind[0] == event.TypeApplied:
		a.last.Store(time.Now().UnixNano())
		a.applied.Add(1)
	case len(kind) == 1 && kind[0] == event.TypeRefused:
		text := string(m.Data)
		a.refused.CompareAndSwap(nil, &text)
	}
}

// await waits until the wanted number of commands was applied, and returns when the last answer arrived.
func (a *answers) await(ctx context.Context, wanted int, patience time.Duration) (time.Time, error) {
	seen, moved := int64(-1), time.Now()
	for {
		n := a.applied.Load()
		if n >= int64(wanted) {
			return time.Unix(0, a.last.Load()), nil
		}
		if refused := a.refused.Load(); refused != nil {
			return time.Time{}, fmt.Errorf("a command was refused: %s", *refused)
		}
		now := time.Now()
		if n != seen {
			seen, moved = n, now
		}
		if now.Sub(moved) > patience {
			return time.Time{}, fmt.Errorf("%d of %d commands were answered, none of them in the last %v", n, wanted, patience)
		}
		if err := rest(ctx, pollEvery); err != nil {
			return time.Time{}, err
		}
	}
}
