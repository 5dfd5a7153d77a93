package sqlitestore

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	selectLeased     = "SELECT leased, " + timerColumns + " FROM timers WHERE shard = ? AND uuid = ?"
	deleteAny        = "DELETE FROM timers WHERE shard = ? AND uuid = ? RETURNING " + timerColumns
	deleteGeneration = "DELETE FROM timers WHERE shard = ? AND uuid = ? AND generation = ? RETURNING " + timerColumns
)

func (c *conn) update(now timer.Millis, op *store.Update) (store.Written, error) {
	var leased bool
	prior, found, err := c.timerWith([]any{&leased}, selectLeased, op.Ref.Shard, op.Ref.UUID[:])
	if err != nil {
		return store.Written{}, err
	}
	if refused := refusal("update", op.Ref, op.IfGeneration, &prior, found); refused != nil {
		return *refused, nil
	}
	t := prior
	t.Spec, err = op.Patch.Apply(prior.Spec)
	if err != nil {
		return store.Written{Err: fmt.Errorf("update timer %s: %w: %w", op.Ref.UUID, store.ErrInvalid, err)}, nil
	}
	if op.Patch.Payload != nil {
		t.Payload = slices.Clone(t.Payload)
	} else {
		prior.Payload = nil // it is in the new state
	}
	t.DueAt, t.PlannedAt = op.Times(now, &prior, leased, t.ExecuteAt)
	engine.Revive(&t, now, op.Revision)
	return store.Written{Timer: t, Prior: &prior}, c.replace(op.Ref, &t)
}

func (c *conn) delete(op *store.Delete) (store.Written, error) {
	query, args := deleteAny, []any{op.Ref.Shard, op.Ref.UUID[:]}
	if op.IfGeneration != 0 {
		query, args = deleteGeneration, append(args, op.IfGeneration)
	}
	t, found, err := c.timer(query, args...)
	if err != nil {
		return store.Written{}, err
	}
	if found {
		prior := t
		prior.Payload = nil
		return store.Written{Timer: t, Prior: &prior}, nil
	}
	if op.IfGeneration != 0 {
		t, found, err = c.timer(selectLive, op.Ref.Shard, op.Ref.UUID[:])
	}
	return *refusal("delete", op.Ref, op.IfGeneration, &t, found), err
}

// refusal returns the answer to an operation whose row does not exist or has a different generation than want. It
// returns nil if the operation may proceed.
func refusal(verb string, ref store.Ref, want timer.Generation, t *timer.Timer, found bool) *store.Written {
	switch {
	case !found:
		return &store.Written{Err: fmt.Errorf("%s timer %s: %w", verb, ref.UUID, store.ErrNotFound)}
	case want != 0 && t.Generation != want:
		return &store.Written{
			Timer: *t,
			Err: fmt.Errorf("%s timer %s: generation is %s, not %s: %w",
				verb, ref.UUID, t.Generation, want, store.ErrConflict),
		}
	default:
		return nil
	}
}
