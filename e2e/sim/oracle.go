package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// oracle checks the requests and answers of clients and receivers and the events of the public topics. Rows, shards and
// claims are checked by the recording and by fence.
type oracle struct {
	world *World

	mu         sync.Mutex
	ops        []*opState // by Op.ID
	violations []Violation
	counts     Report
	// seen has the attempts that receivers saw, told the outcomes on the results topic.
	seen map[attempt]*sighting
	told map[attempt][]store.Outcome
	// uncalled has the attempts that were used without a call, according to results, or to writes in namespaces without results.
	uncalled map[attempt]bool
	// expired has the attempts instead of which an expiry was written, in the same way.
	expired map[attempt]bool
	// denied has the attempts that were answered 401, with that answer.
	denied map[attempt]end
	// offsets has the time from the beginning of a window to executeAt.
	offsets map[windowed]time.Duration
	// followUps has the calls of onDone and onDead URLs.
	followUps followUps
	// flows has the calls of each flow.
	flows map[string]*flowCalls
	// poisoned is the effect of poison timers on processes.
	poisoned map[*life]*poisoned
	last     time.Duration
	pauses   *pauses
}

// opState is one operation as seen by the client and the receiver.
type opState struct {
	op     *Op
	answer answer
	known  bool // there was an answer
	// at is when it was sent; after its answer, when that arrived.
	at time.Duration
	// sent is when it was sent, if wasSent: nothing is sent to an ingest that is down.
	sent    time.Duration
	wasSent bool
	// start is the beginning of the life.
	start time.Time
	// ranAt is the executeAt in the answer to a RunNow.
	ranAt timer.Millis
	// skips is the operation whose timer a Resume has found overdue and never delivered, if that is certain.
	skips *opState
	// ends are the deliveries that ended the timer or failed.
	ends []ended
	// lives are its generations, in the order of their first delivery.
	lives []string
	// again has the lives that were answered with nextExecuteAt.
	again map[string]bool
	nexts []next
	// generation is the generation in the first answer that has one.
	generation string
}

// ended is a delivery of a generation.
type ended struct {
	at         time.Duration
	generation string
}

// next is a nextExecuteAt of a receiver, and when it was sent.
type next struct {
	executeAt, said timer.Millis
	generation      string
	// later: the dispatcher's clock was not trusted, so it reads the answer later, when the clock is trusted.
	later bool
}

// fits reports whether executeAt is a valid result of this nextExecuteAt: a time in the past, by the dispatcher's
// clock, is replaced by one second after the answer.
func (n next) fits(executeAt timer.Millis) bool {
	if executeAt == n.executeAt {
		return true
	}
	if n.later {
		return executeAt > max(n.executeAt, n.said.Add(time.Second-clockBound))
	}
	apart := (executeAt.Sub(n.said) - time.Second).Abs()
	return n.executeAt < n.said.Add(clockBound) && apart <= clockBound
}

// answer is what a client learns about an operation.
type answer struct {
	status     int
	refused    bool // certainly not applied
	unknown    bool // may be applied, now or later
	generation string
	executeAt  timer.Millis
	// quota is the name of the quota that refused it; by is the ingest that answered, nil for commands.
	quota string
	by    *life
}

// inTime reports whether the service promised that earlier deliveries will not follow.
func (a answer) inTime() bool {
	return a.status == http.StatusOK || a.status == http.StatusNoContent
}

// applied reports whether the operation was certainly applied.
func (a answer) applied() bool { return a.inTime() || a.status == http.StatusAccepted }

func newOracle(w *World) *oracle {
	o := &oracle{
		world: w, seen: map[attempt]*sighting{}, told: map[attempt][]store.Outcome{}, uncalled: map[attempt]bool{},
		poisoned: map[*life]*poisoned{}, expired: map[attempt]bool{}, denied: map[attempt]end{}, offsets: map[windowed]time.Duration{}, followUps: followUps{},
		pauses: newPauses(),
		flows:  map[string]*flowCalls{},
	}
	for i := range w.plan.Ops {
		op := &w.plan.Ops[i]
		o.ops = append(o.ops, &opState{op: op, start: w.start, again: map[string]bool{}})
	}
	return o
}

func (o *oracle) violate(rule, format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken(rule, format, args...)
}

// broken is violate for callers that hold the lock.
func (o *oracle) broken(rule, format string, args ...any) {
	v := Violation{Rule: rule, Text: fmt.Sprintf("%v: ", o.world.since()) + fmt.Sprintf(format, args...)}
	o.violations = append(o.violations, v)
	o.world.note("VIOLATION %s: %s", v.Rule, v.Text)
}

// find returns the state of an operation; shrunk plans have gaps in their IDs.
func (o *oracle) find(id int) *opState {
	for _, s := range o.ops {
		if s.op.ID == id {
			return s
		}
	}
	return nil
}

func (o *oracle) sent(op *Op) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts.Operations++
	s := o.find(op.ID)
	if op.Verb == Resume {
		o.expects(s)
	}
	s.at, s.sent, s.wasSent = o.world.since(), o.world.since(), true
	if op.Verb == Pause {
		o.pauses.sent[timerID(op.Timer)] = append(o.pauses.sent[timerID(op.Timer)], s.sent)
	}
}

func (o *oracle) answered(op *Op, a answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.find(op.ID)
	if op.Verb.holds() { // it makes no generation
		a.generation, a.executeAt = "", 0
	}
	if a.inTime() && op.Verb != Create && op.Verb != Resume {
		o.checkBefore(s, a.generation)
	}
	s.answer, s.known, s.at = a, true, o.world.since()
	o.checkNeedless(s)
	if op.Removed {
		o.checkAccepted(s)
	}
	if op.Limited {
		o.checkQuotas(s)
	}
	o.learn(s, a.generation)
	o.checkRequested(s, a.executeAt)
	if a.applied() && op.Verb == RunNow {
		o.counts.Runs++
	}
	if a.applied() {
		o.counts.Applied++
	}
	if a.applied() && op.Verb == Pause {
		o.counts.Pauses++
	}
}

// learn records the generation that the operation created, according to an answer.
func (o *oracle) learn(s *opState, generation string) {
	switch {
	case generation == "" || s.op.Verb.holds():
	case s.generation == "":
		s.generation = generation
	case s.generation != generation:
		o.broken("twice", "op %d was applied as generation %s and as %s", s.op.ID, s.generation, generation)
	}
}

// delivered processes one delivery and returns the receiver's answer.
func (o *oracle) delivered(d *delivered) Step {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = o.world.since()
	o.counts.Deliveries++
	id, err := d.operation()
	s := o.find(id)
	if err != nil || s == nil || s.op.Verb != Create && s.op.Verb != Update || timerID(s.op.Timer) != d.TimerID || d.Namespace != s.op.space() {
		o.broken("payload", "delivery %s of %s/%s carries %s, %q: %v", d.webhook, d.Namespace, d.TimerID, d.Payload, d.body, err)
		return Step{Answer: AnswerDone}
	}
	d.op = id
	o.runsAlone(d)
	o.checkTime(d)
	o.checkPrompt(s, d)
	o.checkFair(s, d)
	if o.seen[d.attempt()] == nil {
		o.checkCut(s, d)
		o.checkClocks(s, d)
	}
	o.checkContent(s, d)
	o.checkExpired(s, d)
	o.checkPaused(s, d)
	o.checkSkipped(s)
	o.checkSuperseded(s, d)
	o.checkApplied(s, d)
	o.checkRemoved(s)
	seen := o.see(s, o.checkLife(s, d), d)
	if seen.count > 1 {
		o.counts.Duplicates++
	}
	step := seen.step
	if !step.Answer.Again() {
		s.ends = append(s.ends, ended{o.world.since(), d.Generation})
	} else {
		s.again[d.Generation] = true
		s.ends = nil // the next life follows
		said := timer.SystemClock().Add(step.After)
		s.nexts = append(s.nexts, next{executeAt: said.Add(step.Next), said: said, generation: d.Generation})
	}
	return step
}

// answers records that a receiver has answered. cut: the dispatcher has cancelled the call.
func (o *oracle) answers(d *delivered, cut bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.seen[d.attempt()]
	if seen == nil {
		return // its payload is unknown
	}
	if !d.by.clock.Trusted() {
		for i := range seen.op.nexts {
			n := &seen.op.nexts[i]
			n.later = n.later || n.generation == d.Generation
		}
	}
	e := end{at: d.by.now(), cut: cut, later: !d.by.clock.Trusted(), limit: timer.Never}
	if limit := seen.op.op.Limit; limit > 0 {
		e.limit = d.ExecuteAt.Add(limit)
	}
	seen.ends = append(seen.ends, e)
}

func (s *opState) step(life, attempt int) Step {
	if life < len(s.op.Script) && attempt <= len(s.op.Script[life]) {
		return s.unread(s.op.Script[life][attempt-1])
	}
	return Step{Answer: AnswerDone}
}

// checkApplied checks the promise of an error: nothing has changed.
func (o *oracle) checkApplied(s *opState, d *delivered) {
	if !s.known || s.answer.unknown {
		return
	}
	if !s.answer.applied() {
		o.broken("refused", "op %d was delivered although it had been answered %d", s.op.ID, s.answer.status)
	}
}

// checkSuperseded checks the promise of an answer in time: the old delivery never follows.
func (o *oracle) checkSuperseded(s *opState, d *delivered) {
	for _, later := range o.ops {
		if later.op.Timer != s.op.Timer || later.op.ID <= s.op.ID || !later.known || !later.answer.inTime() || later.op.Verb.holds() {
			continue
		}
		if later.op.Verb == RunNow && (d.ExecuteAt != o.firstOf(s) || d.Generation == later.generation) {
			continue // the generation that it made, or a later one
		}
		if s.known && !s.answer.unknown && later.at < o.world.since() {
			o.broken("superseded", "op %d was delivered although %s (op %d) was answered in time (%d) at %v",
				s.op.ID, later.op.Verb, later.op.ID, later.answer.status, later.at)
		}
	}
}

// checkBefore checks the other half of that promise: an update or delete in time found a timer that was not yet due, so
// no delivery since it was sent can have ended that timer. (A create may have found nothing, and is then in time.) Nor
// was the timer due when the operation was sent. generation is the one that later made.
func (o *oracle) checkBefore(later *opState, generation string) {
	var before *opState
	for _, s := range o.ops {
		if s.op.Timer != later.op.Timer || s.op.ID >= later.op.ID || s.known && s.answer.refused || s.op.Verb.holds() {
			continue
		}
		if !s.known || s.answer.unknown {
			return // it may be applied between the others
		}
		before = s
	}
	if before == nil || !before.answer.applied() {
		return
	}
	if before.op.Verb == RunNow || later.op.Verb == RunNow && len(before.again) > 0 {
		return // before is due since, or in a generation that later made
	}
	due := o.latestDue(before)
	if len(before.again) == 0 && later.at > due+clockBound/2 {
		o.broken("in time", "%s (op %d, sent at %v) was answered in time, and op %d had been due at %v",
			later.op.Verb, later.op.ID, later.at, before.op.ID, due)
	}
	for _, end := range before.ends {
		if end.at > later.at && (later.op.Verb != RunNow || end.generation != generation) {
			o.broken("superseded", "op %d was delivered at %v, and then %s (op %d, sent at %v) was answered in time",
				before.op.ID, end.at, later.op.Verb, later.op.ID, later.at)
		}
	}
}

// checkLife returns which generation of the operation this is; 0 is the first. A new generation needs a reason.
func (o *oracle) checkLife(s *opState, d *delivered) int {
	if want := timer.UUIDOf(d.Namespace, d.TimerID).String() + "_" + d.Generation; d.webhook != want {
		o.broken("webhook-id", "op %d was delivered as %s, want %s", s.op.ID, d.webhook, want)
	}
	if at := slices.Index(s.lives, d.Generation); at >= 0 {
		return at
	}
	for _, other := range o.ops {
		if other != s && other.op.Timer == s.op.Timer && slices.Contains(other.lives, d.Generation) {
			o.broken("webhook-id", "op %d was delivered as %s, as op %d had been", s.op.ID, d.webhook, other.op.ID)
		}
	}
	asked := slices.ContainsFunc(s.nexts, func(n next) bool { return n.fits(d.ExecuteAt) })
	first, ran := o.isFirst(s, d.ExecuteAt), o.ran(s, d.ExecuteAt)
	switch {
	case len(s.lives) == 0 && !first && !ran:
		o.broken("executeAt", "op %d requested %v and was delivered for %v", s.op.ID, o.world.executeAt(s.op), d.ExecuteAt)
	case len(s.lives) == 0:
	case first && !asked && !ran:
		o.broken("twice", "op %d was applied twice: it was delivered as generation %s for its first time, and now as %s",
			s.op.ID, s.lives[0], d.Generation)
	case len(s.lives) > len(s.again)+len(o.runs(s)):
		o.broken("webhook-id", "op %d was delivered as generations %s and as %s, and no other time was requested",
			s.op.ID, s.lives, d.Generation)
	case !asked && !ran:
		o.broken("executeAt", "op %d was rescheduled by its receiver for %v and was delivered for %v", s.op.ID, s.nexts, d.ExecuteAt)
	}
	s.lives = append(s.lives, d.Generation)
	return len(s.lives) - 1
}

// heard processes a message of a public topic.
func (o *oracle) heard(topic bus.Topic, m *bus.Delivery) {
	e, err := event.Decode(m.Headers, m.Body)
	if err != nil {
		o.violate("wire", "a message on %s cannot be read: %v", topic, err)
		return
	}
	switch e.Type {
	case event.TypeFired:
		var d event.Delivery
		must(json.Unmarshal(e.Data, &d))
		o.world.note("fired event %s attempt %d", e.ID, d.Attempt)
		o.delivered(&delivered{Delivery: d, webhook: e.ID, begun: e.Time, body: d.Payload})
	case event.TypeResult:
		var r event.Result
		must(json.Unmarshal(e.Data, &r))
		a, outcome := attempt{timer: r.TimerID, generation: r.Generation, number: r.Attempt}, store.Outcome(r.Outcome)
		o.world.recording.resulted(&r)
		o.mu.Lock()
		o.checkSelected(&r)
		o.learnUncalled(a, r.Error, outcome == store.OutcomeExpired)
		if outcome == store.OutcomeExpired {
			outcome = store.OutcomeDead
		}
		if !o.tells(a, outcome) {
			o.told[a] = append(o.told[a], outcome)
		}
		o.mu.Unlock()
	case event.TypeDead, event.TypeParked:
		var n event.Notice
		must(json.Unmarshal(e.Data, &n))
		o.world.recording.noticed(&n)
	case event.TypeApplied, event.TypeRefused:
		o.commandAnswered(e.Data)
	default:
		o.violate("wire", "%s has an event of type %s", topic, e.Type)
	}
}

// commandAnswered processes the answer to a topic command. Answers may repeat; the first one counts. A second
// application is a violation.
func (o *oracle) commandAnswered(data json.RawMessage) {
	var a event.Answer
	must(json.Unmarshal(data, &a))
	var id int
	if _, err := fmt.Sscanf(a.CommandID, "command-%d", &id); err != nil {
		o.violate("wire", "an answer to the unknown command %q", a.CommandID)
		return
	}
	got := answer{status: http.StatusAccepted}
	if a.InTime {
		got.status = http.StatusOK
	}
	if a.Error != "" {
		got = answer{status: http.StatusBadRequest}
		if strings.HasSuffix(a.Error, "NOT_FOUND") {
			got.status = http.StatusNotFound
		}
	}
	if a.Timer != nil {
		var t struct {
			Generation string       `json:"generation"`
			ExecuteAt  timer.Millis `json:"executeAt"`
		}
		must(json.Unmarshal(a.Timer, &t))
		got.generation, got.executeAt = t.Generation, t.ExecuteAt
	}
	if a.Earlier {
		// The answer to a replay does not contain whether the store had applied or refused the command, and has the
		// present state.
		got = answer{unknown: true} // without executeAt
	}
	o.mu.Lock()
	s := o.find(id)
	if s.op.Verb.onSchedule() || s.op.Verb.onLocal() {
		if s.op.Verb.onSchedule() {
			o.world.schedules.commandAnswered(s, &a)
		} else {
			o.world.locals.commandAnswered(s, &a)
		}
		o.mu.Unlock()
		return
	}
	known := s.known
	if known {
		o.learn(s, got.generation)
	}
	o.mu.Unlock()
	if !known {
		o.world.note("op %d  command answered %s%s earlier=%v in time=%v", id, a.Error, got.generation, a.Earlier, a.InTime)
		o.answered(s.op, got)
	}
}

// quiet reports whether every command was answered and there was no recent delivery.
func (o *oracle) quiet() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.ops {
		if s.op.Topic && !s.known && !o.mayBeGone(s) {
			return false
		}
	}
	return o.world.since()-o.last > 2*time.Second
}

// mayBeGone reports whether a command was lost with its topic: it was only there until an ingest had committed it.
// Before that, it gets the maximum time that commands take after the end of the faults.
func (o *oracle) mayBeGone(s *opState) bool {
	const applied = 20 * time.Second
	return o.world.since() > o.world.plan.Length+applied &&
		slices.ContainsFunc(o.world.plan.Faults, func(f Fault) bool { return f.Kind == Recreate && s.at <= f.At })
}
