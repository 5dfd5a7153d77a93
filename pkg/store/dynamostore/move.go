package dynamostore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// guarded returns the condition of a Finish that does not read the row first.
func guarded(g store.Guard) condition {
	if g.Revision != 0 {
		return condition{sameState, item{":was": number(g.Revision)}}
	}
	return condition{present + " AND " + sameLife, item{":gen": number(g.Generation)}}
}

// move changes due_at: a lease or a postponement. It does not read the row first, because the new time is rarely before
// executeAt, and the row is rarely parked. The condition checks this assumption. If the assumption is wrong, move gets
// the row with the failure and writes again with the row's values.
func (s *Store) move(ctx context.Context, now timer.Millis, f *store.Finish) (answer, err error) {
	guess := timer.Timer{Status: timer.StatusScheduled, Spec: timer.Spec{ExecuteAt: now}, Starts: 1}
	for {
		at := engine.DueAt(now, guess.ExecuteAt, f.NextAt)
		only := guarded(f.If)
		only.holds += " AND #execute_at <= :due_at"
		only.values[":due_at"], only.values[":rev"], only.values[":updated_at"] = number(at), number(f.Next), number(now)
		only.values[":parked"] = text(string(timer.StatusParked))
		leased, count := "", ""
		switch {
		case f.Kind == store.FinishLeased && f.CountStart:
			count = " ADD #starts :step"
			only.values[":step"] = number(1)
		case f.Kind == store.FinishPostponed && f.ReturnStart && guess.Starts > 0:
			count = " ADD #starts :step"
			only.holds += " AND #starts > :none"
			only.values[":step"], only.values[":none"] = number(-1), number(0)
		}
		change := "SET #planned_at = if_not_exists(#planned_at, #due_at), #due_at = :due_at, #rev = :rev, #updated_at = :updated_at"
		if f.Kind == store.FinishLeased {
			change += ", #leased = :leased"
			only.values[":leased"] = number(1)
		} else {
			leased = " REMOVE #leased"
		}
		if f.Kind == store.FinishPostponed && f.FlowTurn != 0 {
			change += ", #flow_turn = :flow_turn"
			only.values[":flow_turn"] = number(f.FlowTurn)
		}
		if guess.Status.Held() {
			only.holds += " AND #status = :parked"
		} else {
			only.holds += " AND #status <> :parked"
			change += ", #due = :due"
			only.values[":due"] = text(keyText(store.Key{DueAt: at, UUID: f.Ref.UUID}))
		}
		there, held, err := s.update(ctx, timerKey(f.Ref), change+leased+count, only, types.ReturnValueNone)
		if err != nil || held {
			return nil, err
		}
		slot, err := readSlot(f.Ref, there)
		if err != nil {
			return nil, err
		}
		if answer := slot.CheckGuard(f); answer != nil {
			return answer, nil
		}
		guess = slot.Was.Timer
	}
}

// park makes a row parked, which removes it from the index of polls, and writes its outbox item in the same
// transaction.
func (s *Store) park(ctx context.Context, now timer.Millis, f *store.Finish) (answer, err error) {
	change := "SET #status = :parked, #rev = :rev, #updated_at = :now, #marked_at = :now"
	only := guarded(f.If)
	only.holds += " AND NOT begins_with(#options, :paused)"
	only.values[":paused"] = text(engine.PausedPrefix)
	only.values[":parked"], only.values[":rev"], only.values[":now"] = text(string(timer.StatusParked)), number(f.Next), number(now)
	remove := " REMOVE #due"
	if reason := store.CutError(f.Record.Error); reason != "" {
		change += ", #last_error = :error"
		only.values[":error"] = text(reason)
	} else {
		remove += ", #last_error"
	}
	change += remove
	obstacles, err := s.transact(ctx, []types.TransactWriteItem{
		{Update: &types.Update{
			TableName: &s.options.Table, Key: timerKey(f.Ref), UpdateExpression: &change, ConditionExpression: &only.holds,
			ExpressionAttributeNames: names(change, only.holds), ExpressionAttributeValues: only.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
		*s.putMark(&store.OutboxID{Ref: f.Ref, Status: timer.StatusParked}, now),
	})
	if err != nil || obstacles == nil {
		return nil, err
	}
	slot, err := readSlot(f.Ref, obstacles[0].there)
	if err != nil {
		return nil, err
	}
	return slot.CheckGuard(f), nil
}
