package postgresstore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var (
	selectLive = statement{"select_live", "SELECT " + timerColumns + " FROM timers t WHERE t.shard_id = $1 AND t.timer_uuid = $2"}

	// selectEnds reads the last final outcome of each timer. For each timer it sorts the history of that timer only.
	//nolint:unqueryvet // the columns are named inside
	selectEnds = statement{"select_ends", `SELECT e.* FROM unnest($1::bigint[], $2::uuid[]) AS a(shard_id, timer_uuid)
CROSS JOIN LATERAL (
	SELECT ` + endColumns + ` FROM timer_history h
	WHERE h.shard_id = a.shard_id AND h.timer_uuid = a.timer_uuid AND h.outcome IN ('done', 'dead') AND ` + unexpired("$3") + `
	ORDER BY h.finished_at DESC, h.attempt DESC, h.generation DESC LIMIT 1) e`}
)

// Get implements store.Timers. The result has no payload if the timer is done, but has it if the timer is dead. The two
// reads need no common snapshot: if the timer is finished between them, the second read finds it.
func (s *Store) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	var t timer.Timer
	var found bool
	err := s.read(ctx, "get timer", func(c *conn) error {
		var scan scanner
		err := c.exchange(ctx, call{
			statement: selectLive,
			args:      refValues(ref),
			row: func(r *record) {
				t, _ = scan.timer(r)
				found = true
			},
		})
		if err != nil || found {
			return err
		}
		return c.exchange(ctx, endsCall(now, []store.Ref{ref}, func(_ store.Ref, end *timer.Timer) { t, found = *end, true }))
	})
	if err == nil && !found {
		err = fmt.Errorf("get timer %s: %w", ref.UUID, store.ErrNotFound)
	}
	return t, err
}

func refValues(ref store.Ref) [][]byte {
	return [][]byte{int8Value(int64(ref.Shard)), uuidValue(ref.UUID)}
}

// endsCall reads the last final outcomes of timers.
func endsCall(now timer.Millis, refs []store.Ref, found func(store.Ref, *timer.Timer)) call {
	var scan scanner
	return call{
		statement: selectEnds,
		args:      append(refArgs(refs), instantValue(now)),
		row: func(r *record) {
			t, id := scan.timer(r)
			if r.err == nil {
				found(store.Ref{Shard: id, UUID: t.UUID}, &t)
			}
		},
	}
}
