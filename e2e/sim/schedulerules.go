package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// check implements I22 at the end of a life, from the outcomes that the store applied.
func (s *scheduling) check(ctx context.Context, handle store.Store) {
	all := map[string][]*finish{} // by schedule
	var names []string
	r := s.world.recording
	r.mu.Lock()
	for i := range r.finishes {
		f := &r.finishes[i]
		if f.before.Schedule == "" || f.Kind != store.FinishRescheduled && f.Kind != store.FinishDone {
			continue
		}
		name := strings.TrimPrefix(f.before.ID, shard.ScheduleIDPrefix)
		if all[name] == nil {
			names = append(names, name)
		}
		all[name] = append(all[name], f)
	}
	r.mu.Unlock()
	for _, name := range names {
		s.checkChain(name, all[name])
		s.checkOverlap(name, all[name])
		s.checkHeld(name, all[name])
		s.checkDelivered(all[name])
		last := all[name][len(all[name])-1]
		if mayPause := strings.Contains(last.before.Schedule, "pauseOnDead"); last.Kind != store.FinishDone && s.dropped[name] == 0 && !s.unsure[name] && !mayPause && !s.erased[name] {
			s.world.oracle.broken("schedule", "%s has not ended and was not deleted; its last instant was %s", name, last.before.ExecuteAt)
		}
	}
	s.checkCreated(all)
	s.checkFilled(all)
	s.checkMissing(all)
	for _, id := range s.triggered {
		if s.webhooks[id] == "" && s.deleted[id] == 0 {
			s.world.oracle.broken("schedule", "%s was triggered and never delivered", id)
		}
	}
	block := s.world.blocks[scheduleNamespace]
	for name := range s.made {
		id := shard.ScheduleIDPrefix + name
		t, err := handle.Get(ctx, timer.SystemClock(), store.Ref{Shard: block.Place(id), UUID: timer.UUIDOf(scheduleNamespace, id)})
		paused := t.Status == timer.StatusPaused && t.Pause.By == "timerbus"
		if !s.unsure[name] && s.dropped[name] == 0 && (err != nil || t.Status != timer.StatusDone && !paused) {
			s.world.oracle.broken("schedule", "%s has status %q at the end: %v", name, t.Status, err)
		}
	}
}

// checkChain: each decision is for the instant that the one before has named, and names the next one; each instant is created at most
// once, or left out with a reason.
func (s *scheduling) checkChain(name string, decisions []*finish) {
	o := s.world.oracle
	created := map[string]bool{}
	var last *finish
	decided := timer.Millis(0) // the last instant that was created or left out
	moved := map[timer.Millis]bool{}
	for _, f := range decisions {
		sched, err := schedule.Parse(f.before.Schedule, zone.Load)
		must(err)
		state, err := schedule.ParseState(f.before.ScheduleState)
		must(err)
		at, every := f.before.ExecuteAt, sched.Specs[0].Every
		report := func(format string, args ...any) {
			o.broken("schedule", "%s at %s, written at %v: %s", name, at, f.at, fmt.Sprintf(format, args...))
		}
		kind := schedule.DecisionOf(f.Record.Error)
		if first, ok := s.made[name]; ok && last == nil && at != first && !moved[at] {
			report("the create was answered with the first occurrence at %s", first)
		}
		switch {
		case last == nil:
		case last.before.Schedule == f.before.Schedule && at != last.NextAt:
			report("the decision before named %s", last.NextAt)
		case at <= decided && kind != "moved" && kind != "ended" && kind != "paused" && !moved[at]:
			report("not after the instant before, %s", decided)
		}
		last = f
		if kind == "moved" || kind == "ended" || kind == "paused" {
			if kind == "moved" {
				moved[f.NextAt] = true
				o.counts.Moves++
			}
			continue
		}
		decided = at
		if (f.FollowUp != nil) != (kind == "created") {
			report("follow-up %v, reason %q", f.FollowUp, f.Record.Error)
		}
		if at%timer.Millis(every.Milliseconds()) != 0 && !moved[at] {
			report("no multiple of %v", every)
		}
		if f.now < at {
			report("decided early, at %s", f.now)
		}
		if f.FollowUp == nil {
			o.counts.LeftOut++
			if f.NextAt != 0 && f.NextAt <= at {
				report("the next occurrence is at %s", f.NextAt)
			}
			continue
		}
		if created[f.FollowUp.ID] {
			report("%s was created twice", f.FollowUp.ID)
		}
		created[f.FollowUp.ID] = true
		if late := f.Record.FinishedAt.Sub(at); sched.CatchUp == schedule.CatchUpAll && sched.OnOverlap != schedule.Queue && late > sched.CatchUpWindow+time.Second {
			report("created %v late, and the window is %v", late, sched.CatchUpWindow)
		}
		if sched.Count > 0 && state.Created >= sched.Count {
			report("%d of %d occurrences had been created", state.Created, sched.Count)
		}
		if sched.OnOverlap == schedule.Queue {
			continue // it leaves out those that were due while it waited
		}
		step := timer.Millis(every.Milliseconds())
		replaced := state.Replaced
		if state.ReplacedIn != sched.Version {
			replaced = 0
		}
		next := (max(at, replaced)/step + 1) * step
		if next >= sched.End || sched.Count > 0 && state.Created+1 >= sched.Count {
			next = 0
		}
		if f.NextAt != next || (f.Kind == store.FinishDone) != (next == 0) {
			report("the next occurrence is at %s, want %s", f.NextAt, next)
		}
	}
}

// checkOverlap: with skip and queue, an occurrence is created only when those before are finished.
func (s *scheduling) checkOverlap(name string, decisions []*finish) {
	sched, err := schedule.Parse(decisions[0].before.Schedule, zone.Load)
	must(err)
	if sched.OnOverlap != schedule.Skip && sched.OnOverlap != schedule.Queue {
		return
	}
	r := s.world.recording
	r.mu.Lock()
	defer r.mu.Unlock()
	running := ""
	for i := range r.finishes {
		f := &r.finishes[i]
		switch {
		case f.before.ID == running && f.end() != "":
			running = ""
		case f.FollowUp == nil || f.before.ID != shard.ScheduleIDPrefix+name:
		case running != "" && (s.deleted[running] == 0 || s.deletedAt[running] > f.at):
			s.world.oracle.broken("schedule", "%s was created at %v while %s was not finished", f.FollowUp.ID, f.at, running)
		default:
			running = f.FollowUp.ID
		}
	}
}

// checkHeld: after the answer to a pause or a delete, nothing is created.
func (s *scheduling) checkHeld(name string, decisions []*finish) {
	for _, f := range decisions {
		if f.FollowUp == nil {
			continue
		}
		for _, h := range s.held {
			if h.name == name && f.at > h.from && f.at < h.until && !s.unsure[name] {
				s.world.oracle.broken("schedule", "%s was created at %v, and a pause was answered at %v", f.FollowUp.ID, f.at, h.from)
			}
		}
		if at, ok := s.dropped[name]; ok && f.at > at && !s.unsure[name] {
			s.world.oracle.broken("schedule", "%s was created at %v, and the delete was answered at %v", f.FollowUp.ID, f.at, at)
		}
	}
}

// checkDelivered: each occurrence that was created was delivered, unless it was deleted.
func (s *scheduling) checkDelivered(decisions []*finish) {
	for _, f := range decisions {
		if f.FollowUp != nil && s.webhooks[f.FollowUp.ID] == "" && s.deleted[f.FollowUp.ID] == 0 {
			s.world.oracle.broken("schedule", "%s was created at %v and never delivered", f.FollowUp.ID, f.at)
		}
	}
}

// checkCreated: an occurrence is created once, unless it was deleted in between; those that ingests create are in the range of a backfill,
// or there is a trigger for each of them. They are delivered, unless they were deleted.
func (s *scheduling) checkCreated(all map[string][]*finish) {
	o := s.world.oracle
	times := map[string]int{}
	for _, decisions := range all {
		for _, f := range decisions {
			if f.FollowUp != nil {
				times[f.FollowUp.ID]++
			}
		}
	}
	triggers := map[string]int{}
	for id, n := range s.puts {
		times[id] += n
		name, at, _ := occurrenceOf(id)
		if !s.fills(name, at) {
			triggers[name]++
		}
		if s.webhooks[id] == "" && s.deleted[id] == 0 {
			o.broken("schedule", "%s was created by a backfill or a trigger and never delivered", id)
		}
	}
	for id, n := range times {
		if n > 1+s.deleted[id] {
			o.broken("schedule", "%s was created %d times, and deleted %d times", id, n, s.deleted[id])
		}
	}
	for _, st := range o.ops {
		if st.op.Verb == TriggerSchedule && st.wasSent {
			triggers[scheduleName(st.op.Timer)]--
		}
	}
	for name, n := range triggers {
		if n > 0 {
			o.broken("twice", "%s has %d more occurrences than triggers and backfills explain", name, n)
		}
	}
}

// fills reports whether an instant is one of a backfill of a schedule.
func (s *scheduling) fills(name string, at timer.Millis) bool {
	var every []time.Duration
	filled := false
	for _, st := range s.world.oracle.ops {
		if !st.op.Verb.onSchedule() || st.op.Verb.onSchedules() || scheduleName(st.op.Timer) != name || !st.wasSent {
			continue
		}
		if st.op.Recur.Every > 0 {
			every = append(every, st.op.Recur.Every)
		}
		to := s.world.executeAt(st.op)
		filled = filled || st.op.Verb == FillSchedule && at >= to.Add(-st.op.Back) && at < to
	}
	return filled && slices.ContainsFunc(every, func(e time.Duration) bool { return at%timer.Millis(e.Milliseconds()) == 0 })
}

// checkFilled: after a backfill, each instant of its range about which the schedule had decided has an occurrence.
func (s *scheduling) checkFilled(all map[string][]*finish) {
	o := s.world.oracle
	for _, b := range s.filled {
		made := s.makes(b.op.Timer)
		if made == nil || s.unsure[b.name] || slices.ContainsFunc(made.Recur.Answers, func(step Step) bool { return step.Answer == AnswerAgain }) ||
			slices.ContainsFunc(o.ops, func(st *opState) bool {
				return st.op.Timer == b.op.Timer && st.op.Verb == ChangeSchedule && st.wasSent && st.sent <= b.answered
			}) {
			continue
		}
		decided, created := s.first[b.name], map[timer.Millis]bool{}
		for _, f := range all[b.name] {
			if f.at < b.sent {
				decided = f.NextAt
				if f.Kind == store.FinishDone {
					decided = timer.Never
				}
			}
			if f.FollowUp != nil && f.at <= b.answered {
				created[f.before.ExecuteAt] = true
			}
		}
		for id := range s.puts {
			if name, at, _ := occurrenceOf(id); name == b.name {
				created[at] = true
			}
		}
		to, step := s.world.executeAt(b.op), timer.Millis(made.Recur.Every.Milliseconds())
		count := 0
		for at := (to.Add(-b.op.Back) + step - 1) / step * step; at < to; at += step {
			count++
			if at < decided && !created[at] {
				o.broken("schedule", "op %d was answered at %v, and %s has no occurrence at %s", b.op.ID, b.answered, b.name, at)
			}
		}
		if b.count > count {
			o.broken("schedule", "op %d was answered with %d occurrences, and there are only %d instants in its range", b.op.ID, b.count, count)
		}
	}
}

// checkCleared: no occurrence that a schedule had created before an operation which deletes the pending ones begins after its answer. An
// occurrence that a backfill has created again is not one of them.
func (s *scheduling) checkCleared(id string) {
	name, _, ok := occurrenceOf(id)
	if !ok || len(s.cleared[name]) == 0 {
		return
	}
	for _, c := range s.cleared[name] {
		if s.world.since() <= c.answered+beginsWithin {
			continue
		}
		if at, later := s.createdAt(name, id, c.answered); at < c.sent && later < pendingKnown && s.put[id] <= at {
			s.world.oracle.broken("schedule", "%s, created at %v, was delivered, and op %d had deleted the pending occurrences at %v", id, at, c.op, c.answered)
		}
	}
}

// pendingKnown is how many occurrences a schedule knows.
const pendingKnown = 16

// createdAt returns when a decision created an occurrence, and how many others it created later, until a time.
func (s *scheduling) createdAt(name, id string, until time.Duration) (at time.Duration, later int) {
	r := s.world.recording
	r.mu.Lock()
	defer r.mu.Unlock()
	at = never
	for i := range r.finishes {
		f := &r.finishes[i]
		switch {
		case f.FollowUp == nil || f.before.ID != shard.ScheduleIDPrefix+name:
		case f.FollowUp.ID == id:
			at, later = f.at, 0
		case f.at <= until:
			later++
		}
	}
	return at, later
}

// checkMissing: commands are applied in their order, so one that follows a create which was applied finds the schedule, unless that was
// deleted or has ended.
func (s *scheduling) checkMissing(all map[string][]*finish) {
	o := s.world.oracle
	for _, m := range s.missing {
		made, name := s.makes(m.op.Timer), scheduleName(m.op.Timer)
		if !m.op.Topic || made == nil || s.created[made.ID] == 0 || s.mayDrop != 0 || slices.ContainsFunc(o.ops, func(st *opState) bool {
			return st.op.Timer == m.op.Timer && st.op.ID <= m.op.ID && st.op.Verb == DropSchedule
		}) {
			continue
		}
		if !slices.ContainsFunc(all[name], func(f *finish) bool { return f.Kind == store.FinishDone && f.at <= m.at }) {
			o.broken("order", "op %d was answered at %v that there is no %s, which op %d had created", m.op.ID, m.at, name, made.ID)
		}
	}
}
