package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// pauses has what the group went through, and which timers a pause or a resume may have changed. It is guarded by oracle.mu.
type pauses struct {
	// sent has when pauses of a timer were sent.
	sent map[string][]time.Duration
	// due has the due times that resumes of timers of the group wrote.
	due []timer.Millis

	// group is the pause of the group. began and ended are the times of its first request and its last answer, resumed that of the
	// first request of its resume; never if there was none. firm: no delivery can have begun before.
	began, ended, resumed time.Duration
	firm                  bool
	// unsure: the answer to one of its pages was lost, so that the page may be written after the resume.
	unsure bool
	// rate and skip are those of the resume, and repeated is set if the answer to one of its pages was lost.
	rate               int
	skip               bool
	repeated, complete bool
	// finished is when the last page was answered.
	finished time.Duration
}

func newPauses() *pauses {
	return &pauses{sent: map[string][]time.Duration{}, began: never, ended: never, resumed: never}
}

// group is the correlation id of the timers of the group.
const group = "group"

// holds reports whether the operation pauses or resumes a timer, and changes neither its payload nor its generation.
func (v Verb) holds() bool { return v == Pause || v == Resume }

// pauseGroup pauses the timers of the group, page by page.
func (w *World) pauseGroup(ctx context.Context, o *Op) {
	p := w.oracle.pauses
	w.oracle.mu.Lock()
	p.began = w.since()
	for _, s := range w.oracle.ops {
		if s.op.Group {
			p.sent[timerID(s.op.Timer)] = append(p.sent[timerID(s.op.Timer)], p.began)
		}
	}
	w.oracle.mu.Unlock()
	late, repeated := 0, false
	ok := w.pages(ctx, o, "timers/pause-matching", groupFields(map[string]any{"note": "maintenance"}), func(page map[string]any, again bool) {
		n, _ := page["late"].(float64)
		late, repeated = late+int(n), repeated || again
	})
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	p.unsure = repeated || !ok
	if ok {
		p.ended, p.firm = w.since(), late == 0 && !repeated
		w.oracle.counts.Pauses++
	}
}

// resumeGroup resumes the timers of the group, until a walk finds none.
func (w *World) resumeGroup(ctx context.Context, o *Op) {
	p := w.oracle.pauses
	w.oracle.mu.Lock()
	p.resumed, p.rate, p.skip = w.since(), o.Rate, o.Skip
	w.oracle.mu.Unlock()
	fields := groupFields(map[string]any{})
	if o.Rate > 0 {
		fields["resumeRate"] = o.Rate
	}
	if o.Skip {
		fields["overdue"] = "skip"
	}
	for range walks {
		matched, repeated := 0, false
		ok := w.pages(ctx, o, "timers/resume-matching", fields, func(page map[string]any, again bool) {
			n, _ := page["matched"].(float64)
			matched, repeated = matched+int(n), repeated || again
			if start, found := page["nextStartAt"]; found {
				fields["startAt"] = start
			}
		})
		w.oracle.mu.Lock()
		p.repeated, p.complete, p.finished = p.repeated || repeated, ok && matched == 0, w.since()
		w.oracle.mu.Unlock()
		if !ok || matched == 0 {
			return
		}
	}
	w.oracle.mu.Lock()
	defer w.oracle.mu.Unlock()
	w.oracle.broken("stuck", "a resume of the group finds paused timers in each of %d walks", walks)
}

// walks is the number of walks after which a resume of the group must have found all paused timers.
const walks = 20

// groupFields adds the filter of the group.
func groupFields(fields map[string]any) map[string]any {
	fields["namespace"], fields["correlationId"] = namespace, group
	return fields
}

// pages sends a request for every page of a filter until it is answered, and reports whether all were. again: an earlier request for the
// page may have been applied.
func (w *World) pages(ctx context.Context, o *Op, path string, fields map[string]any, read func(page map[string]any, again bool)) bool {
	delete(fields, "cursor")
	for {
		fields["limit"] = 4
		body, err := json.Marshal(fields)
		must(err)
		sent := 0
		answer := w.untilOK(ctx, o, path, string(body), func() { sent++ })
		if answer == nil {
			return false
		}
		var page map[string]any
		must(json.Unmarshal(answer, &page))
		read(page, sent > 1)
		next, more := page["nextCursor"]
		if !more {
			return true
		}
		fields["cursor"] = next
	}
}

// hold is a pause of a timer that was certainly applied, and that nothing can have ended.
type hold struct {
	// since is when it was answered. firm: no delivery can have begun before.
	since time.Duration
	firm  bool
}

// held returns the present pause of a timer, nil if it may not be paused.
func (o *oracle) held(number int) *hold {
	if o.inGroup(number) {
		return o.heldInGroup(number)
	}
	var h *hold
	for _, s := range o.ops {
		if s.op.Timer != number || !s.wasSent {
			continue
		}
		sure := s.known && !s.answer.unknown
		switch s.op.Verb { //nolint:exhaustive // the others do not end a pause.
		case Pause:
			switch {
			case !sure || !s.answer.applied():
			case h == nil:
				h = &hold{s.at, s.answer.inTime()}
			default:
				h.firm = h.firm || s.answer.inTime()
			}
		case Create:
			if h != nil && !h.firm {
				h = nil // a callback that was running may have ended the timer
			}
		case Resume, Delete:
			if !sure {
				return nil // it may be applied at any time
			}
			if s.answer.applied() {
				h = nil
			}
		}
	}
	return h
}

func (o *oracle) inGroup(number int) bool {
	return slices.ContainsFunc(o.ops, func(s *opState) bool { return s.op.Timer == number && s.op.Group })
}

// heldInGroup returns the pause of a timer of the group, which must have existed before the pause began.
func (o *oracle) heldInGroup(number int) *hold {
	p := o.pauses
	if p.ended == never || p.resumed != never {
		return nil
	}
	for _, s := range o.ops {
		if s.op.Timer == number && (!s.known || s.answer.unknown || !s.answer.applied() || s.at > p.began) {
			return nil
		}
	}
	return &hold{p.ended, p.firm}
}

// mayHold reports whether timers that the filter of the group selected may be paused at the end.
func (p *pauses) mayHold() bool { return p.began != never && (p.unsure || !p.complete) }

// mayBePaused reports whether a timer may be paused at the end, and whether it must be, unless a callback has ended it.
func (o *oracle) mayBePaused(number int) (may, must bool) {
	if o.inGroup(number) {
		return o.pauses.mayHold(), false
	}
	unsure, paused := false, false
	for _, s := range o.ops {
		if s.op.Timer != number || !s.wasSent || !s.op.Verb.holds() && s.op.Verb != Delete {
			continue
		}
		switch {
		case !s.known || s.answer.unknown:
			unsure = true
		case s.answer.applied():
			paused = s.op.Verb == Pause
		}
	}
	return unsure || paused, paused && !unsure
}

// checkPaused implements I20: no delivery of a paused timer begins after the answer to the pause. Of an answer in time, none can have
// begun before.
func (o *oracle) checkPaused(s *opState, d *delivered) {
	h := o.held(s.op.Timer)
	if h == nil {
		return
	}
	began := o.world.since()
	if d.by == nil { // the event may have waited for the bus
		began = d.begun.Sub(timer.FromTime(o.world.start)) - clockBound
	}
	if h.firm || began > h.since+beginsWithin {
		o.broken("paused", "op %d was delivered, and its timer is paused since %v, without an earlier delivery: %t", s.op.ID, h.since, h.firm)
	}
}

// expects records, when a resume is sent, whether it finds a timer whose time has passed, and that was never delivered.
func (o *oracle) expects(resume *opState) {
	h := o.held(resume.op.Timer)
	if h == nil || !h.firm {
		return
	}
	var content *opState
	for _, s := range o.ops {
		switch {
		case s.op.Timer != resume.op.Timer || s.op.ID >= resume.op.ID || s.op.Verb.holds():
		case !s.known || s.answer.unknown:
			return
		case s.answer.applied():
			content = s
		}
	}
	// An operation that took long plans the timer for the time at which it was applied.
	if content != nil && len(content.lives) == 0 && max(o.latestDue(content), content.at)+clockBound < o.world.since() {
		resume.skips = content
	}
}

// checkSkipped: a timer that a resume skips is not delivered, unless another resume says so later.
func (o *oracle) checkSkipped(s *opState) {
	for _, r := range o.ops {
		if r.skips != s || !r.op.Skip || !r.known || r.answer.unknown || !r.answer.applied() {
			continue
		}
		if !slices.ContainsFunc(o.ops, func(later *opState) bool {
			return later.op.Timer == s.op.Timer && later.op.ID > r.op.ID && later.op.Verb == Resume && later.wasSent
		}) {
			o.broken("skipped", "op %d was delivered although op %d, answered at %v, skips it", s.op.ID, r.op.ID, r.at)
		}
	}
}

// accountPaused checks whether a timer may, and must, be paused at the end, and whether it may have expired.
func (o *oracle) accountPaused(number int, t *timer.Timer, found bool) {
	may, must := o.mayBePaused(number)
	paused := found && t.Status == timer.StatusPaused
	if h := o.held(number); must && h != nil && h.firm && !paused {
		o.broken("paused", "%s is paused since %v, and ended with status %s (found: %t)", timerID(number), h.since, t.Status, found)
	}
	if paused && !may {
		o.broken("stuck", "%s is paused, and no pause of it can be in effect", timerID(number))
	}
	skipped, expires, drawn := false, false, false
	for _, s := range o.ops {
		switch {
		case s.op.Verb == ResumeGroup && o.inGroup(number):
			skipped = skipped || s.op.Skip
		case s.op.Timer != number:
		default:
			drawn = drawn || s.op.Verb.holds() || s.op.Group
			skipped = skipped || s.op.Verb == Resume && s.op.Skip && s.wasSent
			expires = expires || s.op.Expire > 0 || s.op.Limit > 0
		}
	}
	if drawn && !skipped && !expires {
		for a := range o.expired {
			if a.timer == timerID(number) {
				o.broken("skipped", "%s expired, and no resume skips it", timerID(number))
			}
		}
	}
}

// checkRate: resumes of the group gave no more timers a time in a second than the rate allows. If writes are slow, those of different
// shards begin at different times, so that one more of each shard may be due in a second.
func (o *oracle) checkRate() {
	p := o.pauses
	if p.rate == 0 || p.repeated || !p.complete {
		return
	}
	most := p.rate
	if o.world.recording.anyStrike(p.resumed-requestTimeout, p.finished, func(s strike) bool { return s.role == roleIngest }) {
		most += partitions
	}
	slices.SortFunc(p.due, cmp.Compare)
	for i := most; i < len(p.due); i++ {
		if apart := p.due[i].Sub(p.due[i-most]); apart < time.Second-time.Millisecond {
			o.broken("rate", "a resume with a rate of %d makes %d timers due within %v, from %v on", p.rate, most+1, apart, p.due[i-most])
			return
		}
	}
}

// resumed records the due times that a write of an ingest gave timers of the group whose time had passed, except the first of a page.
func (o *oracle) resumed(ops []store.Op, written []store.Written) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range written {
		op, ok := ops[i].(store.Resume)
		if t := &written[i].Timer; ok && written[i].Err == nil && !written[i].Kept && op.Delay > 0 && t.CorrelationID == group && t.DueAt != t.ExecuteAt {
			o.pauses.due = append(o.pauses.due, t.DueAt)
		}
	}
}

// pausedBetween reports whether a pause of a timer was sent before a time and not answered long before another one. Then the outcome of a
// delivery between them may have missed the row.
func (o *oracle) pausedBetween(id string, from, until time.Duration) bool {
	return slices.ContainsFunc(o.pauses.sent[id], func(sent time.Duration) bool { return sent <= until && sent >= from-requestTimeout })
}

// resumesUnsure reports whether the answer to a resume of a timer was lost. Then no hint is sent, because ingest does not know the
// due time, and a sweep or a poll finds the timer.
func (o *oracle) resumesUnsure(number int) bool {
	return o.inGroup(number) && o.pauses.repeated || slices.ContainsFunc(o.ops, func(s *opState) bool {
		return s.op.Timer == number && s.op.Verb == Resume && s.wasSent && (!s.known || s.answer.unknown)
	})
}

// The first number of the timers that are paused, of those of the group, and the client of the group.
const pausedTimers, groupTimers, pauser = 8000, 8500, 8900

// pauses draws, in some lives, timers that are paused and resumed: each by separate requests, or as a group.
func (r *dice) pauses(p *Plan) {
	if p.Seed%kinds == 0 || p.backlog() || !r.chance(25) {
		return
	}
	for i := range 2 + r.IntN(4) {
		p.Ops = append(p.Ops, r.pausedLife(pausedTimers+i, p.Length)...)
	}
	if r.chance(50) {
		r.group(p)
	}
	p.sortOps()
}

// pausedLife draws the operations on a timer that is paused: often shortly before it is due, or while its callback is running.
func (r *dice) pausedLife(number int, length time.Duration) []Op {
	topic, at := r.chance(25), r.between(0, length/2)
	create := Op{
		At: at, Timer: number, Verb: Create, Topic: topic, Node: r.IntN(ingests), Soon: r.between(time.Second, 12*time.Second),
		Event: r.chance(15), OnDone: r.chance(15), OnDead: r.chance(25),
	}
	if !create.Event {
		create.Script = r.script()
	}
	ops, due := []Op{create}, at+create.Soon
	op := func(verb Verb) *Op {
		ops = append(ops, Op{At: min(at, length), Timer: number, Verb: verb, Topic: topic, Node: r.IntN(ingests)})
		return &ops[len(ops)-1]
	}
	for {
		switch {
		case r.chance(50):
			at = max(at, r.between(at, max(due, at+time.Second)))
		case r.chance(60):
			at = max(at, due-r.between(-time.Second, time.Second))
		default:
			at = max(at, due+r.between(0, 8*time.Second))
		}
		op(Pause)
		if r.chance(40) {
			at += r.between(0, 5*time.Second)
			changed := op([]Verb{Create, Update, Update, Pause, Delete}[r.IntN(5)])
			if changed.Verb == Create || changed.Verb == Update {
				changed.Soon, changed.Event = r.between(0, 10*time.Second), create.Event
				if !changed.Event {
					changed.Script = r.script()
				}
				due = at + changed.Soon
			}
		}
		if !r.chance(85) {
			return ops
		}
		at = max(at, due-r.between(0, 8*time.Second))
		if r.chance(60) {
			at = due + r.between(0, 15*time.Second)
		}
		resume := op(Resume)
		resume.Skip = r.chance(40)
		if !r.chance(30) {
			return ops
		}
		due = at
	}
}

// group draws timers that are paused and resumed by a filter. Most have become due by then.
func (r *dice) group(p *Plan) {
	at := r.between(0, p.Length/3)
	pause := at + r.between(time.Second, 6*time.Second)
	for i := range 6 + r.IntN(10) {
		p.Ops = append(p.Ops, Op{
			At: at + r.between(0, time.Second), Timer: groupTimers + i, Verb: Create, Node: r.IntN(ingests), Group: true,
			Soon: r.between(3*time.Second, 12*time.Second), Event: r.chance(15),
		})
	}
	resume := Op{
		At: min(p.Length, pause+r.between(0, 15*time.Second)), Timer: pauser, Verb: ResumeGroup, Node: r.IntN(ingests), Skip: r.chance(25),
	}
	if r.chance(70) {
		resume.Rate = 1 + r.IntN(5)
	}
	p.Ops = append(p.Ops, Op{At: pause, Timer: pauser, Verb: PauseGroup, Node: r.IntN(ingests)}, resume)
}

// pauseAnswered reports whether the answer to a pause or a resume is one that the API has.
func pauseAnswered(o *Op, status int) bool {
	switch status {
	case http.StatusOK, http.StatusNotFound:
		return true
	case http.StatusAccepted, http.StatusConflict: // the timer is parked
		return o.Verb == Pause
	default:
		return false
	}
}

func (o *Op) holdFields(fields map[string]any) {
	switch {
	case o.Verb == Pause:
		fields["note"] = fmt.Sprint("op ", o.ID)
	case o.Verb == Resume && o.Skip:
		fields["overdue"] = "skip"
	}
}
