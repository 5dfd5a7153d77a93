package dynamostore

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// occupy creates a timer if there is no live one. If there is none, it calls apply with a slot that has the timer's last
// final outcome, and writes the timer that apply puts into the slot, if any. If there is a live timer, occupy returns a
// slot with its row, to which nothing was applied. apply may be called several times.
//
// The row and the history are two items in two tables. Between reading the history and writing the row, another
// caller's timer could be created, fire and end. So occupy first writes a placeholder: an item without a revision,
// which does not count as a timer and which every write may overwrite. A timer that is created overwrites it. So if the
// same placeholder is still there when the timer is written, no timer was created and ended since the history was read.
// A call that finds the placeholder of another call uses that one: the first to write its timer wins, and no call waits
// for another one, dead or alive. Every placeholder has a new random token, also within one call: otherwise a call that
// still uses an earlier placeholder could overlook the timers since then. A placeholder that is left behind has 100
// bytes, and the next write to this id overwrites it.
func (s *Store) occupy(ctx context.Context, now timer.Millis, ref store.Ref, apply func(*engine.Slot)) (engine.Slot, error) {
	for {
		hold := text(rand.Text())
		there, held, err := s.update(ctx, timerKey(ref), "SET #held = :held",
			condition{nothingHere, item{":held": hold}}, types.ReturnValueNone)
		if err != nil {
			return engine.Slot{}, err
		}
		slot := engine.Slot{Ref: ref}
		if !held {
			if slot, err = readSlot(ref, there); err != nil || slot.Was != nil {
				return slot, err
			}
			if hold = there[attrHeld]; hold == nil {
				continue // it was deleted between the condition and the answer
			}
		}
		only := condition{"#held = :held", item{":held": hold}}
		ended, found, err := s.lastEnd(ctx, now, ref)
		if err != nil {
			return slot, err
		}
		if found {
			slot.Ended = &ended
		}
		if apply(&slot); slot.Is == nil {
			s.letGo(ctx, ref, only)
			return slot, nil
		}
		if _, held, err = s.put(ctx, s.options.Table, rowItem(ref, &slot.Is.Timer), only); err != nil || held {
			return slot, err
		}
	}
}

// letGo deletes a placeholder. It does nothing if another caller has overwritten it. Callers do not get an error,
// because a remaining placeholder has no visible effect.
func (s *Store) letGo(ctx context.Context, ref store.Ref, only condition) {
	if _, _, err := s.remove(ctx, s.options.Table, timerKey(ref), only); err != nil {
		s.log.DebugContext(ctx, "placeholder could not be deleted", "shard", ref.Shard, "timer", ref.UUID, "error", err)
	}
}
