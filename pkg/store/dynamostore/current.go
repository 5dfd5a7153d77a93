package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/store"
)

// Current implements store.Outcomes. Checks without a count are read in requests of a hundred. A count is one
// conditional write, which returns the row before it.
func (s *Store) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if len(checks) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "check rows"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	out := make([]store.Checked, len(checks))
	groups := turns(len(checks), func(i int) store.Ref { return checks[i].Ref })
	var counted [][]int
	var keys []item
	for _, group := range groups {
		if counts(checks, group) {
			counted = append(counted, group)
		} else {
			keys = append(keys, timerKey(checks[group[0]].Ref))
		}
	}
	items, missed, err := s.getAll(ctx, s.options.Table, keys, "")
	if err != nil {
		return nil, fmt.Errorf("check rows: %w", err)
	}
	err = s.singly(counted, func(i int) (err error) {
		if out[i], err = s.checkOne(ctx, &checks[i]); err != nil {
			err = fmt.Errorf("timer %s: %w", checks[i].Ref.UUID, err)
		}
		return err
	}, func(i int, err error) { out[i] = store.Checked{Err: err} })
	if err != nil && len(keys) == 0 {
		return nil, fmt.Errorf("check rows: %w", err)
	}
	for _, group := range groups {
		if counts(checks, group) {
			continue
		}
		key := describeKey(timerKey(checks[group[0]].Ref))
		r, found, err := readRow(items[key])
		if err != nil {
			return nil, fmt.Errorf("check rows: %w", err)
		}
		for _, i := range group {
			switch {
			case missed[key] != nil:
				out[i] = store.Checked{Err: fmt.Errorf("check timer %s: %w", checks[i].Ref.UUID, missed[key])}
			case found:
				out[i] = store.Checked{Found: true, Timer: r.timer}
				out[i].Timer.Payload = clonePayload(r.timer.Payload)
			}
		}
	}
	return out, nil
}

func counts(checks []store.Check, group []int) bool {
	for _, i := range group {
		if checks[i].CountStart {
			return true
		}
	}
	return false
}

// checkOne reads one row, and counts a start if CountStart is set and the row has the check's revision.
func (s *Store) checkOne(ctx context.Context, check *store.Check) (store.Checked, error) {
	var it item
	var held bool
	var err error
	if check.CountStart {
		it, held, err = s.update(ctx, timerKey(check.Ref), "ADD #starts :one",
			condition{sameState, item{":was": number(check.Revision), ":one": number(1)}}, types.ReturnValueAllOld)
	}
	// A full collection refuses the count, because it makes the row longer. The row is returned without a count: only
	// delivered timers end and free space. So a poison timer in a full collection gets more starts than elsewhere.
	if !check.CountStart || errors.Is(err, ErrCollectionFull) {
		it, err = s.get(ctx, s.options.Table, timerKey(check.Ref))
	}
	if err != nil {
		return store.Checked{}, err
	}
	r, found, err := readRow(it)
	return store.Checked{Found: found, Timer: r.timer, Counted: held && found}, err
}
