package membus

import (
	"cmp"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Options configures a Broker; zero values select the defaults.
type Options struct {
	// Partitions is the cluster's partition count. Default 16.
	Partitions int
	// LeaseTTL is how long a member that crashed, froze or lost its connection keeps its partitions. Default 1 s, as
	// on JetStream.
	LeaseTTL time.Duration
	// DedupeWindow is how long the broker deduplicates a message ID. Default 2 min.
	DedupeWindow time.Duration
	// CloseWait bounds how long the next owner waits for a Session's Close. Default 5 s.
	CloseWait time.Duration
	// RetryPause is the initial backoff of a partition after open or Deliver failed. Default 100 ms.
	RetryPause time.Duration
	// LogLimit is how many messages a partition of a log topic keeps. Default 1,048,576. In the topic of commands,
	// messages that bus.GroupIngest has not acknowledged are never removed; Publish fails with bus.ErrFull instead.
	LogLimit int
	// LiveBuffer is how many hints are queued for a slow session; further hints are dropped. Default 65,536.
	LiveBuffer int
}

func (o Options) withDefaults() Options {
	o.Partitions = cmp.Or(o.Partitions, 16)
	o.LeaseTTL = cmp.Or(o.LeaseTTL, time.Second)
	o.DedupeWindow = cmp.Or(o.DedupeWindow, 2*time.Minute)
	o.CloseWait = cmp.Or(o.CloseWait, 5*time.Second)
	o.RetryPause = cmp.Or(o.RetryPause, 100*time.Millisecond)
	o.LogLimit = cmp.Or(o.LogLimit, 1<<20)
	o.LiveBuffer = cmp.Or(o.LiveBuffer, 1<<16)
	return o
}

// Broker is the bus itself. Tests control the bus with the Broker's methods; processes use the bus through Members.
// One lock guards all state, so that all events have one order and a simulation's trace is readable.
type Broker struct {
	opts   Options
	server *server
	mu     *sync.Mutex // server.mu

	logs    map[bus.Topic]*log
	queues  map[bus.Topic]*queue
	groups  []*group // in the order of their first Consume
	members []*Member
	faults  Faults
}

// New creates an empty bus.
func New(opts Options) *Broker {
	return (&server{own: make(map[bus.Topic]*log)}).newBroker(opts)
}

func (s *server) newBroker(opts Options) *Broker {
	b := &Broker{
		opts:   opts.withDefaults(),
		server: s,
		mu:     &s.mu,
		logs:   make(map[bus.Topic]*log),
		queues: make(map[bus.Topic]*queue),
	}
	for _, t := range bus.Topics() {
		switch t.Kind() {
		case bus.KindLog:
			b.logs[t] = newLog(b, t, 1)
		case bus.KindQueue:
			b.queues[t] = newQueue(b, t, 1)
		case bus.KindHints:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brokers = append(s.brokers, b)
	return b
}

// Join creates a handle, as a connecting process does. The name is part of String. Together with the order of joining
// it determines which partitions the member gets. It need not be unique.
func (b *Broker) Join(name string) *Member {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &Member{
		broker: b,
		name:   fmt.Sprintf("%s#%d", name, len(b.members)+1),
		gone:   make(chan struct{}),
	}
	b.members = append(b.members, m)
	return m
}

// taken copies a message for the broker, because publishers reuse their buffers.
func taken(m bus.Message) bus.Message {
	m.Body = append([]byte(nil), m.Body...)
	if m.Headers != nil {
		m.Headers = maps.Clone(m.Headers)
	}
	return m
}

func (b *Broker) valid(p shard.Partition) bool {
	return p >= 0 && int(p) < b.opts.Partitions
}

// seen stores message IDs for the deduplication window.
type seen struct {
	at    map[string]bus.Position
	order []seenID // oldest first
}

type seenID struct {
	id    string
	until time.Time
}

func (s *seen) position(id string, now time.Time) (bus.Position, bool) {
	n := 0
	for n < len(s.order) && !now.Before(s.order[n].until) {
		delete(s.at, s.order[n].id)
		n++
	}
	s.order = s.order[n:]
	if id == "" {
		return bus.Position{}, false
	}
	p, ok := s.at[id]
	return p, ok
}

func (s *seen) add(id string, p bus.Position, until time.Time) {
	if id == "" {
		return
	}
	if s.at == nil {
		s.at = make(map[string]bus.Position)
	}
	s.at[id] = p
	s.order = append(s.order, seenID{id: id, until: until})
}
