package dynamostore

import (
	"context"
	"crypto/rand"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// occupied answers occupy.
type occupied struct {
	// made: the timer that was decided on is there now.
	made bool
	// timer is what was in the way: a live timer, or the ended one that decide refused.
	timer timer.Timer
	live  bool
}

// occupy makes a timer in an empty place, if decide wants one there after seeing how the timer last ended.
//
// The place and the history are two items in two tables, and between a look at the history and the write
// somebody else's timer could come, fire and end. So the place is first held: an item without a revision,
// which nobody takes for a timer and everybody may write over. A timer that comes writes over it, so that
// if the same hold is still there when decide's timer goes in, nothing has come and gone since before the
// history was read. Whoever meets somebody else's hold goes on with that one, which says the same: the
// first to write wins, and nobody waits for anybody, dead or alive. No hold is like an earlier one, not even of
// the same write: who still has that one in hand would take the timers since for none. A hold that is left behind
// is 100 bytes that the next write to this id takes away.
func (s *Store) occupy(
	ctx context.Context, now timer.Millis, ref store.Ref, decide func(ended *timer.Timer) *timer.Timer,
) (occupied, error) {
	for {
		hold := text(rand.Text())
		there, held, err := s.update(ctx, timerKey(ref), "SET #held = :held",
			condition{nothingHere, item{":held": hold}}, types.ReturnValueNone)
		if err != nil {
			return occupied{}, err
		}
		if !held {
			live, found, err := readRow(there)
			if err != nil || found {
				return occupied{timer: live.timer, live: found}, err
			}
			if hold = there[attrHeld]; hold == nil {
				continue // it went between the condition and the answer
			}
		}
		only := condition{"#held = :held", item{":held": hold}}
		ended, found, err := s.lastEnd(ctx, now, ref)
		if err != nil {
			return occupied{}, err
		}
		var t *timer.Timer
		if found {
			t = decide(&ended)
		} else {
			t = decide(nil)
		}
		if t == nil {
			s.letGo(ctx, ref, only)
			return occupied{timer: ended}, nil
		}
		if _, held, err = s.put(ctx, s.options.Table, rowItem(ref, t), only); err != nil || held {
			return occupied{made: held}, err
		}
	}
}

// letGo takes a hold away. Somebody else's timer may stand there by now; and a hold more or less is nothing
// that callers could see, so that a failure is not theirs.
func (s *Store) letGo(ctx context.Context, ref store.Ref, only condition) {
	if _, _, err := s.remove(ctx, s.options.Table, timerKey(ref), only); err != nil {
		s.log.DebugContext(ctx, "a hold is left behind", "shard", ref.Shard, "timer", ref.UUID, "error", err)
	}
}
