package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// localNamespace has timers with local times. localTimers is the first number of operations on them.
const (
	localNamespace = "local"
	localTimers    = 30_000
)

// The operations on timers with local times.
const (
	MakeLocal   Verb = "local/create"
	ChangeLocal Verb = "local/update"
	DropLocal   Verb = "local/delete"
	HoldLocal   Verb = "local/pause"
	FreeLocal   Verb = "local/resume"
)

// onLocal reports whether it is an operation on a timer with a local time.
func (v Verb) onLocal() bool { return strings.HasPrefix(string(v), "local/") }

// locals has what was written and delivered of timers with local times. It is guarded by oracle.mu.
type locals struct {
	world *World
	// states has the generations of each timer, in the order of their writes.
	states map[string][]*localState
	ids    []string // in the order of the creates
}

// localState is a generation of a timer with a local time.
type localState struct {
	generation timer.Generation
	executeAt  timer.Millis
	// at is when it was written. by set executeAt at the time set: in a check of local times, if checked.
	at, set time.Duration
	by      *life
	checked bool
	// deleted: the timer was deleted instead.
	deleted   bool
	delivered int
}

func newLocals(w *World) *locals { return &locals{world: w, states: map[string][]*localState{}} }

// last returns the last state of a timer; nil if it was never created.
func (s *locals) last(id string) *localState {
	if all := s.states[id]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// request sends an operation on a timer with a local time.
func (s *locals) request(ctx context.Context, o *Op) {
	w := s.world
	fields := map[string]any{"namespace": localNamespace, "id": timerID(o.Timer)}
	if o.Local.At != 0 {
		fields["executeAtLocal"], fields["timeZone"] = o.Local.text(), place
		for name, policy := range map[string]string{"gap": o.Local.Gap, "repeated": o.Local.Repeated} {
			if policy != "" {
				fields[name] = policy
			}
		}
	}
	if o.Verb == MakeLocal || o.Verb == ChangeLocal {
		fields["payload"] = o.payload()
	}
	if o.Verb == MakeLocal {
		fields["callbackUrl"], fields["callbackTimeout"] = "http://local.test/", "10s"
		fields["retryPolicy"] = map[string]any{
			"maxAttempts": maxAttempts, "initialInterval": initialInterval.String(), "maxInterval": maxInterval.String(),
		}
	}
	if o.Window > 0 {
		fields["window"] = o.Window.String()
	}
	body, err := json.Marshal(fields)
	must(err)
	l := w.nodes[o.Node].serving()
	if l == nil && !o.Topic {
		return
	}
	w.oracle.mu.Lock()
	st := w.oracle.find(o.ID)
	st.at, st.sent, st.wasSent = w.since(), w.since(), true
	w.oracle.counts.effect(o.kind(), 1)
	if o.Verb == HoldLocal {
		w.oracle.pauses.sent[timerID(o.Timer)] = append(w.oracle.pauses.sent[timerID(o.Timer)], w.since())
	}
	w.oracle.mu.Unlock()
	if o.Topic {
		types := map[Verb]string{
			MakeLocal: event.TypeCreate, ChangeLocal: event.TypeUpdate, DropLocal: event.TypeDelete, HoldLocal: event.TypePause, FreeLocal: event.TypeResume,
		}
		w.publishCommand(ctx, o, types[o.Verb], localNamespace, timerID(o.Timer), body)
		return
	}
	call, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	rec := w.post(call, l, "timers/"+strings.TrimPrefix(string(o.Verb), "local/"), string(body))
	w.note("op %d  %s %s answered %d %s", o.ID, o.Verb, timerID(o.Timer), rec.Code, rec.Body)
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	st.known = true
	if l.alive() && rec.Code != http.StatusGatewayTimeout {
		s.answered(o, l, rec.Code, rec.Body.Bytes())
	}
}

// answered checks the answer of an ingest, nil if it is not known.
func (s *locals) answered(o *Op, by *life, status int, body []byte) {
	w := s.world
	resolves := !slices.ContainsFunc(w.plan.Zones, func(z Zones) bool { _, ok := z.instant(&o.Local); return !ok })
	if by != nil {
		_, resolves = w.plan.Zones[by.zones].instant(&o.Local)
	}
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusNotFound:
	case http.StatusConflict:
		if o.Verb != HoldLocal { // parked
			w.oracle.broken("answer", "op %d: status %d: %s", o.ID, status, body)
		}
	case http.StatusBadRequest:
		if o.Local.At == 0 || resolves {
			w.oracle.broken("local", "op %d: status %d: %s", o.ID, status, body)
		}
	case http.StatusNoContent:
	case http.StatusOK, http.StatusAccepted:
		w.oracle.counts.effect(o.kind()+", applied", 1)
		if o.Local.At != 0 && by != nil && !resolves {
			w.oracle.broken("local", "op %d: status %d: %s; the local time has no instant", o.ID, status, body)
		}
	default:
		w.oracle.broken("answer", "op %d: status %d: %s", o.ID, status, body)
	}
}

// commandAnswered processes the answer to a command. Answers may repeat; the first one counts.
func (s *locals) commandAnswered(st *opState, a *event.Answer) {
	if st.known {
		return
	}
	st.known, st.at = true, s.world.since()
	status := http.StatusOK
	switch {
	case a.Earlier:
		return
	case strings.HasSuffix(a.Error, "NOT_FOUND"):
		status = http.StatusNotFound
	case strings.HasSuffix(a.Error, "CONFLICT"):
		status = http.StatusConflict
	case a.Error != "":
		status = http.StatusBadRequest
	}
	s.answered(st.op, nil, status, []byte(a.Error+a.Message))
}

// wrote checks the instants that are written, and learns the generations.
func (s *locals) wrote(by *life, ops []store.Op, written []store.Written) {
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range written {
		w := &written[i]
		if w.Err != nil || w.Kept || w.Timer.Namespace != localNamespace {
			continue
		}
		state := &localState{generation: w.Timer.Generation, executeAt: w.Timer.ExecuteAt, by: by, at: s.world.since(), set: s.world.since()}
		switch op := ops[i].(type) {
		case store.Put:
			s.checkInstant(by, &w.Timer)
		case store.Update:
			state.checked = op.Patch.Payload == nil
			if state.checked {
				s.checkMove(w)
			}
			if op.Patch.ExecuteAt != nil {
				s.checkInstant(by, &w.Timer)
				break
			}
			if before := s.last(w.Timer.ID); before != nil {
				state.by, state.set, state.checked = before.by, before.set, before.checked
			}
			if w.Timer.ExecuteAt != w.Prior.ExecuteAt || w.Timer.Local == nil {
				o.broken("local", "%s had %s, and an update without a time changes that to %s", w.Timer.ID, w.Prior.ExecuteAt, w.Timer.ExecuteAt)
			}
		case store.Delete:
			state.deleted = true
		default: // a pause or a resume
			if w.Timer.Local == nil {
				o.broken("local", "%s loses its local time by %T", w.Timer.ID, op)
			}
			continue
		}
		if s.states[w.Timer.ID] == nil {
			s.ids = append(s.ids, w.Timer.ID)
		}
		s.states[w.Timer.ID] = append(s.states[w.Timer.ID], state)
	}
}

// checkInstant: a timer has the instant of its local time in the database of the process that writes it.
func (s *locals) checkInstant(by *life, t *timer.Timer) {
	if at, ok := s.instant(by.zones, t); t.Local == nil || !ok || at != t.ExecuteAt {
		s.world.oracle.broken("local", "%s with the local time %+v was written for %s by a process with %+v, want %s", t.ID, t.Local, t.ExecuteAt,
			s.world.plan.Zones[by.zones], at)
	}
}

// instant returns the instant of a timer in a database.
func (s *locals) instant(zones int, t *timer.Timer) (timer.Millis, bool) {
	if t.Local == nil {
		return 0, false
	}
	clock, err := time.Parse("2006-01-02T15:04:05", t.Local.At)
	must(err)
	l := Local{At: clock.Sub(lifeBegins), Gap: string(t.Local.Gap), Repeated: string(t.Local.Repeated)}
	at, ok := s.world.plan.Zones[zones].instant(&l)
	return at.Add(timer.Spread(t.UUID, t.Window)), ok
}

// checkMove: a check moves only timers that wait for their first attempt, and changes nothing else.
func (s *locals) checkMove(w *store.Written) {
	o := s.world.oracle
	o.counts.effect("local times moved by a check", 1)
	if w.Prior.Status == timer.StatusPaused {
		o.counts.effect("local times of paused timers moved by a check", 1)
	}
	if w.Prior.Local == nil || w.Timer.Local == nil || *w.Prior.Local != *w.Timer.Local || w.Prior.Attempts > 0 || w.Prior.ExecuteAt == w.Timer.ExecuteAt ||
		w.Timer.Status != w.Prior.Status {
		o.broken("local", "a check changes %s from %+v to %+v", w.Timer.ID, w.Prior, w.Timer)
	}
}

// recorded checks all timers when a process has recorded the version of its database.
func (s *locals) recorded(ctx context.Context, by *life, ns *store.Namespace) {
	if ns.Name != localNamespace || ns.Settings.ZoneVersion != zoneVersion(by.zones) {
		return
	}
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts.effect("checks of local times", 1)
	s.checkWaiting(ctx, by, func(state *localState) bool { return state.by == by || state.set < by.begun })
}

// checkWaiting checks that the timers which wait for their first attempt have their instants in the database of a process, if their last
// write meets a condition.
func (s *locals) checkWaiting(ctx context.Context, by *life, meets func(*localState) bool) {
	o, handle := s.world.oracle, s.world.db.Open()
	for _, id := range s.ids {
		state := s.last(id)
		if state.deleted || !meets(state) {
			continue
		}
		ref := store.Ref{Shard: s.world.blocks[localNamespace].Place(id), UUID: timer.UUIDOf(localNamespace, id)}
		t, err := handle.Get(context.WithoutCancel(ctx), timer.SystemClock(), ref)
		waits := t.Status == timer.StatusScheduled || t.Status == timer.StatusPaused
		if err != nil || !waits || t.Attempts > 0 || t.ExecuteAt <= timer.SystemClock().Add(clockBound) {
			continue
		}
		switch at, ok := s.instant(by.zones, &t); {
		case !ok:
			o.counts.effect("local times kept because they have no instant", 1)
		case at != t.ExecuteAt:
			o.broken("local", "%s with the local time %+v is due at %s, set at %v, and a process since %v has a database with %s", id, *t.Local,
				t.ExecuteAt, state.set, by.begun, at)
		}
	}
}

// await waits after the end of the faults until all checks must have ended. Then the timers must have the instants of the database of all
// ingests. A timer that a client has changed on a process with another database keeps the instant of that one.
func (s *locals) await(ctx context.Context) {
	if !s.world.plan.has(func(o *Op) bool { return o.Verb.onLocal() }) {
		return
	}
	sleep(ctx, checkedWithin)
	lives := []*life{s.world.nodes[0].current(), s.world.nodes[1].current()}
	if lives[0].zones != lives[1].zones {
		return
	}
	last := slices.MaxFunc(lives, func(a, b *life) int { return int(a.begun - b.begun) })
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts.effect("lives that end with one database", 1)
	s.checkWaiting(ctx, last, func(state *localState) bool {
		return state.set < last.begun && (state.checked || state.by.zones == last.zones)
	})
	ns, err := s.world.db.Open().GetNamespace(ctx, localNamespace)
	if err != nil || ns.Settings.ZoneVersion != zoneVersion(last.zones) {
		o.broken("local", "the namespace has the version %q at the end, want %s: %v", ns.Settings.ZoneVersion, zoneVersion(last.zones), err)
	}
}

// checkedWithin is the time between the two checks of a namespace, the longest pause between two tries, and the time of a check.
const checkedWithin = 95 * time.Second

// call receives one delivery of a timer with a local time.
func (s *locals) call(ctx context.Context, by *life, request *dispatcher.Request) dispatcher.Answer {
	w, t := s.world, request.Timer
	d := delivered{Delivery: event.DeliveryOf(t), webhook: t.WebhookID(), by: by, local: by.now(), begun: request.At, op: -1}
	w.note("%s  delivers %s attempt %d of generation %s, due %s", by.node, d.TimerID, d.Attempt, d.Generation, d.ExecuteAt)
	step := s.received(&d)
	sleep(ctx, step.After)
	if err := ctx.Err(); err != nil {
		return dispatcher.Answer{Err: err}
	}
	return step.answer()
}

// received: a timer fires at the instant of its last generation. If its instant passes while it is moved, it may also fire at the earlier one.
func (s *locals) received(d *delivered) Step {
	o := s.world.oracle
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = s.world.since()
	o.checkTime(d)
	s.world.recording.delivered(d.attempt(), d, false)
	all := s.states[d.TimerID]
	at := slices.IndexFunc(all, func(state *localState) bool { return !state.deleted && state.generation.String() == d.Generation })
	if at < 0 || all[at].executeAt != d.ExecuteAt {
		o.broken("local", "%s was delivered as generation %s for %s, and was not written so", d.TimerID, d.Generation, d.ExecuteAt)
		return Step{Answer: AnswerDone}
	}
	state := all[at]
	o.counts.effect("local times delivered", 1)
	if at+1 < len(all) {
		next := all[at+1]
		if due := state.executeAt.Sub(timer.FromTime(s.world.start)); next.at+clockBound < due {
			o.broken("local", "%s was delivered for %s, and was moved at %v to %s", d.TimerID, d.ExecuteAt, next.at, next.executeAt)
		}
		if next.checked {
			o.counts.effect("local times delivered at the earlier instant after a move", 1)
		}
	}
	state.delivered++
	id, err := opOf(d.Payload)
	must(err)
	if st := o.find(id); st != nil && len(st.op.Script) > 0 && int(d.Attempt) <= len(st.op.Script[0]) {
		return st.op.Script[0][d.Attempt-1]
	}
	return Step{Answer: AnswerDone}
}

// check: at the end of a life, each timer was delivered in its last generation, unless it was deleted or is paused.
func (s *locals) check(ctx context.Context, handle store.Store) {
	for _, id := range s.ids {
		state := s.last(id)
		ref := store.Ref{Shard: s.world.blocks[localNamespace].Place(id), UUID: timer.UUIDOf(localNamespace, id)}
		t, err := handle.Get(ctx, timer.SystemClock(), ref)
		if state.deleted || err == nil && t.Status == timer.StatusPaused {
			continue
		}
		if state.delivered == 0 {
			s.world.oracle.broken("local", "%s was written for %s at %v, and never delivered: status %q, %v", id, state.executeAt, state.at, t.Status, err)
		}
	}
}

// locals adds a namespace with local times and changes of the time zone database to some lives, like schedules.
func (r *dice) locals(p *Plan) {
	if p.backlog() || !r.chance(20) || p.has(func(o *Op) bool { return o.Verb == MakeNamespace }) {
		return
	}
	base := time.Duration(0)
	if r.chance(30) {
		base = time.Duration(r.IntN(25)-12) * time.Hour
	}
	for range 2 + r.IntN(2) {
		z := Zones{Shift: base + time.Duration(r.IntN(61)-30)*time.Second, ChangeAt: r.between(0, p.Length+2*time.Minute).Truncate(time.Second)}
		if len(p.Zones) > 0 && r.chance(60) {
			z = p.Zones[0]
			z.Shift += time.Duration(r.IntN(41)-20) * time.Second
			z.Missing = r.chance(10)
		}
		if r.chance(70) {
			z.Change = time.Duration(r.IntN(41)-20) * time.Second
		}
		p.Zones = append(p.Zones, z)
	}
	for n := range 3 + r.IntN(6) {
		p.Ops = append(p.Ops, r.localLife(n, p)...)
	}
	p.sortOps()
	harmless := p.Seed%kinds == 0 || p.Seed%kinds == 4 || p.Seed%kinds == slowCommits
	at := r.between(0, p.Length/2)
	for range 1 + r.IntN(5) {
		f := Fault{Kind: NewZones, Node: r.IntN(ingests), At: at, Nth: r.IntN(len(p.Zones))}
		if !harmless {
			f.Count = r.IntN(2)
		}
		p.Faults = append(p.Faults, f)
		at = min(at+r.between(0, p.Length/4), p.Length-time.Millisecond)
	}
	if r.chance(60) { // the upgrade of both is completed
		zones := r.IntN(len(p.Zones))
		for _, node := range r.Perm(ingests) {
			p.Faults = append(p.Faults, Fault{Kind: NewZones, Node: node, At: at, Nth: zones})
			at = min(at+r.between(0, 5*time.Second), p.Length-time.Millisecond)
		}
	}
	if !harmless && r.chance(60) {
		r.ingestFaults(p, []string{"List", "UpdateNamespace", "UpdateNamespace", "Write"}, 6)
	}
}

// localLife draws the operations on one timer with a local time.
func (r *dice) localLife(n int, p *Plan) []Op {
	at, topic, window := r.between(0, p.Length*3/4), r.chance(25), time.Duration(0)
	if r.chance(20) {
		window = r.between(time.Second, 5*time.Second)
	}
	next := func(verb Verb) *Op {
		return &Op{At: min(at, p.Length), Timer: localTimers + n, Verb: verb, Node: r.IntN(ingests), Topic: topic}
	}
	local := func(o *Op) {
		z := p.Zones[r.IntN(len(p.Zones))]
		due := at + r.between(-time.Second, 40*time.Second)
		switch {
		case r.chance(25): // a time near a change of the clocks
			due = z.ChangeAt + r.between(-25*time.Second, 25*time.Second)
		case r.chance(40):
			due = p.Length + checkedWithin + r.between(0, 2*time.Minute)
		}
		o.Local = Local{At: due + z.Shift, Gap: []string{"", "next", "skip"}[r.IntN(3)], Repeated: []string{"", "first", "second"}[r.IntN(3)]}
		o.Local.At += max(0, 1-o.Local.At.Abs()) // 0 means none
		o.Window = window
		for r.chance(25) && len(o.Script) == 0 {
			o.Script = [][]Step{{r.step(AnswerError)}}
		}
	}
	first := next(MakeLocal)
	local(first)
	ops := []Op{*first}
	for r.chance(45) && len(ops) < 5 {
		at += r.between(0, 15*time.Second)
		o := next([]Verb{ChangeLocal, ChangeLocal, HoldLocal, HoldLocal, FreeLocal, FreeLocal, DropLocal}[r.IntN(7)])
		if o.Verb == ChangeLocal && r.chance(60) {
			local(o)
		}
		ops = append(ops, *o)
	}
	return ops
}
