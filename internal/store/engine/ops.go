package engine

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
)

// RefOf returns the row of an operation of store.Timers.Write, or an error if the operation has another type.
func RefOf(op store.Op) (store.Ref, error) {
	switch op := op.(type) {
	case store.Put:
		return op.Ref, nil
	case store.Update:
		return op.Ref, nil
	case store.Delete:
		return op.Ref, nil
	case store.Pause:
		return op.Ref, nil
	case store.Resume:
		return op.Ref, nil
	default:
		return store.Ref{}, fmt.Errorf("operation %T: %w", op, store.ErrInvalid)
	}
}

// SplitChecks returns the places of the checks that only read, and of those that count a start.
func SplitChecks(checks []store.Check) (reads, counts []int) {
	for i := range checks {
		if checks[i].CountStart {
			counts = append(counts, i)
		} else {
			reads = append(reads, i)
		}
	}
	return reads, counts
}

// NotAt returns the error of a move that does not begin at the present position.
func NotAt(present store.Position, move store.Move) error {
	return fmt.Errorf("write timers at a position: %s/%d is at %v, not %v: %w",
		move.Topic, move.Partition, present, move.From, store.ErrConflict)
}
