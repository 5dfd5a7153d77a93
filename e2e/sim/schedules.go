package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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

// scheduleNamespace has the schedules. scheduleTimers is the first number of operations on them.
const (
	scheduleNamespace = "schedules"
	scheduleTimers    = 20_000
)

// The operations on schedules. A schedule ends with the plan at the latest.
const (
	MakeSchedule    Verb = "schedules/create"
	ChangeSchedule  Verb = "schedules/update"
	DropSchedule    Verb = "schedules/delete"
	HoldSchedule    Verb = "schedules/pause"
	FreeSchedule    Verb = "schedules/resume"
	TriggerSchedule Verb = "schedules/trigger"
)

// onSchedule reports whether it is an operation on a schedule.
func (v Verb) onSchedule() bool { return strings.HasPrefix(string(v), "schedules/") }

// Recur is the definition of a schedule with an occurrence at each multiple of Every, and the answers of its receiver: that of an
// occurrence is chosen by its instant.
type Recur struct {
	Every            time.Duration
	Overlap, CatchUp string
	// CatchUpWindow is 0 if CatchUp is not "all".
	CatchUpWindow, Window time.Duration
	Count, PauseOnDead    int
	Answers               []Step
}

// AnswerStop is {"stopSchedule":true}.
const AnswerStop Answer = "stop"

// schedules adds a namespace with schedules to some lives, like flows.
func (r *dice) schedules(p *Plan) {
	if p.Seed%kinds == 0 || p.Seed%kinds == slowCommits || p.backlog() || !r.chance(20) || p.has(func(o *Op) bool { return o.Verb == MakeNamespace }) {
		return
	}
	for n := range 1 + r.IntN(5) {
		at := r.between(0, p.Length/2)
		next := func(verb Verb) Op { return Op{At: at, Timer: scheduleTimers + n, Verb: verb, Node: r.IntN(ingests)} }
		first := next(MakeSchedule)
		first.Recur = r.recur()
		ops := []Op{first}
		for r.chance(50) && len(ops) < 6 {
			at = min(at+r.between(0, 15*time.Second), p.Length-time.Second)
			o := next([]Verb{ChangeSchedule, ChangeSchedule, HoldSchedule, FreeSchedule, TriggerSchedule, DropSchedule}[r.IntN(6)])
			if o.Verb == ChangeSchedule {
				o.Recur = Recur{Every: first.Recur.Every}
				if r.chance(70) {
					o.Recur.Every = r.between(time.Second, 6*time.Second)
				}
			}
			ops = append(ops, o)
		}
		at = max(at, p.Length-time.Second)
		p.Ops = append(p.Ops, append(ops, next(FreeSchedule))...)
	}
	p.sortOps()
}

func (r *dice) recur() Recur {
	c := Recur{
		Every: r.between(time.Second, 6*time.Second), Overlap: []string{"allow", "allow", "skip", "queue", "cancelOther"}[r.IntN(5)],
		CatchUp: []string{"all", "all", "last", "none"}[r.IntN(4)],
	}
	if c.CatchUp == "all" {
		c.CatchUpWindow = r.between(schedule.OnTime, 30*time.Second)
	}
	if r.chance(30) {
		c.Window = r.between(time.Millisecond, 3*time.Second)
	}
	if r.chance(30) {
		c.Count = 1 + r.IntN(8)
	}
	if r.chance(20) {
		c.PauseOnDead = 1 + r.IntN(3)
	}
	kinds := []Answer{AnswerDone, AnswerDone, AnswerDone, AnswerOK, AnswerError, AnswerGone, AnswerGone}
	if r.chance(20) {
		kinds = append(kinds, AnswerAgain, AnswerStop)
	}
	for range 1 + r.IntN(4) {
		c.Answers = append(c.Answers, r.step(kinds[r.IntN(len(kinds))]))
	}
	return c
}

// scheduling has what clients and receivers of schedules see. It is guarded by oracle.mu.
type scheduling struct {
	world *World
	// webhooks has the webhook-id of each occurrence that was delivered.
	webhooks map[string]string
	// triggered has the ids of occurrences in answers to triggers, deleted those that were deleted.
	triggered []string
	deleted   map[string]bool
	// made has the instant of the first occurrence, by schedule, if the answer was received and no other operation follows.
	made map[string]timer.Millis
	// held and dropped are the answered pauses and deletes, unsure the schedules with operations whose outcome is not known.
	held    []scheduleHold
	dropped map[string]time.Duration
	unsure  map[string]bool
}

// scheduleHold is the time from the answer to a pause until the next resume is sent.
type scheduleHold struct {
	name        string
	from, until time.Duration
}

func newScheduling(w *World) *scheduling {
	return &scheduling{
		world: w, webhooks: map[string]string{}, deleted: map[string]bool{}, made: map[string]timer.Millis{},
		dropped: map[string]time.Duration{}, unsure: map[string]bool{},
	}
}

func scheduleName(t int) string { return fmt.Sprint("schedule-", t-scheduleTimers) }

// request sends an operation on a schedule.
func (s *scheduling) request(ctx context.Context, o *Op) {
	w, name := s.world, scheduleName(o.Timer)
	l := w.nodes[o.Node].serving()
	if l == nil {
		if o.Verb != FreeSchedule {
			return
		}
		for l == nil { // a paused schedule never ends
			sleep(ctx, 200*time.Millisecond)
			if o.Node = (o.Node + 1) % ingests; ctx.Err() != nil {
				return
			}
			l = w.nodes[o.Node].serving()
		}
	}
	body := map[string]any{"namespace": scheduleNamespace, "id": name}
	if c := &o.Recur; c.Every > 0 {
		body["specs"] = []any{map[string]any{"every": c.Every.String()}}
	}
	if o.Verb == MakeSchedule {
		s.define(o, body)
	}
	text, err := json.Marshal(body)
	must(err)
	w.oracle.mu.Lock()
	if o.Verb == FreeSchedule {
		for i := range s.held {
			if h := &s.held[i]; h.name == name {
				h.until = min(h.until, w.since())
			}
		}
	}
	w.oracle.mu.Unlock()
	call, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rec := w.post(call, l, string(o.Verb), string(text))
	w.note("op %d  %s %s answered %d", o.ID, o.Verb, name, rec.Code)
	unknown := !l.alive() || rec.Code == http.StatusGatewayTimeout
	w.oracle.mu.Lock()
	s.answered(o, name, rec.Code, rec.Body.Bytes(), unknown)
	w.oracle.mu.Unlock()
	if o.Verb == FreeSchedule && (unknown || rec.Code == http.StatusServiceUnavailable || rec.Code == http.StatusTooManyRequests) && ctx.Err() == nil {
		sleep(ctx, 500*time.Millisecond)
		s.request(ctx, o)
	}
}

// define adds the definition of a schedule to the body of a create.
func (s *scheduling) define(o *Op, body map[string]any) {
	c := &o.Recur
	body["overlap"], body["catchUp"] = c.Overlap, c.CatchUp
	body["end"] = timer.FromTime(s.world.start.Add(s.world.plan.Length))
	if c.CatchUpWindow > 0 {
		body["catchUpWindow"] = c.CatchUpWindow.String()
	}
	if c.Count > 0 {
		body["count"] = c.Count
	}
	if c.PauseOnDead > 0 {
		body["pauseOnDead"] = c.PauseOnDead
	}
	template := map[string]any{
		"callbackUrl": "http://schedules.test/" + fmt.Sprint(o.ID), "callbackTimeout": "10s", "payload": map[string]any{"schedule": o.ID},
		"retryPolicy": map[string]any{"maxAttempts": maxAttempts, "initialInterval": initialInterval.String(), "maxInterval": maxInterval.String()},
	}
	if c.Window > 0 {
		template["window"] = c.Window.String()
	}
	body["timer"] = template
}

// answered learns the answer to an operation.
func (s *scheduling) answered(o *Op, name string, status int, body []byte, unknown bool) {
	var got struct {
		ID     string       `json:"id"`
		NextAt timer.Millis `json:"nextAt"`
	}
	applied := status == http.StatusOK || status == http.StatusAccepted
	if applied {
		must(json.Unmarshal(body, &got))
	}
	if o.Verb != MakeSchedule {
		delete(s.made, name)
	}
	now := s.world.since()
	switch {
	case unknown:
		s.unsure[name] = true
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests, status == http.StatusNotFound:
	case status == http.StatusBadRequest && (o.Verb == MakeSchedule || o.Verb == ChangeSchedule): // no occurrence before its end
	case status == http.StatusConflict && o.Verb == HoldSchedule: // parked
	case !applied && status != http.StatusNoContent:
		s.world.oracle.broken("answer", "op %d: status %d: %s", o.ID, status, body)
	case o.Verb == MakeSchedule:
		s.made[name] = got.NextAt
	case o.Verb == HoldSchedule:
		s.held = append(s.held, scheduleHold{name, now, never})
	case o.Verb == DropSchedule:
		s.dropped[name] = now
	case o.Verb == TriggerSchedule:
		s.triggered = append(s.triggered, got.ID)
	}
}

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
	if before, ok := s.webhooks[d.TimerID]; ok && before != d.webhook {
		o.broken("schedule", "%s was delivered as %s and as %s", d.TimerID, before, d.webhook)
	}
	s.webhooks[d.TimerID] = d.webhook
	s.world.recording.delivered(d.attempt(), d, false)
	var payload struct {
		Schedule int `json:"schedule"`
	}
	must(json.Unmarshal(d.Payload, &payload))
	made := o.find(payload.Schedule)
	if made == nil || d.Attempt > 1 {
		return Step{Answer: AnswerDone}
	}
	answers := made.op.Recur.Answers
	return answers[int(d.ExecuteAt/1000)%len(answers)]
}

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
		if mayPause := strings.Contains(last.before.Schedule, "pauseOnDead"); last.Kind != store.FinishDone && s.dropped[name] == 0 && !s.unsure[name] && !mayPause {
			s.world.oracle.broken("schedule", "%s has not ended and was not deleted; its last instant was %s", name, last.before.ExecuteAt)
		}
	}
	for _, id := range s.triggered {
		if s.webhooks[id] == "" {
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
		case running != "":
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
		if f.FollowUp != nil && s.webhooks[f.FollowUp.ID] == "" && !s.deleted[f.FollowUp.ID] {
			s.world.oracle.broken("schedule", "%s was created at %v and never delivered", f.FollowUp.ID, f.at)
		}
	}
}

// wrote learns which occurrences were deleted.
func (s *scheduling) wrote(ops []store.Op, written []store.Written) {
	for i := range written {
		if _, deletes := ops[i].(store.Delete); deletes && written[i].Err == nil {
			s.world.oracle.mu.Lock()
			s.deleted[written[i].Timer.ID] = true
			s.world.oracle.mu.Unlock()
		}
	}
}

// isOccurrence reports whether the timer with the id belongs to a schedule.
func isOccurrence(id string) bool {
	_, ok := shard.ScheduleOf(id)
	return ok || strings.HasPrefix(id, shard.ScheduleIDPrefix)
}
