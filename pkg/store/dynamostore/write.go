package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// present: the item is a timer, and not a placeholder.
	present     = "attribute_exists(#rev)"
	sameState   = "#rev = :was"
	sameLife    = "#gen = :gen"
	nothingHere = "attribute_not_exists(#sk)"
)

// Write implements store.Timers.
func (s *Store) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "write"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	out := make([]store.Written, len(ops))
	groups := turns(len(ops), func(i int) store.Ref {
		ref, _ := engine.RefOf(ops[i]) // writeOne returns its error
		return ref
	})
	err := s.singly(groups, func(i int) error {
		written, err := s.writeOne(ctx, now, ops[i])
		if err = itsOwn(&written, err); err == nil {
			out[i] = written
		}
		return err
	}, func(i int, err error) { out[i] = store.Written{Err: err} })
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return out, nil
}

// itsOwn makes an ErrInvalid the item's answer instead of the batch's error.
func itsOwn(w *store.Written, err error) error {
	if err == nil || !isInvalid(err) {
		return err
	}
	*w = store.Written{Err: err}
	return nil
}

func (s *Store) writeOne(ctx context.Context, now timer.Millis, op store.Op) (w store.Written, err error) {
	ref, err := engine.RefOf(op)
	if err != nil {
		return store.Written{Err: err}, nil //nolint:nilerr // it is the answer to this operation
	}
	switch op := op.(type) {
	case store.Put:
		w, err = s.putTimer(ctx, now, &op)
	case store.Update:
		w, err = s.change(ctx, now, ref, op)
	case store.Pause:
		w, err = s.change(ctx, now, ref, op)
	case store.Resume:
		w, err = s.change(ctx, now, ref, op)
	case store.Delete:
		w, err = s.deleteTimer(ctx, now, &op)
	}
	if err != nil {
		err = fmt.Errorf("timer %s: %w", ref.UUID, err)
	}
	return w, err
}

func (s *Store) putTimer(ctx context.Context, now timer.Millis, op *store.Put) (w store.Written, err error) {
	for op.OnConflict == store.Replace {
		t := engine.NewTimer(now, op)
		if w, replaced, err := s.replace(ctx, op.Ref, &t); err != nil || replaced {
			return w, err
		}
		if w, found, err := s.replaceHeld(ctx, now, op); err != nil || found {
			return w, err
		}
	}
	slot, err := s.occupy(ctx, now, op.Ref, func(slot *engine.Slot) { w = slot.Apply(now, *op) })
	if err == nil && slot.Was != nil {
		w = slot.Apply(now, *op)
	}
	return w, err
}

// replace writes a timer over the item at its key, in one request. It keeps only createdAt of an existing timer, and
// returns that timer. If the item is parked or paused, it writes nothing and replaced is false.
func (s *Store) replace(ctx context.Context, ref store.Ref, t *timer.Timer) (w store.Written, replaced bool, err error) {
	change, values := replacement(rowItem(ref, t))
	values[":parked"] = text(string(timer.StatusParked))
	only := condition{holds: "attribute_not_exists(#status) OR #status <> :parked", values: values}
	old, replaced, err := s.update(ctx, timerKey(ref), change, only, types.ReturnValueAllOld)
	if err != nil || !replaced {
		return store.Written{}, false, err
	}
	was, found, err := readRow(old)
	if err != nil {
		return store.Written{}, false, err
	}
	w = store.Written{Timer: *t}
	if found {
		w.Timer.CreatedAt = was.timer.CreatedAt
		w.Prior = &was.timer
	}
	return w, true, nil
}

// replaceHeld replaces a timer that was parked or paused: a paused one stays paused. found is false if there is no timer any more.
func (s *Store) replaceHeld(ctx context.Context, now timer.Millis, op *store.Put) (w store.Written, found bool, err error) {
	it, err := s.get(ctx, s.options.Table, timerKey(op.Ref))
	for err == nil && holdsTimer(it) {
		slot, err := readSlot(op.Ref, it)
		if err != nil {
			return w, false, err
		}
		w = slot.Apply(now, *op)
		var held bool
		it, held, err = s.put(ctx, s.options.Table, rowItem(op.Ref, &slot.Is.Timer), still(&slot.Was.Timer))
		if err != nil || held {
			return w, held, err
		}
	}
	return w, false, err
}

// replacement returns the update that gives an item these attributes and no others.
func replacement(it item) (change string, values item) {
	values = item{}
	var set, remove []string
	for _, name := range rowAttributes {
		value, ok := it[name]
		switch {
		case !ok:
			remove = append(remove, "#"+name)
		case name == attrCreatedAt:
			set = append(set, "#created_at = if_not_exists(#created_at, :created_at)")
			values[":created_at"] = value
		default:
			set = append(set, "#"+name+" = :"+name)
			values[":"+name] = value
		}
	}
	return "SET " + strings.Join(set, ", ") + " REMOVE " + strings.Join(remove, ", "), values
}

// change reads the row, applies the operation, and writes the row if it has not changed since. If it has changed, change tries again.
func (s *Store) change(ctx context.Context, now timer.Millis, ref store.Ref, op store.Op) (store.Written, error) {
	it, err := s.get(ctx, s.options.Table, timerKey(ref))
	for {
		if err != nil {
			return store.Written{}, err
		}
		slot, err := readSlot(ref, it)
		if err != nil {
			return store.Written{}, err
		}
		w := slot.Apply(now, op)
		if w.Err != nil || w.Kept {
			return w, nil //nolint:nilerr // the refusal is the answer of the item.
		}
		var held bool
		it, held, err = s.put(ctx, s.options.Table, rowItem(ref, &slot.Is.Timer), still(&slot.Was.Timer))
		if err != nil || held {
			return w, err
		}
	}
}

// still is the condition that a row has not changed since it was read.
func still(t *timer.Timer) condition {
	return condition{sameState, item{":was": number(t.Revision)}}
}

func (s *Store) deleteTimer(ctx context.Context, now timer.Millis, op *store.Delete) (store.Written, error) {
	only := condition{holds: present}
	if op.IfGeneration != 0 {
		only = condition{sameLife, item{":gen": number(op.IfGeneration)}}
	}
	it, held, err := s.remove(ctx, s.options.Table, timerKey(op.Ref), only)
	if err != nil {
		return store.Written{}, err
	}
	slot, err := readSlot(op.Ref, it)
	if err != nil {
		return store.Written{}, err
	}
	w := slot.Apply(now, *op)
	if !held && w.Err == nil {
		return store.Written{}, errors.New("the condition of a delete failed, but the existing item satisfies it")
	}
	return w, nil
}

// clonePayload copies a payload, because the caller and the store must not share memory.
func clonePayload(p []byte) []byte {
	if p == nil {
		return nil
	}
	return append(make([]byte, 0, len(p)), p...)
}
