package memstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Current implements store.Outcomes.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "check rows"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.Checked, len(checks))
	for i, check := range checks {
		r := s.db.row(check.Ref)
		if r == nil {
			continue
		}
		out[i] = store.Checked{Found: true, Timer: clone(r.timer)}
		if check.CountStart && r.timer.Revision == check.Revision {
			r.timer.Starts++
			out[i].Counted = true
		}
	}
	return out, nil
}

// Finish implements store.Outcomes.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "finish"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]error, len(items))
	for i := range items {
		out[i] = s.db.finish(now, &items[i])
		if f := &items[i]; out[i] == nil && f.FollowUp != nil {
			s.db.put(now, *f.FollowUp)
		}
	}
	return out, nil
}

func (db *Database) finish(now timer.Millis, f *store.Finish) error {
	r := db.row(f.Ref)
	if r == nil {
		return fmt.Errorf("finish timer %s: %w", f.Ref.UUID, store.ErrNotFound)
	}
	if !f.If.Holds(&r.timer) {
		return fmt.Errorf("finish timer %s: the row is at revision %s of generation %s: %w",
			f.Ref.UUID, r.timer.Revision, r.timer.Generation, store.ErrConflict)
	}
	if f.Kind == store.FinishParked && r.timer.Status == timer.StatusPaused {
		return fmt.Errorf("finish timer %s: it is paused: %w", f.Ref.UUID, store.ErrConflict)
	}
	sh := db.shard(f.Ref.Shard)
	was := r.timer
	t := was
	t.UpdatedAt = now
	switch f.Kind {
	case store.FinishDone:
		sh.drop(r)
		db.recordEnd(now, &was, f, timer.StatusDone)
	case store.FinishDead:
		sh.drop(r)
		db.recordEnd(now, &was, f, timer.StatusDead)
	case store.FinishRescheduled:
		tell(&t, &f.Record)
		revive(&t, now, f.Next)
		t.ExecuteAt, t.Local = f.NextAt, nil
		t.DueAt = dueAt(now, f.NextAt, f.NextAt)
		t.PlannedAt = t.DueAt
		t.ScheduleState = f.ScheduleState
		sh.put(&row{timer: t})
		db.record(&historyRow{entry: entryOf(&was, f, store.OutcomeRescheduled), expires: expires(f)})
	case store.FinishRetry:
		tell(&t, &f.Record)
		if t.Status != timer.StatusPaused {
			t.Status = timer.StatusRetrying
		}
		t.Revision = f.Next
		t.DueAt = dueAt(now, t.ExecuteAt, f.NextAt)
		t.PlannedAt, t.ResumedFrom, t.FlowTurn = t.DueAt, 0, 0
		sh.put(&row{timer: t})
		db.record(&historyRow{entry: entryOf(&was, f, store.OutcomeFailed), expires: expires(f)})
	case store.FinishLeased, store.FinishPostponed:
		t.Revision = f.Next
		t.DueAt = dueAt(now, t.ExecuteAt, f.NextAt)
		switch {
		case f.Kind == store.FinishLeased && f.CountStart:
			t.Starts++
		case f.Kind == store.FinishPostponed && f.ReturnStart:
			t.Starts = max(0, t.Starts-1)
		}
		if f.Kind == store.FinishPostponed && f.FlowTurn != 0 {
			t.FlowTurn = f.FlowTurn
		}
		sh.put(&row{timer: t, mark: r.mark, leased: f.Kind == store.FinishLeased})
	case store.FinishParked:
		t.Status = timer.StatusParked
		t.Revision = f.Next
		t.LastError = store.CutError(f.Record.Error)
		sh.put(&row{timer: t, mark: mark{set: true, at: now}})
	}
	return nil
}

// tell writes the result of an attempt into the timer. It resets the starts, because the timer did not kill its
// dispatcher.
func tell(t *timer.Timer, r *store.Record) {
	t.Attempts = r.Attempt
	t.Starts = 0
	t.ExecutedAt = r.StartedAt
	t.LastStatus = r.StatusCode
	t.LastError = store.CutError(r.Error)
}

// recordEnd writes a finished timer into history. was is its row.
func (db *Database) recordEnd(now timer.Millis, was *timer.Timer, f *store.Finish, status timer.Status) {
	h := &historyRow{timer: *was, expires: expires(f)}
	if status == timer.StatusDead {
		h.entry = entryOf(was, f, store.OutcomeDead)
		h.mark = mark{set: true, at: now}
	} else {
		h.entry = entryOf(was, f, store.OutcomeDone)
		h.timer.Payload = engine.KeptPayload(f, was.Payload)
	}
	h.entry.NextAt = 0
	h.entry.FinishedAt = db.endAfter(now, was, f)
	tell(&h.timer, &f.Record)
	h.timer.Status, h.timer.UpdatedAt, h.timer.PlannedAt, h.timer.Pause = status, now, was.DueAt, nil
	db.record(h)
}

// endAfter returns finishedAt of a final outcome: after that of the previous final outcome, even if the clock of its
// writer was ahead.
func (db *Database) endAfter(now timer.Millis, was *timer.Timer, f *store.Finish) timer.Millis {
	at := f.Record.FinishedAt
	if was.UpdatedAt <= at.Add(-store.EndMargin) {
		return at
	}
	if before := db.finished(now, f.Ref); before != nil {
		at = max(at, before.entry.FinishedAt+1)
	}
	return at
}

func entryOf(t *timer.Timer, f *store.Finish, outcome store.Outcome) store.HistoryEntry {
	return store.HistoryEntry{
		Ref:           f.Ref,
		Generation:    t.Generation,
		Attempt:       f.Record.Attempt,
		Outcome:       outcome,
		ExecuteAt:     t.ExecuteAt,
		NextAt:        f.NextAt,
		StartedAt:     f.Record.StartedAt,
		FinishedAt:    f.Record.FinishedAt,
		StatusCode:    f.Record.StatusCode,
		Error:         store.CutError(f.Record.Error),
		CorrelationID: t.CorrelationID,
	}
}

func expires(f *store.Finish) timer.Millis { return f.Record.FinishedAt.Add(f.Record.KeepFor) }

// Rearm implements store.Outcomes.
func (s *Store) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "rearm"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]store.Written, len(items))
	for i, item := range items {
		out[i] = s.db.rearm(now, item)
	}
	return out, nil
}

func (db *Database) rearm(now timer.Millis, item store.Rearm) store.Written {
	var t timer.Timer
	var prior *timer.Timer
	if r := db.row(item.Ref); r != nil {
		t = r.timer
		prior = cloned(t)
		if t.Status != timer.StatusParked {
			return store.Written{
				Timer: clone(t),
				Err:   fmt.Errorf("rearm timer %s: it is %s: %w", item.Ref.UUID, t.Status, store.ErrConflict),
			}
		}
	} else {
		h := db.finished(now, item.Ref)
		if h == nil || h.entry.Outcome != store.OutcomeDead && h.timer.Payload == nil {
			return store.Written{Err: fmt.Errorf("rearm timer %s: %w", item.Ref.UUID, store.ErrNotFound)}
		}
		t = h.timer
		if len(t.Payload) == 0 {
			t.Payload = nil
		}
	}
	if item.IfGeneration != 0 && item.IfGeneration != t.Generation {
		return store.Written{
			Timer: clone(t),
			Err: fmt.Errorf("rearm timer %s: generation is %s, not %s: %w",
				item.Ref.UUID, t.Generation, item.IfGeneration, store.ErrConflict),
		}
	}
	t.ExecuteAt, t.Local = item.ExecuteAt, nil
	t.DueAt = dueAt(now, item.ExecuteAt, now)
	t.PlannedAt = t.DueAt
	revive(&t, now, item.Revision)
	db.shard(item.Ref.Shard).put(&row{timer: clone(t)})
	return store.Written{Timer: clone(t), Prior: prior}
}
