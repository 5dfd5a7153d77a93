package sim

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// checkTime implements I8: not early by the node's clock, nor by true time beyond the bound.
func (o *oracle) checkTime(d *delivered) {
	now := timer.SystemClock()
	if d.by != nil && (d.local < d.ExecuteAt || d.local < d.ScheduledFor) {
		o.broken("early", "op %d was delivered at %v by the clock of %s, due %v", d.op, d.local, d.by.node, max(d.ExecuteAt, d.ScheduledFor))
	}
	if now < d.ExecuteAt.Add(-clockBound) {
		o.broken("far early", "op %d was delivered %v before its executeAt", d.op, d.ExecuteAt.Sub(now))
	}
	o.counts.Slowest = max(o.counts.Slowest, now.Sub(d.ScheduledFor))
	if o.world.isHealed() {
		late := o.lateness(d, o.world.quietSince())
		o.counts.Late = max(o.counts.Late, late)
		if limit := o.lateLimit(); late > limit {
			o.broken("late", "op %d was delivered %v after its due time and the end of all faults, want at most %v", d.op, late, limit)
		}
	}
}

// checkPrompt bounds the lateness while nothing delays the service. Lost answers of the store to an ingest are no
// excuse, because it sends hints after them, too.
func (o *oracle) checkPrompt(s *opState, d *delivered) {
	if o.world.plan.Narrow > 0 || slices.ContainsFunc(o.world.plan.failures(), func(f Fault) bool { return f.Kind != StoreUnknown || f.Node >= ingests }) {
		return
	}
	if o.resumesUnsure(s.op.Timer) {
		return
	}
	if o.world.plan.Circuit > 0 && o.seen[d.attempt()] != nil {
		return // it is quarantined, and waits while the circuit of its host is open
	}
	if d.Attempt > 1 && o.killedAtItsAnswer(d.attempt().of(d.Attempt-1)) {
		return // the hint of this attempt may be lost, so a sweep finds it
	}
	// If the due time had passed when the operation was sent, lateness counts from then.
	if late := o.lateness(d, s.at); late > prompt {
		o.broken("prompt", "op %d was delivered %v late without a cause", d.op, late)
	}
}

// checkFair implements I16: while another namespace has a backlog, and nothing fails, timers of a small one are hardly
// late.
func (o *oracle) checkFair(s *opState, d *delivered) {
	if s.op.Bulk || len(o.world.plan.failures()) > 0 || !o.world.plan.backlog() {
		return
	}
	late := o.lateness(d, s.at)
	o.counts.Fair = max(o.counts.Fair, late)
	if o.waits() {
		o.counts.Others++
	}
	if late > fair {
		o.broken("fair", "op %d was delivered %v late while another namespace had a backlog", d.op, late)
	}
}

// waits reports whether timers of a backlog are due and have not been delivered.
func (o *oracle) waits() bool {
	return slices.ContainsFunc(o.ops, func(s *opState) bool {
		return s.op.Bulk && len(s.lives) == 0 && s.op.At+s.op.Soon <= o.world.since()
	})
}

// fair covers the events that dispatchers hold, about 80, at the rate of a plan with a backlog, 80 per second, and the time
// in which one dispatcher is replaced. In 42,000 lives the largest lateness was 2.3 s; without shares it was 6.1 s in the
// first one.
const fair = 3 * time.Second

// prompt covers the nodes' clock offsets and the backoff after a lost answer.
const prompt = time.Second

// checkCut implements I17: if a scheduler or dispatcher does not reach the store, another process takes its work.
func (o *oracle) checkCut(s *opState, d *delivered) {
	faults := o.world.plan.failures()
	if len(faults) != 1 || faults[0].Kind != StoreCut {
		return
	}
	// If one of the two dispatchers is cut off while the other is replaced, none delivers.
	late := o.lateness(d, s.at, o.world.recording.replaced(nodeRole.delivers)...)
	o.counts.Cut = max(o.counts.Cut, late)
	if late > cutLimit {
		o.broken("cut", "op %d was delivered %v late, want at most %v while one process does not reach the store", s.op.ID, late, cutLimit)
	}
}

// checkClocks implements I15: each step or jump of the clocks of one machine delays no timer by more than a second. A
// correct clock may be behind by half the bound.
func (o *oracle) checkClocks(s *opState, d *delivered) {
	faults := o.world.plan.failures()
	other := func(f Fault) bool { return f.Kind != ClockStep && f.Kind != ClockJump || f.Node != faults[0].Node }
	if len(faults) == 0 || slices.ContainsFunc(faults, other) {
		return
	}
	// If one of the two dispatchers does not trust its clock while the other is replaced, none delivers.
	late := o.lateness(d, s.at, o.world.recording.replaced(nodeRole.delivers)...)
	o.counts.Clocks = max(o.counts.Clocks, late)
	if limit := time.Duration(len(faults))*time.Second + clockBound/2; late > limit {
		o.broken("clocks", "op %d was delivered %v late, want at most %v while the clocks of one machine are wrong", s.op.ID, late, limit)
	}
}

// cutLimit is the time after which a process gives up its work, plus the longest backoff between two tries of a call: a
// cut may end shortly before the process gives up.
const cutLimit = 4 * time.Second

// lateLimit is the time within which all due timers are delivered after the end of the faults: three sweeps and the
// longest callback that was running. Shards of a new namespace, whose hints may be lost, wait for the refresh of the
// directory, half a hint window, and so does a timer in an idle shard whose hint was lost. After a crash of the due
// queue's server, all timers must be delivered within 35 s.
func (o *oracle) lateLimit() time.Duration {
	const (
		crash   = 35 * time.Second
		sweep   = 2 * time.Second
		refresh = 30 * time.Second
		look    = 30 * time.Second
	)
	limit := 3*sweep + longestCallback
	if slices.ContainsFunc(o.world.plan.Faults, func(f Fault) bool { return f.Kind == CrashQueue }) {
		limit = crash
	}
	if len(o.world.plan.failures()) > 0 {
		limit += look
	}
	if slices.ContainsFunc(o.ops, func(s *opState) bool { return s.op.Verb == MakeNamespace }) {
		limit += refresh
	}
	return limit
}
