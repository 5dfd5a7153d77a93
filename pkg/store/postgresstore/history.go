package postgresstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
WHERE ` + byAttempt + ` AND h.outcome = 'failed'`}

	// insertHistory inserts nothing if the attempt has final history.
	insertHistory = statement{"insert_history", `INSERT INTO timer_history (shard_id, timer_uuid, generation, attempt, outcome, next_at,
	started_at, finished_at, status_code, error, expires_at, marked_at, namespace, timer_id, execute_at, deliver,
	callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, due_at, revision, created_at, updated_at,
	headers, topic, event_key, dead_until)
SELECT a.shard_id, a.timer_uuid, a.generation, a.attempt, a.outcome, a.next_at, a.started_at,
	` + finishedAt("a.recent", "a.updated_at") + `, a.status_code, a.error, a.expires_at, a.marked_at, a.namespace, a.timer_id,
	a.execute_at, a.deliver, a.callback_url, a.callback_timeout_ms, a.retry_policy, a.payload, a.correlation_id, a.due_at,
	a.revision, a.created_at, a.updated_at, a.headers, a.topic, a.event_key, a.dead_until
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::integer[], $5::text[], $6::timestamptz[],
	$7::timestamptz[], $8::timestamptz[], $9::integer[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::text[],
	$14::text[], $15::timestamptz[], $16::text[], $17::text[], $18::integer[], $19::text[], $20::bytea[], $21::text[],
	$22::timestamptz[], $23::bigint[], $24::timestamptz[], $25::timestamptz[], $26::text[], $27::text[],
	$28::text[], $29::timestamptz[], $30::boolean[])
	AS a(shard_id, timer_uuid, generation, attempt, outcome, next_at, started_at, finished_at, status_code, error,
		expires_at, marked_at, namespace, timer_id, execute_at, deliver, callback_url, callback_timeout_ms, retry_policy,
		payload, correlation_id, due_at, revision, created_at, updated_at, headers, topic, event_key, dead_until, recent)
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
		WHERE h.shard_id = a.shard_id AND h.timer_uuid = a.timer_uuid AND h.outcome IN ('done', 'dead') AND ` + unexpired(now) + `
			AND h.generation >= coalesce((SELECT l.generation FROM timer_history l
				WHERE l.shard_id = a.shard_id AND l.timer_uuid = a.timer_uuid
				ORDER BY l.generation DESC OFFSET 99 LIMIT 1), 0))) ELSE a.finished_at END`
}

// attemptKey is the unique key in a timer's history.
type attemptKey struct {
	generation timer.Generation
	attempt    timer.Attempt
}

// historyRow is one attempt, and the timer at that time.
type historyRow struct {
	entry             store.HistoryEntry
	timer             timer.Timer
	updatedAt         timer.Millis
	expiresAt, markAt timer.Millis
	// deadUntil is when a dead timer expires. Its expiresAt is Never.
	deadUntil timer.Millis
	// recent is set if finishedAt may be before that of the previous final outcome.
	recent  bool
	payload []byte
}

// record adds an attempt. If the batch has several for the same attempt, the first final one is kept.
func (s *slot) record(h *historyRow) {
	key := attemptKey{h.entry.Generation, h.entry.Attempt}
	if old := s.history[key]; old != nil && old.entry.Outcome.Final() {
		return
	}
	if s.history == nil {
		s.history = map[attemptKey]*historyRow{}
	}
	s.history[key] = h
}

func (s *slot) newHistory() []*historyRow {
	return slices.SortedFunc(maps.Values(s.history), func(a, b *historyRow) int {
		return cmp.Or(cmp.Compare(a.entry.Generation, b.entry.Generation), cmp.Compare(a.entry.Attempt, b.entry.Attempt))
	})
}

func historyCalls(rows []*historyRow) []call {
	n := len(rows)
	if n == 0 {
		return nil
	}
	at := func(i int) *historyRow { return rows[i] }
	ref := func(i int) store.Ref { return rows[i].entry.Ref }
	key := [][]byte{
		refShards(n, ref),
		refUUIDs(n, ref),
		int8s(n, func(i int) int64 { return int64(at(i).entry.Generation) }),
		int4s(n, func(i int) int32 { return int32(at(i).entry.Attempt) }),
	}
	var policies policyMemo
	return []call{
		{statement: giveWay, args: key},
		{statement: insertHistory, args: append(slices.Clip(key),
			texts(n, func(i int) string { return string(at(i).entry.Outcome) }),
			instantsOrNull(n, func(i int) timer.Millis { return at(i).entry.NextAt }),
			instants(n, func(i int) timer.Millis { return at(i).entry.StartedAt }),
			instants(n, func(i int) timer.Millis { return at(i).entry.FinishedAt }),
			int4s(n, func(i int) int32 { return int32(at(i).entry.StatusCode) }),
			texts(n, func(i int) string { return at(i).entry.Error }),
			instants(n, func(i int) timer.Millis { return at(i).expiresAt }),
			instantsOrNull(n, func(i int) timer.Millis { return at(i).markAt }),
			texts(n, func(i int) string { return at(i).timer.Namespace }),
			texts(n, func(i int) string { return at(i).timer.ID }),
			instants(n, func(i int) timer.Millis { return at(i).timer.ExecuteAt }),
			texts(n, func(i int) string { return string(at(i).timer.Deliver) }),
			texts(n, func(i int) string { return at(i).timer.CallbackURL }),
			int4s(n, func(i int) int32 { return millis32(at(i).timer.CallbackTimeout) }),
			texts(n, func(i int) string { return policies.Format(&at(i).timer.Retry) }),
			byteas(n, func(i int) []byte { return at(i).payload }),
			textsOrNull(n, func(i int) string { return at(i).timer.CorrelationID }),
			instants(n, func(i int) timer.Millis { return at(i).timer.DueAt }),
			int8s(n, func(i int) int64 { return int64(at(i).timer.Revision) }),
			instants(n, func(i int) timer.Millis { return at(i).timer.CreatedAt }),
			instants(n, func(i int) timer.Millis { return at(i).updatedAt }),
			textsOrNull(n, func(i int) string { return string(at(i).timer.Headers) }),
			textsOrNull(n, func(i int) string { return at(i).timer.Topic }),
			textsOrNull(n, func(i int) string { return at(i).timer.EventKey }),
			instantsOrNull(n, func(i int) timer.Millis { return at(i).deadUntil }),
			bools(n, func(i int) bool { return at(i).recent }),
		)},
	}
}
