package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Release is the release of a process. Releases differ in the last fields of internal messages (decisions 0024 and
// 0036); the code is that of the present release.
type Release int

const (
	Present Release = iota
	// Earlier neither writes nor reads targets.
	Earlier
	// Later writes another field after the target.
	Later
)

func (r Release) String() string {
	switch r {
	case Present:
		return "present"
	case Earlier:
		return "earlier"
	case Later:
		return "later"
	}
	return fmt.Sprintf("release %d", int(r))
}

// sizeTarget is the size of the field that the earlier release does not have.
const sizeTarget = 8

// lastField is the additional field of the later release. It begins with the flags of a due event, of which none is set.
const lastField = "\x00a field of a later release"

// write converts an internal message of the present release to one of this release.
func (r Release) write(body []byte) []byte {
	switch r {
	case Earlier:
		return body[:len(body)-sizeTarget]
	case Later:
		return slices.Concat(body, []byte(lastField))
	case Present:
	}
	return body
}

// read returns the part of an internal message that the release reads. size is the size of such a message of the
// present release.
func (r Release) read(body []byte, size int) []byte {
	if r == Earlier {
		return body[:min(len(body), size-sizeTarget)]
	}
	return body
}

// sizes are the sizes of the internal messages of the present release.
var sizes = map[bus.Topic]int{
	bus.Due:    len(event.MarshalDue(event.Due{})),
	bus.Shards: len(event.MarshalHint(event.Hint{})),
}

// link is a process's bus. It writes and reads internal messages like the process's release, and records the due events
// that the process gets.
type link struct {
	bus.Bus

	life *life
}

func (l *link) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if _, internal := sizes[topic]; internal && !l.inMemory(topic) {
		messages = slices.Clone(messages)
		for i := range messages {
			messages[i].Body = l.life.release.write(messages[i].Body)
		}
	}
	return l.Bus.Publish(ctx, topic, messages...)
}

// inMemory reports whether the topic is the due queue in memory, whose messages only this process reads.
func (l *link) inMemory(topic bus.Topic) bool { return topic == bus.Due && l.life.queue != nil }

func (l *link) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	size, internal := sizes[spec.Topic]
	if !internal {
		return l.Bus.Consume(ctx, spec, open)
	}
	return l.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		if err != nil {
			return nil, err
		}
		return &linked{Session: s, life: l.life, topic: spec.Topic, size: size, inMemory: l.inMemory(spec.Topic)}, nil
	})
}

// linked is a session on an internal topic.
type linked struct {
	bus.Session

	life  *life
	topic bus.Topic
	size  int
	// inMemory: see link.inMemory.
	inMemory bool
}

func (l *linked) Deliver(ctx context.Context, m *bus.Delivery) error {
	if l.topic == bus.Due {
		due, err := event.UnmarshalDue(m.Body)
		must(err)
		foreign := !l.inMemory && len(m.Body) != len(l.life.release.write(make([]byte, l.size)))
		l.life.node.world.recording.handed(&due, l.life, foreign)
	}
	if l.inMemory {
		return l.Session.Deliver(ctx, m)
	}
	read := *m
	read.Body = l.life.release.read(m.Body, l.size)
	return l.Session.Deliver(ctx, &read)
}

// handover is a due event that a process got.
type handover struct {
	to *life
	at time.Duration
}

// subject is the attempt of a due event.
type subject struct {
	uuid       timer.UUID
	generation string
	number     timer.Attempt
}

// handed records that a process gets a due event. foreign: another release wrote it.
func (r *recording) handed(e *event.Due, to *life, foreign bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := subject{e.UUID, e.Generation.String(), e.Attempt}
	r.handovers[about] = append(r.handovers[about], handover{to, r.now()})
	if foreign {
		r.foreign++
	}
}

// foreignEvents returns how many due events a dispatcher of another release got.
func (r *recording) foreignEvents() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.foreign
}

// handedOver returns the processes that got the due events of an attempt.
func (r *recording) handedOver(about subject) []handover {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handovers[about]
}

// replace stops the process, waits until it has ended, and starts one of the given release, and with the given time zone database unless it
// is nil. One process is replaced at a time.
func (n *node) replace(ctx context.Context, by Release, zones *int) {
	select {
	case n.world.rollout <- struct{}{}:
		defer func() { <-n.world.rollout }()
	case <-ctx.Done():
		return
	}
	if n.world.isHealed() {
		return
	}
	n.mu.Lock()
	l := n.life
	n.release = by
	if zones != nil {
		n.zones = *zones
	}
	if l != nil {
		l.stopping = true
	}
	n.mu.Unlock()
	if l == nil {
		return // it is down and will start again
	}
	n.world.note("%s  stops, to be replaced by the %s release", n, by)
	replaced := n.world.recording.replaces(n)
	l.stop()
	<-l.ended
	n.mu.Lock()
	crashed := l.dead
	if !crashed {
		n.life = nil
	}
	n.mu.Unlock()
	if !crashed {
		must(l.member.Close())
		n.begin()
		if n.world.isHealed() {
			n.heal()
		}
	}
	replaced()
}
