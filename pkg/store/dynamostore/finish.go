package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Finish implements store.Outcomes. History is computed from the row, so the rows of the kinds that write history are
// read first, in requests of a hundred. Then each row and its history are written in one transaction.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "finish"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	groups := turns(len(items), func(i int) store.Ref { return items[i].Ref })
	var keys []item
	for _, group := range groups {
		if recorded(items[group[0]].Kind) {
			keys = append(keys, timerKey(items[group[0]].Ref))
		}
	}
	rows, missed, err := s.getAll(ctx, s.options.Table, keys, "")
	if err != nil {
		return nil, fmt.Errorf("finish: %w", err)
	}
	first := make(map[int]bool, len(groups))
	for _, group := range groups {
		first[group[0]] = true
	}
	out := make([]error, len(items))
	err = s.singly(groups, func(i int) error {
		f := &items[i]
		key := describeKey(timerKey(f.Ref))
		if unread := missed[key]; unread != nil {
			return fmt.Errorf("timer %s: %w", f.Ref.UUID, unread)
		}
		answer, err := s.finishOne(ctx, now, f, rows[key], first[i])
		if err != nil {
			err = fmt.Errorf("finish timer %s: %w", f.Ref.UUID, err)
			if !isInvalid(err) {
				return err
			}
			answer = err
		}
		out[i] = answer
		return nil
	}, func(i int, err error) { out[i] = err })
	if err != nil {
		return nil, fmt.Errorf("finish: %w", err)
	}
	return out, nil
}

// recorded reports whether a kind writes history.
func recorded(k store.FinishKind) bool {
	switch k {
	case store.FinishDone, store.FinishDead, store.FinishRescheduled, store.FinishRetry:
		return true
	default:
		return false
	}
}

// finishOne writes one outcome. If fresh is set, seen is the row as read by Finish.
func (s *Store) finishOne(ctx context.Context, now timer.Millis, f *store.Finish, seen item, fresh bool) (answer, err error) {
	switch f.Kind {
	case store.FinishLeased, store.FinishPostponed:
		return s.move(ctx, now, f)
	case store.FinishParked:
		return s.park(ctx, now, f)
	default:
		return s.record(ctx, now, f, seen, fresh)
	}
}

// record writes an outcome and its history.
func (s *Store) record(ctx context.Context, now timer.Millis, f *store.Finish, seen item, fresh bool) (answer, err error) {
	for keep := true; ; {
		if !fresh {
			if seen, err = s.get(ctx, s.options.Table, timerKey(f.Ref)); err != nil {
				return nil, err
			}
		}
		slot, err := readSlot(f.Ref, seen)
		if err != nil {
			return nil, err
		}
		if answer := slot.Finish(now, f); answer != nil {
			return answer, nil
		}
		obstacles, err := s.conclude(ctx, now, &slot, f.FollowUp, keep)
		if err != nil || obstacles == nil {
			return nil, err
		}
		// If the row has changed, check it again. If history has a final outcome of this attempt, which must not be
		// replaced, write the row without history.
		seen, fresh = obstacles[0].there, obstacles[0].missed
		if len(obstacles) > 1 && obstacles[1].missed {
			keep = false
		}
	}
}

// conclude writes a row after its attempt, the follow-up if there is one, and, if keep is set, the history of the attempt.
func (s *Store) conclude(ctx context.Context, now timer.Millis, slot *engine.Slot, next *store.Put, keep bool) ([]obstacle, error) {
	only := still(&slot.Was.Timer)
	moved := types.TransactWriteItem{}
	if slot.Is == nil {
		moved.Delete = &types.Delete{
			TableName: &s.options.Table, Key: timerKey(slot.Ref), ConditionExpression: &only.holds,
			ExpressionAttributeNames: names(only.holds), ExpressionAttributeValues: only.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
	} else {
		moved.Put = &types.Put{
			TableName: &s.options.Table, Item: rowItem(slot.Ref, &slot.Is.Timer), ConditionExpression: &only.holds,
			ExpressionAttributeNames: names(only.holds), ExpressionAttributeValues: only.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
	}
	items := []types.TransactWriteItem{moved}
	if keep {
		const givesWay = nothingHere + " OR #outcome = :failed"
		attempt := slot.Attempts()[0]
		finishedAt, err := s.finishedAt(ctx, now, attempt)
		if err != nil {
			return nil, err
		}
		left := s.leaves(attempt, finishedAt)
		items = append(items, types.TransactWriteItem{Put: &types.Put{
			TableName: &s.options.History, Item: left.item, ConditionExpression: aws.String(givesWay),
			ExpressionAttributeNames:  names(givesWay),
			ExpressionAttributeValues: item{":failed": text(string(store.OutcomeFailed))},
		}})
		if left.mark != nil {
			items = append(items, *left.mark)
		}
	}
	if next != nil {
		t := engine.NewTimer(now, next)
		items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: &s.options.Table, Item: rowItem(next.Ref, &t)}})
	}
	return s.transact(ctx, items)
}
