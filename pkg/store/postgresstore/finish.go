package postgresstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// removeTimers finishes timers in one statement: it deletes the rows by their keys and guards and writes history,
// without sending them to the client. It handles only the simple cases: the row is at the expected due_at, and its
// attempt is not in history.
var removeTimers = statement{"remove_timers", `WITH gone AS (
	DELETE FROM timers t
	USING unnest($2::bigint[], $3::timestamptz[], $4::uuid[], $5::bigint[], $6::bigint[], $7::integer[], $8::text[],
		$9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::integer[], $13::text[], $14::boolean[])
		WITH ORDINALITY AS a(shard_id, due_at, timer_uuid, revision, generation, attempt, outcome,
			started_at, finished_at, expires_at, status_code, error, keeps, place)
	WHERE ` + atKey + `
		AND CASE WHEN a.revision <> 0 THEN t.revision = a.revision ELSE t.generation = a.generation END
		AND NOT EXISTS (SELECT FROM timer_history h
			WHERE h.shard_id = t.shard_id AND h.timer_uuid = t.timer_uuid AND h.generation = t.generation AND h.attempt = a.attempt)
	RETURNING a.place, a.attempt, a.outcome, a.started_at, a.finished_at, a.expires_at, a.status_code, a.error, t.shard_id,
		t.timer_uuid, t.generation, t.namespace, t.timer_id, t.execute_at, t.deliver, t.callback_url, t.callback_timeout_ms,
		t.retry_policy,
		CASE WHEN a.outcome = 'dead' THEN t.payload WHEN a.keeps THEN coalesce(t.payload, '') END AS payload,
		t.correlation_id, t.due_at, t.revision, t.created_at,
		t.headers, t.topic, t.event_key, t.options, t.updated_at > a.finished_at - ` + endMargin + ` AS recent
), kept AS (
	INSERT INTO timer_history (shard_id, timer_uuid, generation, attempt, outcome, started_at, finished_at, status_code, error,
		expires_at, dead_until, marked_at, namespace, timer_id, execute_at, deliver, callback_url, callback_timeout_ms,
		retry_policy, payload, correlation_id, due_at, revision, created_at, updated_at, headers, topic, event_key,
		options)
	SELECT shard_id, timer_uuid, generation, attempt, outcome, started_at, ` + finishedAt("a.recent", "$1") + `, status_code, error,
		CASE WHEN outcome = 'dead' THEN 'infinity' ELSE expires_at END, CASE WHEN outcome = 'dead' THEN expires_at END,
		CASE WHEN outcome = 'dead' THEN $1::timestamptz END, namespace, timer_id, execute_at, deliver,
		callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, due_at, revision, created_at, $1, headers,
		topic, event_key, options
	FROM gone a
)
SELECT place FROM gone`}

// Finish implements store.Outcomes. Nearly all outcomes are final, and one statement handles nearly all of these. The
// remaining items are applied with their rows locked.
func (s *Store) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	out := make([]error, len(items))
	ends, rest := splitEnds(items)
	taken := 0
	if len(ends) > 0 {
		left := make([]bool, len(ends))
		err := s.write(ctx, "finish timers", snapshot, func(t *transaction) error {
			for i := range left {
				left[i] = true
			}
			return t.commit(ctx, removeCall(now, items, ends, left))
		})
		if err != nil {
			return nil, err
		}
		for i, place := range ends {
			if left[i] {
				rest = append(rest, place)
			} else {
				taken++
			}
		}
	}
	if len(rest) == 0 {
		return out, nil
	}
	slices.Sort(rest)
	err := s.write(ctx, "finish timers", snapshot, func(t *transaction) error { return t.finishLocked(ctx, now, items, rest, out) })
	if err != nil {
		if taken > 0 {
			err = halfDone(err)
		}
		return nil, err
	}
	return out, nil
}

// splitEnds returns the items with a final outcome, without a follow-up, of a timer that occurs once in the batch, sorted by row,
// and all other items.
func splitEnds(items []store.Finish) (ends, rest []int) {
	times := make(map[store.Ref]int, len(items))
	for i := range items {
		times[items[i].Ref]++
	}
	for i := range items {
		f := &items[i]
		if (f.Kind == store.FinishDone || f.Kind == store.FinishDead) && times[f.Ref] == 1 && f.FollowUp == nil {
			ends = append(ends, i)
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortFunc(ends, func(a, b int) int { return byRef(items[a].Ref, items[b].Ref) })
	return ends, rest
}

func removeCall(now timer.Millis, items []store.Finish, ends []int, left []bool) call {
	n := len(ends)
	at := func(i int) *store.Finish { return &items[ends[i]] }
	ref := func(i int) store.Ref { return at(i).Ref }
	return call{
		statement: removeTimers,
		args: [][]byte{
			instantValue(now),
			refShards(n, ref),
			instants(n, func(i int) timer.Millis { return at(i).DueAt }),
			refUUIDs(n, ref),
			int8s(n, func(i int) int64 { return int64(at(i).If.Revision) }),
			int8s(n, func(i int) int64 { return int64(at(i).If.Generation) }),
			int4s(n, func(i int) int32 { return int32(at(i).Record.Attempt) }),
			texts(n, func(i int) string { return string(engine.OutcomeOf(at(i).Kind)) }),
			instants(n, func(i int) timer.Millis { return at(i).Record.StartedAt }),
			instants(n, func(i int) timer.Millis { return at(i).Record.FinishedAt }),
			instants(n, func(i int) timer.Millis { return engine.ExpiresAt(&at(i).Record) }),
			int4s(n, func(i int) int32 { return int32(at(i).Record.StatusCode) }),
			texts(n, func(i int) string { return errorText(at(i).Record.Error) }),
			bools(n, func(i int) bool { return engine.KeepsPayload(at(i)) }),
		},
		row: func(r *record) {
			place := r.int8() - 1
			if place < 0 || place >= int64(n) {
				r.failf("the server finished timer %d of %d", place, n)
				return
			}
			left[place] = false
		},
	}
}

// finishLocked locks the rows of the items at the given places, applies the items, and commits.
func (t *transaction) finishLocked(ctx context.Context, now timer.Millis, items []store.Finish, places []int, out []error) error {
	refs := make([]store.Ref, 0, 2*len(places))
	for _, place := range places {
		refs = append(refs, items[place].Ref)
		if next := items[place].FollowUp; next != nil {
			refs = append(refs, next.Ref)
		}
	}
	l, err := t.lock(ctx, now, refs)
	if err != nil {
		return err
	}
	for _, i := range places {
		f := items[i]
		f.Record.Error = errorText(f.Record.Error)
		out[i] = l.slots[f.Ref].Finish(now, &f)
		if out[i] == nil && f.FollowUp != nil {
			l.slots[f.FollowUp.Ref].Apply(now, *f.FollowUp)
		}
	}
	return t.flush(ctx, l)
}
