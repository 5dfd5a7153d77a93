package postgresstore

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// History is unique by (shard, uuid, generation, attempt), across partitions, where no index can ensure it. The timer's
// row ensures it: history is written only by a transaction that deletes or changes the row. If another transaction
// wrote history of the timer since this transaction's snapshot, it also changed the row, so this transaction fails and
// runs again. So the snapshot shows all history of the timer.

var (
	// giveWay deletes history of the same attempt that is not final.
	giveWay = statement{"give_way", `DELETE FROM timer_history h
USING unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::integer[]) AS a(shard_id, timer_uuid, generation, attempt)
WHERE ` + byAttempt + ` AND h.` + relational.IsReplaceable}

	// insertHistory inserts nothing if the attempt has final history.
	insertHistory = statement{"insert_history", `INSERT INTO timer_history (shard_id, timer_uuid, generation, attempt, outcome, next_at,
	started_at, finished_at, status_code, error, expires_at, marked_at, namespace, timer_id, execute_at, deliver,
	callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, due_at, revision, created_at, updated_at,
	headers, topic, event_key, dead_until, options)
SELECT a.shard_id, a.timer_uuid, a.generation, a.attempt, a.outcome, a.next_at, a.started_at,
	` + finishedAt("a.recent", "a.updated_at") + `, a.status_code, a.error, a.expires_at, a.marked_at, a.namespace, a.timer_id,
	a.execute_at, a.deliver, a.callback_url, a.callback_timeout_ms, a.retry_policy, a.payload, a.correlation_id, a.due_at,
	a.revision, a.created_at, a.updated_at, a.headers, a.topic, a.event_key, a.dead_until, a.options
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::integer[], $5::text[], $6::timestamptz[],
	$7::timestamptz[], $8::timestamptz[], $9::integer[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::text[],
	$14::text[], $15::timestamptz[], $16::text[], $17::text[], $18::integer[], $19::text[], $20::bytea[], $21::text[],
	$22::timestamptz[], $23::bigint[], $24::timestamptz[], $25::timestamptz[], $26::text[], $27::text[],
	$28::text[], $29::timestamptz[], $30::text[], $31::boolean[])
	AS a(shard_id, timer_uuid, generation, attempt, outcome, next_at, started_at, finished_at, status_code, error,
		expires_at, marked_at, namespace, timer_id, execute_at, deliver, callback_url, callback_timeout_ms, retry_policy,
		payload, correlation_id, due_at, revision, created_at, updated_at, headers, topic, event_key, dead_until,
		options, recent)
WHERE NOT EXISTS (SELECT FROM timer_history h
	WHERE ` + byAttempt + `)`}
)

// unexpired returns the condition that a history row h has not expired at the time. Dead timers expire at dead_until
// and not at expires_at.
func unexpired(instant string) string {
	return "h.expires_at > " + instant + " AND (h.dead_until IS NULL OR h.dead_until > " + instant + ")"
}

// endMargin is store.EndMargin as an interval.
var endMargin = fmt.Sprintf("interval '%d milliseconds'", store.EndMargin.Milliseconds())

// finishedAt returns the expression for finished_at of an attempt a: if the condition is true, at least a millisecond
// after the timer's previous final outcome. now is the statement's parameter for the present time.
func finishedAt(condition, now string) string {
	return `CASE WHEN ` + condition + ` THEN greatest(a.finished_at, (
		SELECT max(h.finished_at) + interval '1 millisecond' FROM timer_history h
		WHERE h.shard_id = a.shard_id AND h.timer_uuid = a.timer_uuid AND h.` + relational.IsEnd + ` AND ` + unexpired(now) + `
			AND h.generation > coalesce((SELECT l.generation FROM timer_history l
				WHERE l.shard_id = a.shard_id AND l.timer_uuid = a.timer_uuid
				ORDER BY l.generation DESC OFFSET ` + relational.NewestEnds + ` LIMIT 1), 0))) ELSE a.finished_at END`
}

func historyCalls(attempts []*engine.Attempt) []call {
	n := len(attempts)
	if n == 0 {
		return nil
	}
	at := func(i int) *engine.Attempt { return attempts[i] }
	ref := func(i int) store.Ref { return attempts[i].Ref }
	key := [][]byte{
		refShards(n, ref),
		refUUIDs(n, ref),
		int8s(n, func(i int) int64 { return int64(at(i).Generation) }),
		int4s(n, func(i int) int32 { return int32(at(i).Attempt) }),
	}
	var policies policyMemo
	return []call{
		{statement: giveWay, args: key},
		{statement: insertHistory, args: append(slices.Clip(key),
			texts(n, func(i int) string { return string(at(i).Outcome) }),
			instantsOrNull(n, func(i int) timer.Millis { return at(i).NextAt }),
			instants(n, func(i int) timer.Millis { return at(i).StartedAt }),
			instants(n, func(i int) timer.Millis { return at(i).FinishedAt }),
			int4s(n, func(i int) int32 { return int32(at(i).StatusCode) }),
			texts(n, func(i int) string { return at(i).Error }),
			instants(n, func(i int) timer.Millis {
				if at(i).Outcome == store.OutcomeDead {
					return timer.Never
				}
				return at(i).ExpiresAt
			}),
			instantsOrNull(n, func(i int) timer.Millis { return at(i).MarkedAt }),
			texts(n, func(i int) string { return at(i).Timer.Namespace }),
			texts(n, func(i int) string { return at(i).Timer.ID }),
			instants(n, func(i int) timer.Millis { return at(i).Timer.ExecuteAt }),
			texts(n, func(i int) string { return string(at(i).Timer.Deliver) }),
			texts(n, func(i int) string { return at(i).Timer.CallbackURL }),
			int4s(n, func(i int) int32 { return millis32(at(i).Timer.CallbackTimeout) }),
			texts(n, func(i int) string { return policies.Format(&at(i).Timer.Retry) }),
			byteas(n, func(i int) []byte { return at(i).Timer.Payload }),
			textsOrNull(n, func(i int) string { return at(i).Timer.CorrelationID }),
			instants(n, func(i int) timer.Millis { return at(i).Timer.DueAt }),
			int8s(n, func(i int) int64 { return int64(at(i).Timer.Revision) }),
			instants(n, func(i int) timer.Millis { return at(i).Timer.CreatedAt }),
			instants(n, func(i int) timer.Millis { return at(i).UpdatedAt }),
			textsOrNull(n, func(i int) string { return string(at(i).Timer.Headers) }),
			textsOrNull(n, func(i int) string { return at(i).Timer.Topic }),
			textsOrNull(n, func(i int) string { return at(i).Timer.EventKey }),
			instantsOrNull(n, func(i int) timer.Millis {
				if at(i).Outcome == store.OutcomeDead {
					return at(i).ExpiresAt
				}
				return 0
			}),
			textsOrNull(n, func(i int) string { return engine.FormatOptions(&at(i).Timer) }),
			bools(n, func(i int) bool { return at(i).Recent }),
		)},
	}
}
