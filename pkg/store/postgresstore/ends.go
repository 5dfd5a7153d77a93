package postgresstore

import (
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// selectEnds reads the last final outcome of each timer. For each timer it sorts the history of that timer only.
//
//nolint:unqueryvet // the columns are named inside
var selectEnds = statement{"select_ends", `SELECT e.* FROM unnest($1::bigint[], $2::uuid[]) AS a(shard_id, timer_uuid)
CROSS JOIN LATERAL (
	SELECT ` + endColumns + ` FROM timer_history h
	WHERE h.shard_id = a.shard_id AND h.timer_uuid = a.timer_uuid AND h.` + relational.IsEnd + ` AND ` + unexpired("$3") + `
	ORDER BY h.finished_at DESC, h.attempt DESC, h.generation DESC LIMIT 1) e`}

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
