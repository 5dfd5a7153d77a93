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
		w, err = s.updateTimer(ctx, now, &op)
	case store.Delete:
		w, err = s.deleteTimer(ctx, now, &op)
	}
	if err != nil {
		err = fmt.Errorf("timer %s: %w", ref.UUID, err)
	}
	return w, err
}

func (s *Store) putTimer(ctx context.Context, now timer.Millis, op *store.Put) (w store.Written, err error) {
	if op.OnConflict == store.Replace {
		t := engine.NewTimer(now, op)
		return s.replace(ctx, op.Ref, &t)
	}
	slot, err := s.occupy(ctx, now, op.Ref, func(slot *engine.Slot) { w = slot.Apply(now, *op) })
	if err == nil && slot.Was != nil {
		w = slot.Apply(now, *op)
	}
	return w, err
}

// replace writes a timer over the item at its key, in one request. It keeps only createdAt of an existing timer, and
// returns that timer.
func (s *Store) replace(ctx context.Context, ref store.Ref, t *timer.Timer) (store.Written, error) {
	change, values := replacement(rowItem(ref, t))
	old, _, err := s.update(ctx, timerKey(ref), change, condition{values: values}, types.ReturnValueAllOld)
	if err != nil {
		return store.Written{}, err
	}
	was, found, err := readRow(old)
	if err != nil {
		return store.Written{}, err
	}
	w := store.Written{Timer: *t}
	if found {
		w.Timer.CreatedAt = was.timer.CreatedAt
		w.Prior = &was.timer
	}
	return w, nil
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

// updateTimer reads the row, and writes it if it has not changed since. If it has changed, updateTimer tries again.
func (s *Store) updateTimer(ctx context.Context, now timer.Millis, op *store.Update) (store.Written, error) {
	it, err := s.get(ctx, s.options.Table, timerKey(op.Ref))
	for {
		if err != nil {
			return store.Written{}, err
		}
		slot, err := readSlot(op.Ref, it)
		if err != nil {
			return store.Written{}, err
		}
		w := slot.Apply(now, *op)
		if w.Err != nil {
			return w, nil //nolint:nilerr // the refusal is the answer of the item.
		}
		var held bool
		it, held, err = s.put(ctx, s.options.Table, rowItem(op.Ref, &slot.Is.Timer), still(&slot.Was.Timer))
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
