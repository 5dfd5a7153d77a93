package sim

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// strike schedules a fault that has a time. Faults that wait for a call or a message are looked up when it happens.
func (w *World) strike(ctx context.Context, f Fault) {
	act := w.stroke(f)
	if act == nil {
		return
	}
	w.others.Go(func() {
		sleep(ctx, f.At)
		if ctx.Err() != nil || w.isHealed() {
			return
		}
		w.note("fault %s %+v", f.Kind, f)
		switch f.Kind { // node.crash records crashes, node.replace replacements; the default is for faults of the bus
		case Crash, Replace, NewZones:
		case ClockStep, ClockJump: // until the clock is trusted
			w.recording.struck(f.Kind, w.nodes[f.Node%len(w.nodes)], f.For+trustedWithin)
		case Zombie, CutOff, StoreCut:
			w.recording.struck(f.Kind, w.nodes[f.Node%len(w.nodes)], f.For)
		default:
			w.recording.struckBus(&f)
		}
		act(ctx)
	})
}

// trustedWithin limits the time until a clock is trusted again: two of the slowest answers of the store (travel), and the
// pauses before them.
const trustedWithin = 2500 * time.Millisecond

func (w *World) stroke(f Fault) func(context.Context) {
	n := w.nodes[f.Node%len(w.nodes)]
	switch f.Kind {
	case Redeliver:
		return func(context.Context) { w.broker.Redeliver(bus.Due, nil) }
	case LoseQueue:
		return func(context.Context) { w.broker.Purge(bus.Due) }
	case CrashQueue:
		return func(context.Context) { w.broker.CrashQueue(bus.Due, f.Nth, 8*f.Count) }
	case Recreate:
		return func(context.Context) { w.broker.Recreate(bus.Commands) }
	case Revoke:
		return func(context.Context) { w.eachGroup(f, w.broker.Revoke) }
	case Lose:
		return func(context.Context) { w.eachGroup(f, w.broker.Lose) }
	case Zombie:
		return func(ctx context.Context) {
			l := n.current()
			if l == nil {
				return
			}
			l.member.Freeze()
			sleep(ctx, f.For)
			l.member.Thaw()
		}
	case CutOff:
		return func(ctx context.Context) {
			l := n.current()
			if l == nil {
				return
			}
			l.member.Disconnect()
			sleep(ctx, f.For)
			l.member.Connect()
		}
	case StoreCut, TokensDown:
		return func(context.Context) {} // faulty.plan and identity.fetch look it up
	case TokensRevoked:
		return func(context.Context) { w.identity.revoke() }
	case ClockStep:
		return func(context.Context) { n.clocks.step(f.Delay) }
	case ClockJump:
		return func(context.Context) { n.clocks.jump(f.Delay, f.For) }
	case Replace:
		return func(ctx context.Context) { n.replace(ctx, f.Release, nil) }
	case NewZones:
		return func(ctx context.Context) { n.upgradeZones(ctx, f) }
	case Crash:
		return func(ctx context.Context) {
			n.crash()
			sleep(ctx, f.For)
			if !w.isHealed() {
				n.begin()
			}
		}
	case StoreFails, StoreUnknown, StoreHangs, StoreLate, BusFails, BusUnknown, HintsLost, HintsTwice, HintsDelayed,
		CrashAtCall, CrashAtPublish:
	}
	return nil
}

func (w *World) eachGroup(f Fault, do func(bus.Topic, string, shard.Partition)) {
	p := shard.Partition(f.Partition % partitions)
	do(bus.Shards, bus.GroupSchedulers, p)
	do(bus.Commands, bus.GroupIngest, p)
}

// busFaults looks up the faults of each publish and hint.
func (w *World) busFaults() membus.Faults {
	return membus.Faults{Publish: w.publishFault, Hint: w.hintFate}
}

func (w *World) publishFault(by *membus.Member, topic bus.Topic, messages []bus.Message) membus.PublishFault {
	if topic == bus.Due && w.tracing {
		for _, m := range messages {
			w.note("%s  publishes %s", by, m.ID)
		}
	}
	n := w.nodeOf(by)
	if n == nil {
		return membus.PublishFault{}
	}
	n.mu.Lock()
	n.publishes++
	nth := n.publishes
	n.mu.Unlock()
	for _, f := range w.plan.Faults {
		if f.Node%len(w.nodes) != n.index || nth < f.Nth || nth >= f.Nth+max(f.Count, 1) {
			continue
		}
		switch f.Kind { //nolint:exhaustive // other kinds do not apply to publishes.
		case CrashAtPublish:
			if nth != f.Nth {
				continue
			}
			w.note("%s  crashes at publish %d, accepted: %v", n, nth, f.Count == 1)
			w.revive(n, f.For)
			if f.Count == 0 {
				n.crash()
				return membus.PublishFault{Err: bus.ErrUnavailable}
			}
			w.recording.struck(f.Kind, n, 0) // the answer is lost before the process dies
			w.others.Go(n.crash)
			return membus.PublishFault{Err: bus.ErrOutcomeUnknown, Taken: len(messages)}
		case BusFails:
			w.note("%s  publish %d is refused", n, nth)
			w.recording.struck(f.Kind, n, 0)
			return membus.PublishFault{Err: bus.ErrUnavailable}
		case BusUnknown:
			w.note("%s  publish %d: half of it is accepted, the answer is lost", n, nth)
			w.recording.struck(f.Kind, n, 0)
			return membus.PublishFault{Err: bus.ErrOutcomeUnknown, Taken: (len(messages) + 1) / 2}
		}
	}
	return membus.PublishFault{}
}

func (w *World) hintFate(_ *membus.Member, m bus.Message) []time.Duration {
	now := w.since()
	fate := []time.Duration{0}
	for _, f := range w.plan.Faults {
		if now < f.At || now >= f.At+f.For {
			continue
		}
		switch f.Kind { //nolint:exhaustive // other kinds do not apply to hints.
		case HintsLost:
			return nil
		case HintsTwice:
			fate = append(fate, f.Delay)
		case HintsDelayed:
			// The delay depends on the message, so that hints overtake others and a replay delays them alike.
			fate = []time.Duration{f.Delay * time.Duration(checksum(m.Body)%8) / 8}
		}
	}
	return fate
}

func checksum(b []byte) int {
	sum := 0
	for _, c := range b {
		sum = (sum*31 + int(c)) & 0xffff
	}
	return sum
}

func (w *World) nodeOf(m *membus.Member) *node {
	for _, n := range w.nodes {
		if l := n.current(); l != nil && l.member == m {
			return n
		}
	}
	return nil
}
