package engine

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// DueAt implements rule I6: a due_at is neither before the write nor before executeAt.
func DueAt(now, executeAt, wanted timer.Millis) timer.Millis { return max(now, executeAt, wanted) }

// NewTimer returns the timer that a Put creates. It copies the payload.
func NewTimer(now timer.Millis, op *store.Put) timer.Timer {
	t := timer.Timer{
		Namespace:  op.Namespace,
		ID:         op.ID,
		UUID:       op.Ref.UUID,
		Spec:       op.Spec,
		Status:     timer.StatusScheduled,
		DueAt:      DueAt(now, op.Spec.ExecuteAt, now),
		PlannedAt:  DueAt(now, op.Spec.ExecuteAt, now),
		Revision:   op.Revision,
		Generation: timer.Generation(op.Revision),
		CreatedAt:  now,
		UpdatedAt:  now,
	}
	t.Payload = slices.Clone(t.Payload)
	return t
}

// Revive starts a new generation at attempt 1. A paused timer stays paused.
func Revive(t *timer.Timer, now timer.Millis, revision timer.Revision) {
	if t.Status != timer.StatusPaused {
		t.Status = timer.StatusScheduled
	}
	t.Skip, t.ResumedFrom, t.FlowTurn = false, 0, 0
	t.Revision = revision
	t.Generation = timer.Generation(revision)
	t.Attempts = 0
	t.Starts = 0
	t.UpdatedAt = now
}
