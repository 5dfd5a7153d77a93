package postgresstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// createTimers is the only statement of a batch of creates whose ids are new, which are nearly all. Existing rows are
// not changed and are not in the answer.
var createTimers = statement{"create_timers", `INSERT INTO timers (shard_id, timer_uuid, namespace, timer_id, execute_at, deliver,
	callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, status, due_at, revision, generation,
	attempts, starts, created_at, updated_at, last_status, last_error, headers, topic, event_key, target,
	options)
SELECT a.shard_id, a.timer_uuid, a.namespace, a.timer_id, a.execute_at, a.deliver,
	a.callback_url, a.callback_timeout_ms, a.retry_policy, a.payload, a.correlation_id, 'scheduled',
	greatest(a.execute_at, $1::timestamptz), a.revision, a.revision AS generation, 0, 0, $1, $1, 0, '', a.headers,
	a.topic, a.event_key, a.target, a.options
FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::integer[],
	$10::text[], $11::bytea[], $12::text[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::bigint[],
	$18::text[])
	AS a(shard_id, timer_uuid, namespace, timer_id, execute_at, deliver, callback_url, callback_timeout_ms,
		retry_policy, payload, correlation_id, revision, headers, topic, event_key, target, options)
ON CONFLICT DO NOTHING RETURNING shard_id, timer_uuid`}

// Write implements store.Timers. Creates whose ids occur once in the batch run first, in one statement. The remaining
// operations (other kinds, and creates that found a row) are applied with their rows locked. No timer is in both parts,
// so the operations on each timer keep their order.
func (s *Store) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	out := make([]store.Written, len(ops))
	creates, rest := split(ops)
	var left []int
	if len(creates) > 0 {
		err := s.write(ctx, "write timers", latest, func(t *transaction) error {
			b := createBatch{now: now, ops: creates, out: out}
			err := t.commit(ctx, b.call())
			left = b.left()
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	rest = append(rest, left...)
	if len(rest) == 0 {
		return out, nil
	}
	slices.Sort(rest)
	err := s.write(ctx, "write timers", snapshot, func(t *transaction) error {
		return t.writeLocked(ctx, now, ops, rest, out)
	})
	if err != nil {
		if len(left) < len(creates) {
			err = halfDone(err)
		}
		return nil, err
	}
	return out, nil
}

// created is a create and its place in the batch.
type created struct {
	*store.Put

	place int
}

// split returns the creates that can run in one statement, sorted by row, and the places of all other operations.
func split(ops []store.Op) (creates []created, rest []int) {
	times := make(map[store.Ref]int, len(ops))
	for _, op := range ops {
		if ref, err := engine.RefOf(op); err == nil {
			times[ref]++
		}
	}
	for i, op := range ops {
		put, ok := op.(store.Put)
		if ok && put.OnConflict == store.Replace && times[put.Ref] == 1 {
			creates = append(creates, created{&put, i})
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortFunc(creates, func(a, b created) int { return byRef(a.Ref, b.Ref) })
	return creates, rest
}

// createBatch is one statement of creates.
type createBatch struct {
	now timer.Millis
	ops []created
	out []store.Written

	made []bool
	at   int // the index of the next expected row: the answer has the order of ops
}

func (b *createBatch) call() call {
	n := len(b.ops)
	b.made, b.at = make([]bool, n), 0
	ref := func(i int) store.Ref { return b.ops[i].Ref }
	var policies policyMemo
	return call{
		statement: createTimers,
		args: [][]byte{
			instantValue(b.now),
			refShards(n, ref),
			refUUIDs(n, ref),
			texts(n, func(i int) string { return b.ops[i].Namespace }),
			texts(n, func(i int) string { return b.ops[i].ID }),
			instants(n, func(i int) timer.Millis { return b.ops[i].Spec.ExecuteAt }),
			texts(n, func(i int) string { return string(b.ops[i].Spec.Deliver) }),
			texts(n, func(i int) string { return b.ops[i].Spec.CallbackURL }),
			int4s(n, func(i int) int32 { return millis32(b.ops[i].Spec.CallbackTimeout) }),
			texts(n, func(i int) string { return policies.Format(&b.ops[i].Spec.Retry) }),
			byteas(n, func(i int) []byte { return b.ops[i].Spec.Payload }),
			textsOrNull(n, func(i int) string { return b.ops[i].Spec.CorrelationID }),
			int8s(n, func(i int) int64 { return int64(b.ops[i].Revision) }),
			textsOrNull(n, func(i int) string { return string(b.ops[i].Spec.Headers) }),
			textsOrNull(n, func(i int) string { return b.ops[i].Spec.Topic }),
			textsOrNull(n, func(i int) string { return b.ops[i].Spec.EventKey }),
			int8s(n, func(i int) int64 { return int64(b.ops[i].Spec.Target()) }),
			textsOrNull(n, func(i int) string { return engine.FormatOptions(&timer.Timer{Spec: b.ops[i].Spec}) }),
		},
		row: b.read,
	}
}

// read processes one row of the answer: the next create that created a timer.
func (b *createBatch) read(r *record) {
	ref := readRef(r)
	for ; b.at < len(b.ops); b.at++ {
		if b.ops[b.at].Ref == ref {
			b.made[b.at] = true
			b.at++
			return
		}
	}
	r.failf("the server created timer %s out of order", ref.UUID)
}

// left answers the creates that created a timer and returns the places of the others.
func (b *createBatch) left() (places []int) {
	for i, op := range b.ops {
		if b.made[i] {
			b.out[op.place] = store.Written{Timer: engine.NewTimer(b.now, op.Put)}
		} else {
			places = append(places, op.place)
		}
	}
	return places
}

func readRef(r *record) store.Ref {
	ref := store.Ref{Shard: shard.ID(r.int8())}
	ref.UUID = r.uuid()
	return ref
}
