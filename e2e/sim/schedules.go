package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// scheduleNamespace has the schedules. scheduleTimers is the first number of operations on them, scheduleFilters that of those on all.
const (
	scheduleNamespace = "schedules"
	scheduleTimers    = 20_000
	scheduleFilters   = 20_900
)

// The operations on schedules. A schedule ends with the plan at the latest.
const (
	MakeSchedule    Verb = "schedules/create"
	ChangeSchedule  Verb = "schedules/update"
	DropSchedule    Verb = "schedules/delete"
	HoldSchedule    Verb = "schedules/pause"
	FreeSchedule    Verb = "schedules/resume"
	TriggerSchedule Verb = "schedules/trigger"
	FillSchedule    Verb = "schedules/backfill"
	// HoldSchedules and the next two are for all schedules with Status.
	HoldSchedules Verb = "schedules/pause-matching"
	FreeSchedules Verb = "schedules/resume-matching"
	DropSchedules Verb = "schedules/delete-matching"
)

// onSchedule reports whether it is an operation on schedules, and onSchedules whether it is one on all with a status.
func (v Verb) onSchedule() bool  { return strings.HasPrefix(string(v), "schedules/") }
func (v Verb) onSchedules() bool { return strings.HasSuffix(string(v), "-matching") }

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

// scheduling has what clients and receivers of schedules see. It is guarded by oracle.mu.
type scheduling struct {
	world *World
	// webhooks has the webhook-id of each occurrence that was delivered.
	webhooks map[string]string
	// triggered has the ids of occurrences in answers to triggers, deleted those that were deleted, with the number of times, and deletedAt
	// with the first time.
	triggered []string
	deleted   map[string]int
	deletedAt map[string]time.Duration
	// erased are the schedules that were deleted.
	erased map[string]bool
	// put has the ids of occurrences that ingests created, with the last time, and puts their number.
	put  map[string]time.Duration
	puts map[string]int
	// created and changed count the creates and updates of schedules that were applied, by operation; commands those of commands, by
	// schedule and command.
	created, changed map[int]int
	commands         map[string]int
	// made has the instant of the first occurrence, by schedule, if the answer was received and no other operation follows. first has it
	// also if others follow, and since is when the answer was received.
	made, first map[string]timer.Millis
	since       map[string]time.Duration
	// held and dropped are the answered pauses and deletes, unsure the schedules with operations whose outcome is not known. mayDrop: a
	// filter may have deleted schedules, from then on; 0: none.
	held []scheduleHold
	// freeing is the number of resumes by filter that run, or may be applied later because an answer was lost; freed is when the last one ended.
	freeing int
	freed   time.Duration
	dropped map[string]time.Duration
	unsure  map[string]bool
	mayDrop time.Duration
	// missing are the operations that found no schedule.
	missing []missing
	// cleared are the answered operations that delete pending occurrences, by schedule. filled are the answered backfills.
	cleared map[string][]scheduleClear
	filled  []scheduleFill
}

// scheduleHold is the time from the answer to a pause until the next resume is sent.
type scheduleHold struct {
	name        string
	from, until time.Duration
}

// scheduleClear is an operation that deletes pending occurrences.
type scheduleClear struct {
	op             int
	sent, answered time.Duration
}

// missing is an operation that was answered at a time that there is no schedule.
type missing struct {
	op *Op
	at time.Duration
}

// scheduleFill is a backfill that was answered with a number of occurrences.
type scheduleFill struct {
	name           string
	op             *Op
	sent, answered time.Duration
	count          int
}

func newScheduling(w *World) *scheduling {
	return &scheduling{
		world: w, webhooks: map[string]string{}, deleted: map[string]int{}, deletedAt: map[string]time.Duration{}, put: map[string]time.Duration{}, puts: map[string]int{},
		created: map[int]int{}, changed: map[int]int{}, commands: map[string]int{}, erased: map[string]bool{},
		made: map[string]timer.Millis{}, first: map[string]timer.Millis{}, since: map[string]time.Duration{},
		dropped: map[string]time.Duration{}, unsure: map[string]bool{}, cleared: map[string][]scheduleClear{},
	}
}

func scheduleName(t int) string { return fmt.Sprint("schedule-", t-scheduleTimers) }

// scheduleCommands are the types of commands.
var scheduleCommands = map[Verb]string{
	MakeSchedule: event.TypeCreateSchedule, ChangeSchedule: event.TypeUpdateSchedule, DropSchedule: event.TypeDeleteSchedule,
	HoldSchedule: event.TypePauseSchedule, FreeSchedule: event.TypeResumeSchedule, TriggerSchedule: event.TypeTriggerSchedule,
	FillSchedule: event.TypeBackfillSchedule,
}

// request sends an operation on a schedule.
func (s *scheduling) request(ctx context.Context, o *Op) {
	w, name := s.world, scheduleName(o.Timer)
	body, err := json.Marshal(s.body(o))
	must(err)
	if o.Topic {
		s.command(ctx, o, body)
		return
	}
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
	s.sends(o)
	call, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rec := w.post(call, l, string(o.Verb), string(body))
	w.note("op %d  %s %s answered %d %s", o.ID, o.Verb, name, rec.Code, rec.Body)
	unknown := !l.alive() || rec.Code == http.StatusGatewayTimeout
	w.oracle.mu.Lock()
	s.answered(w.oracle.find(o.ID), rec.Code, rec.Body.Bytes(), unknown)
	w.oracle.mu.Unlock()
	if o.Verb == FreeSchedule && (unknown || rec.Code == http.StatusServiceUnavailable || rec.Code == http.StatusTooManyRequests) && ctx.Err() == nil {
		sleep(ctx, 500*time.Millisecond)
		s.request(ctx, o)
	}
}

// command publishes an operation on the command topic. It repeats a resume that is not answered, because a paused schedule never ends:
// it may have been lost with its topic.
func (s *scheduling) command(ctx context.Context, o *Op, body []byte) {
	w := s.world
	for {
		s.sends(o)
		w.note("op %d  command %s %s", o.ID, o.Verb, scheduleName(o.Timer))
		w.publishCommand(ctx, o, scheduleCommands[o.Verb], scheduleNamespace, shard.ScheduleIDPrefix+scheduleName(o.Timer), body)
		if o.Verb != FreeSchedule || o.At < w.plan.Length-time.Second {
			return
		}
		for range 60 {
			sleep(ctx, 500*time.Millisecond)
			if w.oracle.knows(o) || ctx.Err() != nil {
				return
			}
		}
	}
}

// knows reports whether an operation was answered.
func (o *oracle) knows(op *Op) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.find(op.ID).known
}

// sends records that an operation is sent.
func (s *scheduling) sends(o *Op) {
	w, name := s.world, scheduleName(o.Timer)
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	st := w.oracle.find(o.ID)
	if !st.wasSent {
		st.sent, st.wasSent = w.since(), true
	}
	st.at = w.since()
	w.oracle.counts.effect(o.kind(), 1)
	switch o.Verb { //nolint:exhaustive // an operation with another verb changes no expectation before its answer.
	case MakeSchedule:
		return
	case FreeSchedule:
		s.frees(name)
	case FreeSchedules:
		s.frees("")
		return
	case DropSchedules:
		if s.mayDrop == 0 {
			s.mayDrop = w.since()
		}
		clear(s.made)
		return
	}
	delete(s.made, name)
}

// frees ends the known pauses of a schedule, or of all.
func (s *scheduling) frees(name string) {
	for i := range s.held {
		if h := &s.held[i]; name == "" || h.name == name {
			h.until = min(h.until, s.world.since())
		}
	}
}

// kind is the name of the operation in the report.
func (o *Op) kind() string {
	kind := string(o.Verb)
	if o.Pending {
		kind += " with pending"
	}
	if o.Topic {
		kind += " by topic"
	}
	return kind
}

// body returns the operation as a body of the API.
func (s *scheduling) body(o *Op) map[string]any {
	body := map[string]any{"namespace": scheduleNamespace, "id": scheduleName(o.Timer)}
	if c := &o.Recur; c.Every > 0 {
		body["specs"] = []any{map[string]any{"every": c.Every.String()}}
	}
	switch o.Verb { //nolint:exhaustive // no other verb has further fields.
	case MakeSchedule:
		s.define(o, body)
	case ChangeSchedule:
		if made := s.makes(o.Timer); made != nil && (o.Pending || o.ID%2 == 0) {
			body["timer"] = template(made, o.ID)
		}
	case FillSchedule:
		to := s.world.executeAt(o)
		body["from"], body["to"] = to.Add(-o.Back), to
	}
	if o.Pending {
		body["pending"] = "delete"
	}
	return body
}

// makes returns the operation that creates a schedule, nil if the plan has none.
func (s *scheduling) makes(number int) *Op {
	for i := range s.world.plan.Ops {
		if o := &s.world.plan.Ops[i]; o.Timer == number && o.Verb == MakeSchedule {
			return o
		}
	}
	return nil
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
	body["timer"] = template(o, o.ID)
}

// occurrencePayload is the payload of occurrences: the operation that has created their schedule, and the one that has set their template.
type occurrencePayload struct {
	Schedule int `json:"schedule"`
	By       int `json:"by"`
}

// template returns the template of the occurrences of a schedule, which an operation sets.
func template(made *Op, by int) map[string]any {
	template := map[string]any{
		"callbackUrl": "http://schedules.test/" + strconv.Itoa(by), "callbackTimeout": "10s", "payload": occurrencePayload{made.ID, by},
		"retryPolicy": map[string]any{"maxAttempts": maxAttempts, "initialInterval": initialInterval.String(), "maxInterval": maxInterval.String()},
	}
	if made.Recur.Window > 0 {
		template["window"] = made.Recur.Window.String()
	}
	return template
}

// commandAnswered processes the answer to a command. Answers may repeat; the first one counts.
func (s *scheduling) commandAnswered(st *opState, a *event.Answer) {
	status, body := http.StatusOK, []byte("{}")
	switch {
	case strings.HasSuffix(a.Error, "NOT_FOUND"):
		status = http.StatusNotFound
	case a.Error == "INVALID_INPUT":
		status = http.StatusBadRequest
	case strings.HasSuffix(a.Error, "CONFLICT"):
		status = http.StatusConflict
	case a.Error != "":
		status = http.StatusInternalServerError
		body = []byte(a.Error + ": " + a.Message)
	case a.Schedule != nil:
		body = a.Schedule
	case a.Timer != nil:
		body = a.Timer
	case a.Backfill != nil:
		body = a.Backfill
	}
	if st.known {
		return
	}
	s.world.note("op %d  command answered %s%s earlier=%t %s", st.op.ID, a.Error, a.Message, a.Earlier, body)
	if a.Earlier {
		s.world.oracle.counts.effect("commands for schedules recognized as repeated", 1)
	}
	s.answered(st, status, body, a.Earlier)
}

// answered learns the answer to an operation.
func (s *scheduling) answered(st *opState, status int, body []byte, unknown bool) {
	o, name, now := st.op, scheduleName(st.op.Timer), s.world.since()
	st.known, st.at = true, now
	var got struct {
		ID            string       `json:"id"`
		NextAt        timer.Millis `json:"nextAt"`
		Created, Kept int
	}
	applied := !unknown && (status == http.StatusOK || status == http.StatusAccepted || status == http.StatusNoContent)
	if applied && status != http.StatusNoContent {
		must(json.Unmarshal(body, &got))
	}
	if applied {
		s.world.oracle.counts.effect(o.kind()+", applied", 1)
	}
	if o.Pending && applied {
		s.cleared[name] = append(s.cleared[name], scheduleClear{o.ID, st.sent, now})
	}
	switch {
	case unknown:
		s.unsure[name] = true
	case status == http.StatusNotFound:
		s.missing = append(s.missing, missing{o, now})
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
	case status == http.StatusBadRequest && (o.Verb == MakeSchedule || o.Verb == ChangeSchedule): // no occurrence before its end
	case status == http.StatusConflict && o.Verb == HoldSchedule: // parked
	case !applied:
		s.world.oracle.broken("answer", "op %d: status %d: %s", o.ID, status, body)
	case o.Verb == MakeSchedule:
		s.first[name], s.since[name] = got.NextAt, now
		if !s.sentAfter(st, func(*Op) bool { return true }) && s.mayDrop == 0 {
			s.made[name] = got.NextAt
		}
	case o.Verb == HoldSchedule:
		if !s.sentAfter(st, func(o *Op) bool { return o.Verb == FreeSchedule }) && !s.freesSince(st.sent) {
			s.held = append(s.held, scheduleHold{name, now, never})
		}
	case o.Verb == DropSchedule:
		s.dropped[name] = now
	case o.Verb == TriggerSchedule:
		s.triggered = append(s.triggered, got.ID)
	case o.Verb == FillSchedule:
		s.world.oracle.counts.effect("occurrences created by backfills", got.Created)
		s.world.oracle.counts.effect("occurrences kept by backfills", got.Kept)
		s.filled = append(s.filled, scheduleFill{name, o, st.sent, now, got.Created + got.Kept})
	}
}

// sentAfter reports whether an operation on the schedule was sent that follows in the plan.
func (s *scheduling) sentAfter(st *opState, meets func(*Op) bool) bool {
	return slices.ContainsFunc(s.world.oracle.ops, func(other *opState) bool {
		return other.op.Timer == st.op.Timer && other.op.ID > st.op.ID && other.wasSent && meets(other.op)
	})
}

// filter sends an operation on all schedules with a status, page by page.
func (s *scheduling) filter(ctx context.Context, o *Op) {
	w := s.world
	for range walks {
		s.sends(o)
		w.oracle.mu.Lock()
		firm := s.firm(o)
		if o.Verb == FreeSchedules {
			s.freeing++
		}
		w.oracle.mu.Unlock()
		fields := map[string]any{"namespace": scheduleNamespace}
		if o.Status != "" {
			fields["status"] = o.Status
		}
		matched, applied, repeated := 0, 0, false
		ok := w.pages(ctx, o, string(o.Verb), fields, func(page map[string]any, again bool) {
			m, _ := page["matched"].(float64)
			a, _ := page["applied"].(float64)
			matched, applied, repeated = matched+int(m), applied+int(a), repeated || again
		})
		w.oracle.mu.Lock()
		s.filtered(o, firm, ok && !repeated)
		w.oracle.counts.effect(string(o.Verb)+", schedules changed", applied)
		w.oracle.mu.Unlock()
		if !ok || matched == 0 || o.Verb != FreeSchedules {
			return
		}
	}
}

// firm returns the schedules that exist and about which no operation is being applied that resumes them.
func (s *scheduling) firm(o *Op) map[string]time.Duration {
	names := map[string]time.Duration{}
	for name := range s.since {
		if _, dropped := s.dropped[name]; !dropped && !s.unsure[name] {
			names[name] = s.world.since()
		}
	}
	for _, st := range s.world.oracle.ops {
		if !st.op.Verb.onSchedule() || st.op.Verb.onSchedules() || !st.wasSent {
			continue
		}
		name := scheduleName(st.op.Timer)
		// A parked schedule is not paused, and only an active one is deleted.
		held := st.op.Verb == HoldSchedule || st.op.Verb == MakeSchedule && st.op.Recur.PauseOnDead > 0
		if st.op.Verb == FreeSchedule && !st.known || o.Verb == DropSchedules && (held || o.Status != "active" || s.holds()) {
			delete(names, name)
		}
	}
	return names
}

// holds reports whether a filter has paused schedules.
func (s *scheduling) holds() bool {
	return slices.ContainsFunc(s.world.oracle.ops, func(st *opState) bool { return st.op.Verb == HoldSchedules && st.wasSent })
}

// filtered learns the answers to all pages of an operation. names are the schedules that it must have changed, complete: each page was
// answered at its first request.
func (s *scheduling) filtered(o *Op, names map[string]time.Duration, complete bool) {
	now := s.world.since()
	if o.Verb == FreeSchedules && complete {
		s.freeing--
		s.freed = now
	}
	switch {
	case o.Verb == HoldSchedules && !complete: // it may pause them later
		for _, st := range s.world.oracle.ops {
			if st.op.Verb == MakeSchedule {
				s.unsure[scheduleName(st.op.Timer)] = true
			}
		}
	case !complete:
	case o.Verb == HoldSchedules:
		for name, from := range names {
			if !s.freedSince(name, from) {
				s.held = append(s.held, scheduleHold{name, now, never})
			}
		}
	case o.Verb == DropSchedules:
		for name := range names {
			if _, known := s.dropped[name]; !known {
				s.dropped[name] = now
			}
		}
	}
}

// freesSince reports whether a resume by filter may have been applied since a time.
func (s *scheduling) freesSince(from time.Duration) bool { return s.freeing > 0 || s.freed >= from }

// freedSince reports whether a schedule may have been resumed since a time.
func (s *scheduling) freedSince(name string, from time.Duration) bool {
	return s.freesSince(from) || slices.ContainsFunc(s.world.oracle.ops, func(st *opState) bool {
		return st.op.Verb == FreeSchedule && scheduleName(st.op.Timer) == name && st.wasSent && st.at >= from
	})
}
