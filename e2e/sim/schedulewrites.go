package sim

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// call receives one delivery of an occurrence: never early, and with one webhook-id.
func (s *scheduling) call(ctx context.Context, by *life, request *dispatcher.Request) dispatcher.Answer {
	w, t := s.world, request.Timer
	d := delivered{Delivery: event.DeliveryOf(t), webhook: t.WebhookID(), by: by, local: by.now(), begun: request.At, op: -1}
	w.note("%s  delivers %s attempt %d", by.node, d.TimerID, d.Attempt)
	step := s.received(&d)
	sleep(ctx, step.After)
	if err := ctx.Err(); err != nil {
		return dispatcher.Answer{Err: err}
	}
	return step.answer()
}

func (s *scheduling) received(d *delivered) Step {
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = s.world.since()
	o.counts.Occurrences++
	o.checkTime(d)
	if before, ok := s.webhooks[d.TimerID]; ok && before != d.webhook && s.deleted[d.TimerID] == 0 {
		o.broken("schedule", "%s was delivered as %s and as %s", d.TimerID, before, d.webhook)
	}
	s.webhooks[d.TimerID] = d.webhook
	s.world.recording.delivered(d.attempt(), d, false)
	s.checkCleared(d.TimerID)
	var payload occurrencePayload
	must(json.Unmarshal(d.Payload, &payload))
	made := o.find(payload.Schedule)
	if made == nil || d.Attempt > 1 {
		return Step{Answer: AnswerDone}
	}
	answers := made.op.Recur.Answers
	return answers[int(d.ExecuteAt/1000)%len(answers)]
}

// isOccurrence reports whether the timer with the id belongs to a schedule.
func isOccurrence(id string) bool {
	_, ok := shard.ScheduleOf(id)
	return ok || strings.HasPrefix(id, shard.ScheduleIDPrefix)
}

// occurrenceOf returns the schedule and the instant of an occurrence.
func occurrenceOf(id string) (name string, at timer.Millis, ok bool) {
	name, ok = shard.ScheduleOf(id)
	if !ok {
		return "", 0, false
	}
	instant, err := time.Parse(time.RFC3339Nano, id[strings.LastIndexByte(id, '@')+1:])
	must(err)
	return name, timer.FromTime(instant), true
}

// wrote learns which schedules and occurrences were written.
func (s *scheduling) wrote(ops []store.Op, written []store.Written) {
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range written {
		t := &written[i].Timer
		if written[i].Err != nil || written[i].Kept || !isOccurrence(t.ID) {
			continue
		}
		switch op := ops[i].(type) {
		case store.Put:
			s.wrotePut(t)
		case store.Update:
			if op.Patch.Schedule != nil {
				s.wroteUpdate(&written[i])
			}
		case store.Delete:
			s.wroteDelete(t)
		}
	}
}

func (s *scheduling) wrotePut(t *timer.Timer) {
	if _, _, ok := occurrenceOf(t.ID); ok {
		s.put[t.ID] = s.world.since()
		s.puts[t.ID]++
		return
	}
	var payload occurrencePayload
	must(json.Unmarshal(t.Payload, &payload))
	if s.created[payload.By]++; s.created[payload.By] > 1 {
		s.world.oracle.broken("twice", "op %d, which creates a schedule, was applied again", payload.By)
	}
}

// wroteUpdate: an update is applied once, and counts the version up.
func (s *scheduling) wroteUpdate(w *store.Written) {
	o := s.world.oracle
	before, err := schedule.Parse(w.Prior.Schedule, zone.Load)
	must(err)
	after, err := schedule.Parse(w.Timer.Schedule, zone.Load)
	must(err)
	if after.Version != before.Version+1 {
		o.broken("schedule", "%s had version %d, and was updated to version %d", w.Timer.ID, before.Version, after.Version)
	}
	var payload occurrencePayload
	must(json.Unmarshal(w.Timer.Payload, &payload))
	if st := o.find(payload.By); st != nil && st.op.Verb == ChangeSchedule && w.Prior.CallbackURL != w.Timer.CallbackURL {
		if s.changed[payload.By]++; s.changed[payload.By] > 1 {
			o.broken("twice", "op %d, which updates a schedule, was applied again", payload.By)
		}
	}
	if after.Command == "" {
		return
	}
	command := w.Timer.ID + " " + after.Command
	if s.commands[command]++; s.commands[command] > 1 {
		o.broken("twice", "the command %s was applied again to %s", after.Command, w.Timer.ID)
	}
}

// wroteDelete: an occurrence is deleted only if an operation or the overlap policy of its schedule says so.
func (s *scheduling) wroteDelete(t *timer.Timer) {
	o := s.world.oracle
	name, _, ok := occurrenceOf(t.ID)
	if !ok {
		name = strings.TrimPrefix(t.ID, shard.ScheduleIDPrefix)
		s.erased[name] = true
		if s.mayDrop == 0 && !slices.ContainsFunc(o.ops, func(st *opState) bool {
			return st.op.Verb == DropSchedule && scheduleName(st.op.Timer) == name && st.wasSent
		}) {
			o.broken("schedule", "%s was deleted, and no operation requires that", name)
		}
		return
	}
	if s.deleted[t.ID]++; s.deleted[t.ID] == 1 {
		s.deletedAt[t.ID] = s.world.since()
	}
	pending, cancels := false, false
	for _, st := range o.ops {
		if st.op.Verb.onSchedule() && !st.op.Verb.onSchedules() && scheduleName(st.op.Timer) == name {
			pending = pending || st.op.Pending && st.wasSent
			cancels = cancels || st.op.Recur.Overlap == "cancelOther"
		}
	}
	if pending {
		o.counts.effect("pending occurrences deleted", 1)
	}
	if !pending && !cancels {
		o.broken("schedule", "%s was deleted, and nothing requires that", t.ID)
	}
}
