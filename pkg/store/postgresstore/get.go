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

	selectHistory = statement{"select_history", `SELECT generation, attempt, outcome, execute_at, next_at, started_at,
	finished_at, status_code, error, correlation_id
FROM timer_history h WHERE shard_id = $1 AND timer_uuid = $2 AND ` + unexpired("$3") + `
ORDER BY finished_at DESC, attempt DESC, generation DESC LIMIT $4`}
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

// History implements store.Timers.
func (s *Store) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	var out []store.HistoryEntry
	err := s.read(ctx, "read history", func(c *conn) error {
		out = nil
		return c.exchange(ctx, call{
			statement: selectHistory,
			args:      append(refValues(ref), instantValue(now), int8Value(int64(limit))),
			row: func(r *record) {
				e := store.HistoryEntry{Ref: ref}
				e.Generation = timer.Generation(r.int8())
				e.Attempt = timer.Attempt(r.int4())
				e.Outcome = store.Outcome(r.text())
				e.ExecuteAt, _ = r.instant()
				e.NextAt, _ = r.instant()
				e.StartedAt, _ = r.instant()
				e.FinishedAt, _ = r.instant()
				e.StatusCode = int(r.int4())
				e.Error = r.text()
				e.CorrelationID = r.text()
				out = append(out, e)
			},
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
