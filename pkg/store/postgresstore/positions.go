package postgresstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// movePosition is the compare-and-set. A position that was never stored is zero. It is the first statement of its
// transaction, so that two transactions that apply the same commands conflict here and nowhere else.
var movePosition = statement{"move_position", `INSERT INTO positions AS p (topic, partition, incarnation, "offset", updated_at)
SELECT $1::text, $2::integer, $5::bigint, $6::bigint, $7::timestamptz
WHERE ($3::bigint, $4::bigint) = (0, 0) OR EXISTS (SELECT FROM positions WHERE topic = $1 AND partition = $2)
ON CONFLICT (topic, partition) DO UPDATE SET
	incarnation = excluded.incarnation, "offset" = excluded."offset", updated_at = excluded.updated_at
WHERE p.incarnation = $3 AND p."offset" = $4`}

// WriteAt implements store.Positions.
func (s *Store) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	out := make([]store.Written, len(ops))
	refused := false
	creates, others := split(ops)
	err := s.write(ctx, "write timers at a position", snapshot, func(t *transaction) error {
		var moved int64
		calls := []call{moveCall(now, move, &moved)}
		if len(ops) == 0 {
			err := t.commit(ctx, calls...)
			refused = moved == 0
			return err
		}
		if err := t.exchange(ctx, calls...); err != nil {
			return err
		}
		if refused = moved == 0; refused {
			return t.abandon(ctx)
		}
		b := createBatch{now: now, ops: creates, out: out}
		rest := others
		if len(creates) > 0 {
			if err := t.exchange(ctx, b.call()); err != nil {
				return err
			}
			rest = append(slices.Clone(others), b.left()...)
			slices.Sort(rest)
		}
		return t.writeLocked(ctx, now, ops, rest, out)
	})
	if err == nil && refused {
		err = fmt.Errorf("write timers at a position: %s/%d is not at %v: %w", move.Topic, move.Partition, move.From, store.ErrConflict)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func moveCall(now timer.Millis, move store.Move, moved *int64) call {
	return call{
		statement: movePosition,
		args: [][]byte{
			textValue(move.Topic), int4Value(int32(move.Partition)),
			int8Value(move.From.Epoch), int8Value(move.From.Offset),
			int8Value(move.To.Epoch), int8Value(move.To.Offset), instantValue(now),
		},
		changed: moved,
	}
}
