package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Row is a live row: the timer, and columns that only the engines use.
type Row struct {
	Timer timer.Timer
	// MarkedAt is the time of the outbox entry of a parked timer; 0 if it has none.
	MarkedAt timer.Millis
	// Leased is set if the last write was a lease.
	Leased bool
}

// PlannedAt returns the value of the column planned_at: 0, stored as NULL, unless due_at was moved.
func (r *Row) PlannedAt() timer.Millis {
	if r.Timer.PlannedAt == r.Timer.DueAt {
		return 0
	}
	return r.Timer.PlannedAt
}

// Slot is one row during a write. The engine reads the row into Was and Is, operations change Is in memory, and the
// engine writes the difference. In between, no other transaction may change the row.
type Slot struct {
	Ref store.Ref
	// Was is the row as it was read, Is the row after the operations; nil if there is none.
	Was, Is *Row
	// SamePayload is set if the payload has not changed. The engine then does not write it, so it need not be read.
	SamePayload bool
	// Ended is the timer's last final outcome. It must be set, if there is one, before a Put that does not replace and
	// before a Rearm, if there is no row or an earlier operation may delete it.
	Ended *timer.Timer

	attempts map[attemptKey]*Attempt
}

// Attempt is one row of history: an attempt, and the timer at that time.
type Attempt struct {
	store.HistoryEntry

	// Timer has the payload if the timer is dead. If the timer is done and its payload is kept, an absent payload is empty and
	// not nil (KeptPayload).
	Timer     timer.Timer
	UpdatedAt timer.Millis
	ExpiresAt timer.Millis
	// MarkedAt is the time of the outbox entry of a dead timer; 0 if it has none.
	MarkedAt timer.Millis
	// Recent is set if FinishedAt may be before that of the timer's previous final outcome.
	Recent bool
}

// End returns the timer after an attempt that has ended it.
func (a *Attempt) End() timer.Timer {
	t := a.Timer
	t.Status, t.Pause = timer.StatusDone, nil
	if a.Outcome == store.OutcomeDead {
		t.Status = timer.StatusDead
	}
	t.Attempts, t.Starts = a.Attempt, 0
	t.ExecutedAt, t.LastStatus, t.LastError = a.StartedAt, a.StatusCode, a.Error
	t.UpdatedAt, t.PlannedAt = a.UpdatedAt, t.DueAt
	return t
}

// attemptKey is the unique key in a timer's history.
type attemptKey struct {
	generation timer.Generation
	attempt    timer.Attempt
}

// Read sets the row that the engine has read.
func (s *Slot) Read(r Row) { s.Was, s.Is, s.SamePayload = &r, &r, true }

// Changed reports whether the operations changed the row.
func (s *Slot) Changed() bool { return s.Was != s.Is }

// Apply applies an operation of store.Timers.Write.
func (s *Slot) Apply(now timer.Millis, op store.Op) store.Written {
	switch op := op.(type) {
	case store.Put:
		return s.put(now, &op)
	case store.Update:
		return s.update(now, &op)
	case store.Delete:
		return s.delete(&op)
	case store.Pause:
		return s.pause(now, &op)
	case store.Resume:
		return s.resume(now, &op)
	default:
		return store.Written{Err: fmt.Errorf("operation %T: %w", op, store.ErrInvalid)}
	}
}

func (s *Slot) put(now timer.Millis, op *store.Put) store.Written {
	if op.OnConflict != store.Replace {
		if present := s.present(); present != nil {
			w := store.Written{Timer: clone(present)}
			if op.OnConflict == store.Keep {
				w.Kept = true
			} else {
				w.Err = fmt.Errorf("put timer %s: %w", op.Ref.UUID, store.ErrExists)
			}
			return w
		}
	}
	t := NewTimer(now, op)
	w := store.Written{Prior: s.prior()}
	if s.Is != nil {
		t.CreatedAt = s.Is.Timer.CreatedAt
		store.KeepPause(&t, &s.Is.Timer)
	}
	s.set(Row{Timer: t}, false)
	w.Timer = clone(&t)
	return w
}

// present returns the timer that conflicts with a Put: the live one, or the finished one in history.
func (s *Slot) present() *timer.Timer {
	if s.Is != nil {
		return &s.Is.Timer
	}
	return s.Ended
}

// prior returns the live state before an operation, or nil.
func (s *Slot) prior() *timer.Timer {
	if s.Is == nil {
		return nil
	}
	t := s.Is.Timer
	t.Payload = nil // the contract allows engines to omit it
	return &t
}

func (s *Slot) update(now timer.Millis, op *store.Update) store.Written {
	if refused := s.refusal("update", op.IfGeneration); refused != nil {
		return *refused
	}
	t := s.Is.Timer
	if err := op.Refuses(&t); err != nil {
		return store.Written{Timer: clone(&t), Err: err}
	}
	spec, err := op.Patch.Apply(t.Spec)
	if err != nil {
		return store.Written{Err: fmt.Errorf("update timer %s: %w: %w", op.Ref.UUID, store.ErrInvalid, err)}
	}
	t.Spec = spec
	t.Payload = slices.Clone(t.Payload)
	t.DueAt, t.PlannedAt = op.Times(now, &s.Is.Timer, s.Is.Leased, t.ExecuteAt)
	Revive(&t, now, op.Revision)
	w := store.Written{Prior: s.prior(), Timer: clone(&t)}
	s.set(Row{Timer: t}, op.Patch.Payload == nil)
	return w
}

// pause returns Kept if the timer is paused already.
func (s *Slot) pause(now timer.Millis, op *store.Pause) store.Written {
	return s.hold("pause", op.IfGeneration, func(t *timer.Timer) (bool, error) { return op.Apply(now, t) })
}

func (s *Slot) resume(now timer.Millis, op *store.Resume) store.Written {
	return s.hold("resume", op.IfGeneration, func(t *timer.Timer) (bool, error) { return op.Apply(now, t), nil })
}

// hold pauses or resumes the timer by a function that reports whether it changed the timer.
func (s *Slot) hold(verb string, want timer.Generation, change func(*timer.Timer) (bool, error)) store.Written {
	if refused := s.refusal(verb, want); refused != nil {
		return *refused
	}
	t := clone(&s.Is.Timer)
	changed, err := change(&t)
	w := store.Written{Timer: clone(&t), Kept: !changed && err == nil, Err: err}
	if changed {
		w.Prior = s.prior()
		s.set(Row{Timer: t}, true)
	}
	return w
}

func (s *Slot) delete(op *store.Delete) store.Written {
	if refused := s.refusal("delete", op.IfGeneration); refused != nil {
		return *refused
	}
	w := store.Written{Prior: s.prior(), Timer: clone(&s.Is.Timer)}
	s.remove()
	return w
}

// Rearm applies store.Outcomes.Rearm.
func (s *Slot) Rearm(now timer.Millis, item *store.Rearm) store.Written {
	var t timer.Timer
	switch {
	case s.Is == nil && (s.Ended == nil || s.Ended.Status != timer.StatusDead && s.Ended.Payload == nil):
		return store.Written{Err: fmt.Errorf("rearm timer %s: %w", item.Ref.UUID, store.ErrNotFound)}
	case s.Is == nil:
		t = clone(s.Ended)
		if len(t.Payload) == 0 {
			t.Payload = nil
		}
	case s.Is.Timer.Status != timer.StatusParked:
		t = clone(&s.Is.Timer)
		return store.Written{Timer: t, Err: fmt.Errorf("rearm timer %s: it is %s: %w", item.Ref.UUID, t.Status, store.ErrConflict)}
	default:
		t = clone(&s.Is.Timer)
	}
	if refused := conflict("rearm", &t, item.IfGeneration); refused != nil {
		return *refused
	}
	t.ExecuteAt, t.Local = item.ExecuteAt, nil
	t.DueAt = DueAt(now, item.ExecuteAt, now)
	t.PlannedAt = t.DueAt
	Revive(&t, now, item.Revision)
	w := store.Written{Prior: s.prior(), Timer: clone(&t)}
	s.set(Row{Timer: t}, true)
	return w
}

// Finish applies an outcome. Of several outcomes of one attempt, history keeps the first final one.
func (s *Slot) Finish(now timer.Millis, f *store.Finish) error {
	if err := s.CheckGuard(f); err != nil {
		return err
	}
	if OutcomeOf(f.Kind) != "" {
		s.record(now, f)
	}
	if ends(f.Kind) {
		s.remove()
		return nil
	}
	next := *s.Is
	next.Leased = f.Kind == store.FinishLeased
	t := &next.Timer
	t.UpdatedAt = now
	t.Revision = f.Next
	switch f.Kind {
	case store.FinishRescheduled:
		setResult(&next, &f.Record)
		Revive(t, now, f.Next)
		t.ExecuteAt, t.Local = f.NextAt, nil
		t.DueAt = DueAt(now, f.NextAt, f.NextAt)
		t.PlannedAt = t.DueAt
		t.ScheduleState = f.ScheduleState
	case store.FinishRetry:
		setResult(&next, &f.Record)
		if t.Status != timer.StatusPaused {
			t.Status = timer.StatusRetrying
		}
		t.DueAt = DueAt(now, t.ExecuteAt, f.NextAt)
		t.PlannedAt, t.ResumedFrom, t.FlowTurn = t.DueAt, 0, 0
	case store.FinishLeased, store.FinishPostponed:
		t.DueAt = DueAt(now, t.ExecuteAt, f.NextAt)
		switch {
		case next.Leased && f.CountStart:
			t.Starts++
		case !next.Leased && f.ReturnStart:
			t.Starts = max(0, t.Starts-1)
		}
		if !next.Leased && f.FlowTurn != 0 {
			t.FlowTurn = f.FlowTurn
		}
	case store.FinishParked:
		t.Status = timer.StatusParked
		t.LastError = store.CutError(f.Record.Error)
		next.MarkedAt = now
	default:
		return fmt.Errorf("finish timer %s: kind %d: %w", f.Ref.UUID, f.Kind, store.ErrInvalid)
	}
	s.set(next, true)
	return nil
}

// CheckGuard returns the answer to an outcome whose guard does not match the row, or nil if it matches.
func (s *Slot) CheckGuard(f *store.Finish) error {
	switch {
	case s.Is == nil:
		return fmt.Errorf("finish timer %s: %w", f.Ref.UUID, store.ErrNotFound)
	case !f.If.Holds(&s.Is.Timer):
		return fmt.Errorf("finish timer %s: the row is at revision %s of generation %s: %w",
			f.Ref.UUID, s.Is.Timer.Revision, s.Is.Timer.Generation, store.ErrConflict)
	case f.Kind == store.FinishParked && s.Is.Timer.Status == timer.StatusPaused:
		return fmt.Errorf("finish timer %s: it is paused: %w", f.Ref.UUID, store.ErrConflict)
	default:
		return nil
	}
}

// Check answers a check, and counts a start if the row has the check's revision. That changes neither the revision nor a
// time.
func (s *Slot) Check(check *store.Check) store.Checked {
	if s.Is == nil {
		return store.Checked{}
	}
	answer := store.Checked{Found: true, Timer: clone(&s.Is.Timer)}
	if check.CountStart && answer.Matches(check.Revision) {
		answer.Counted = true
		next := *s.Is
		next.Timer.Starts++
		s.set(next, true)
	}
	return answer
}

// setResult writes the result of an attempt into the row. It resets the starts, because the timer did not kill its
// dispatcher.
func setResult(row *Row, r *store.Record) {
	t := &row.Timer
	t.Attempts = r.Attempt
	t.Starts = 0
	t.ExecutedAt = r.StartedAt
	t.LastStatus = r.StatusCode
	t.LastError = store.CutError(r.Error)
	row.MarkedAt = 0
}

// OutcomeOf returns the outcome of a kind in history, or "" if the kind writes no history.
func OutcomeOf(kind store.FinishKind) store.Outcome {
	switch kind {
	case store.FinishDone:
		return store.OutcomeDone
	case store.FinishDead:
		return store.OutcomeDead
	case store.FinishRescheduled:
		return store.OutcomeRescheduled
	case store.FinishRetry:
		return store.OutcomeFailed
	default:
		return ""
	}
}

// ends reports whether an outcome of the kind removes the row.
func ends(kind store.FinishKind) bool { return kind == store.FinishDone || kind == store.FinishDead }

// ExpiresAt returns when the history row of an attempt expires.
func ExpiresAt(r *store.Record) timer.Millis { return r.FinishedAt.Add(r.KeepFor) }

// AttemptOf returns the part of an attempt that does not depend on the row: all except Generation, Timer and Recent.
func AttemptOf(now timer.Millis, f *store.Finish) *Attempt {
	a := &Attempt{
		HistoryEntry: store.HistoryEntry{
			Ref: f.Ref, Attempt: f.Record.Attempt, Outcome: OutcomeOf(f.Kind),
			StartedAt: f.Record.StartedAt, FinishedAt: f.Record.FinishedAt,
			StatusCode: f.Record.StatusCode, Error: store.CutError(f.Record.Error),
		},
		UpdatedAt: now, ExpiresAt: ExpiresAt(&f.Record),
	}
	switch f.Kind { //nolint:exhaustive // for other kinds both are zero
	case store.FinishRescheduled, store.FinishRetry:
		a.NextAt = f.NextAt
	case store.FinishDead:
		a.MarkedAt = now
	}
	return a
}

// KeptPayload returns the payload that history keeps after an outcome. In history, nil is a payload that is not kept. So an
// absent payload of a done timer that is kept is empty.
func KeptPayload(f *store.Finish, payload []byte) []byte {
	switch {
	case f.Kind == store.FinishDead:
		return payload
	case KeepsPayload(f) && payload == nil:
		return []byte{}
	case KeepsPayload(f):
		return payload
	default:
		return nil
	}
}

// KeepsPayload reports whether an outcome is that of a done timer whose payload is kept.
func KeepsPayload(f *store.Finish) bool { return f.Kind == store.FinishDone && f.Record.KeepPayload }

func (s *Slot) record(now timer.Millis, f *store.Finish) {
	t := s.Is.Timer
	key := attemptKey{t.Generation, f.Record.Attempt}
	if old := s.attempts[key]; old != nil && old.Outcome.Final() {
		return
	}
	a := AttemptOf(now, f)
	a.Generation, a.Timer = t.Generation, t
	a.Recent = ends(f.Kind) && t.UpdatedAt > f.Record.FinishedAt.Add(-store.EndMargin)
	a.Timer.Payload = KeptPayload(f, t.Payload)
	if s.attempts == nil {
		s.attempts = map[attemptKey]*Attempt{}
	}
	s.attempts[key] = a
}

// Attempts returns the attempts that the operations added to history, in order.
func (s *Slot) Attempts() []*Attempt {
	return slices.SortedFunc(maps.Values(s.attempts), func(a, b *Attempt) int {
		return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Attempt, b.Attempt))
	})
}

func (s *Slot) set(r Row, samePayload bool) {
	s.Is = &r
	s.SamePayload = s.SamePayload && samePayload
}

func (s *Slot) remove() { s.Is, s.SamePayload = nil, false }

// refusal returns the answer to an operation whose row does not exist or has a different generation than want. It
// returns nil if the operation may proceed.
func (s *Slot) refusal(verb string, want timer.Generation) *store.Written {
	if s.Is == nil {
		return &store.Written{Err: fmt.Errorf("%s timer %s: %w", verb, s.Ref.UUID, store.ErrNotFound)}
	}
	return conflict(verb, &s.Is.Timer, want)
}

// conflict returns the answer if a timer has a different generation than want, or nil.
func conflict(verb string, t *timer.Timer, want timer.Generation) *store.Written {
	if want == 0 || t.Generation == want {
		return nil
	}
	return &store.Written{
		Timer: clone(t),
		Err:   fmt.Errorf("%s timer %s: generation is %s, not %s: %w", verb, t.UUID, t.Generation, want, store.ErrConflict),
	}
}

// clone copies a timer for an answer, because later operations of the batch may change the state.
func clone(t *timer.Timer) timer.Timer {
	c := *t
	c.Payload = slices.Clone(t.Payload)
	return c
}
