package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// writeLocked locks the rows of the operations at the given places, applies the operations, and commits.
func (t *transaction) writeLocked(
	ctx context.Context, now timer.Millis, ops []store.Op, places []int, out []store.Written, more ...call,
) error {
	var refs, kept []store.Ref
	for _, i := range places {
		ref, err := engine.RefOf(ops[i])
		if err != nil {
			out[i] = store.Written{Err: err}
			continue
		}
		refs = append(refs, ref)
		if put, ok := ops[i].(store.Put); ok && put.OnConflict != store.Replace {
			kept = append(kept, ref)
		}
	}
	if len(refs) == 0 {
		return t.commit(ctx, more...)
	}
	l, err := t.lock(ctx, now, refs)
	if err != nil {
		return err
	}
	// A Put that keeps or fails on an existing timer also needs to know whether a finished one exists.
	if err := t.readEnds(ctx, l, kept); err != nil {
		return err
	}
	for _, i := range places {
		if ref, err := engine.RefOf(ops[i]); err == nil {
			out[i] = l.slots[ref].Apply(now, ops[i])
		}
	}
	return t.flush(ctx, l, more...)
}
