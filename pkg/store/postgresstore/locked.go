package postgresstore

import (
	"context"
	"maps"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Operations that cannot be a single statement are three steps of one transaction: read and lock the rows of the batch,
// in order; apply the batch to them in memory, item by item; write the results. Between the first and the last step, no
// other transaction changes the rows.
//
// A row that does not exist cannot be locked. If another transaction creates it concurrently, the insert detects it and
// the transaction runs again. If another transaction creates it and finishes it, the insert succeeds and the snapshot
// does not show it. So an insert that depends on the final outcome of the timer, or on its absence, reads that outcome
// again outside the snapshot (lookAgain).

var (
	lockTimers = statement{"lock_timers", "SELECT " + timerColumns + `, t.marked_at, t.leased
FROM unnest($1::bigint[], $2::uuid[]) AS a(shard_id, timer_uuid)
JOIN timers t ON ` + byUUID + `
FOR UPDATE OF t`}

	insertTimers = statement{"insert_timers", `INSERT INTO timers (shard_id, timer_uuid, namespace, timer_id, execute_at, deliver,
	callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, status, due_at, revision, generation,
	attempts, starts, created_at, updated_at, executed_at, marked_at, last_status, last_error, headers,
	topic, event_key, planned_at, leased, target, options)
SELECT a.* FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[],
	$7::text[], $8::integer[], $9::text[], $10::bytea[], $11::text[], $12::text[], $13::timestamptz[], $14::bigint[], $15::bigint[],
	$16::integer[], $17::integer[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[], $21::timestamptz[],
	$22::integer[], $23::text[], $24::text[], $25::text[], $26::text[], $27::timestamptz[], $28::boolean[], $29::bigint[],
	$30::text[]) AS a
ON CONFLICT DO NOTHING`}

	// replaceTimers writes all columns except the key and the ids. An unchanged payload is not sent.
	replaceTimers = statement{"replace_timers", `UPDATE timers t SET execute_at = a.execute_at, deliver = a.deliver,
	callback_url = a.callback_url, callback_timeout_ms = a.callback_timeout_ms, retry_policy = a.retry_policy,
	payload = CASE WHEN a.same_payload THEN t.payload ELSE a.payload END, correlation_id = a.correlation_id,
	status = a.status, due_at = a.due_at, revision = a.revision, generation = a.generation, attempts = a.attempts,
	starts = a.starts, created_at = a.created_at, updated_at = a.updated_at,
	executed_at = a.executed_at, marked_at = a.marked_at, last_status = a.last_status, last_error = a.last_error,
	headers = a.headers, topic = a.topic, event_key = a.event_key, planned_at = a.planned_at, leased = a.leased,
	target = a.target, options = a.options
FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[],
	$7::text[], $8::integer[], $9::text[], $10::bytea[], $11::text[], $12::text[], $13::timestamptz[], $14::bigint[], $15::bigint[],
	$16::integer[], $17::integer[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[], $21::timestamptz[],
	$22::integer[], $23::text[], $24::text[], $25::text[], $26::text[], $27::timestamptz[], $28::boolean[],
	$29::bigint[], $30::text[], $31::boolean[]) AS a(shard_id, timer_uuid, namespace,
	timer_id, execute_at, deliver, callback_url, callback_timeout_ms, retry_policy, payload, correlation_id, status, due_at,
	revision, generation, attempts, starts, created_at, updated_at, executed_at, marked_at, last_status, last_error, headers,
	topic, event_key, planned_at, leased, target, options, same_payload)
WHERE ` + byUUID}

	deleteTimers = statement{"delete_timers", `DELETE FROM timers t USING unnest($1::bigint[], $2::uuid[]) AS a(shard_id, timer_uuid)
WHERE ` + byUUID}
)

// slot is a row of the batch.
type slot struct {
	engine.Slot

	times int  // how often it occurs in the batch
	asked bool // readEnds has read Ended
}

// locked has the locked rows of a batch.
type locked struct {
	now   timer.Millis
	slots map[store.Ref]*slot
}

// lock reads and locks the existing rows.
func (t *transaction) lock(ctx context.Context, now timer.Millis, refs []store.Ref) (*locked, error) {
	l := &locked{now: now, slots: make(map[store.Ref]*slot, len(refs))}
	for _, ref := range refs {
		if l.slots[ref] == nil {
			l.slots[ref] = &slot{Slot: engine.Slot{Ref: ref}}
		}
		l.slots[ref].times++
	}
	ordered := slices.SortedFunc(maps.Keys(l.slots), byRef)
	var scan scanner
	err := t.exchange(ctx, call{
		statement: lockTimers,
		args:      refArgs(ordered),
		row: func(r *record) {
			var found engine.Row
			var ref store.Ref
			found.Timer, ref.Shard = scan.timer(r)
			ref.UUID = found.Timer.UUID
			found.MarkedAt, _ = r.instant()
			found.Leased = r.bool()
			s := l.slots[ref]
			if s == nil {
				r.failf("the server locked timer %s, which was not requested", ref.UUID)
				return
			}
			s.Read(found)
		},
	})
	return l, err
}

// readEnds reads the last final outcomes of those timers that have no row, or whose row may be deleted within the
// batch.
func (t *transaction) readEnds(ctx context.Context, l *locked, refs []store.Ref) error {
	var asked []store.Ref
	for _, ref := range refs {
		if s := l.slots[ref]; !s.asked && (s.Was == nil || s.times > 1) {
			s.asked = true
			asked = append(asked, ref)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	slices.SortFunc(asked, byRef)
	found := func(ref store.Ref, end *timer.Timer) { l.slots[ref].Ended = end }
	return t.exchange(ctx, endsCall(l.now, asked, found))
}

// lookAgain checks rows that were just inserted, so that from now on no other transaction creates or finishes these
// timers. A transaction that did so before has committed, so another connection sees it. If the result differs from
// that of readEnds, the transaction must run again.
func (t *transaction) lookAgain(ctx context.Context, now timer.Millis, made []*slot) error {
	var refs []store.Ref
	before := map[store.Ref]*timer.Timer{}
	for _, s := range made {
		if s.asked {
			refs = append(refs, s.Ref)
			before[s.Ref] = s.Ended
		}
	}
	if len(refs) == 0 {
		return nil
	}
	ends := map[store.Ref]*timer.Timer{}
	found := func(ref store.Ref, end *timer.Timer) { ends[ref] = end }
	if err := t.outside(ctx, endsCall(now, refs, found)); err != nil {
		return err
	}
	for _, ref := range refs {
		if !sameEnd(before[ref], ends[ref]) {
			return errStale
		}
	}
	return nil
}

func sameEnd(a, b *timer.Timer) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Generation == b.Generation && a.Revision == b.Revision && a.Attempts == b.Attempts && a.Status == b.Status
}

// flush writes the changes of the rows and commits.
func (t *transaction) flush(ctx context.Context, l *locked, more ...call) error {
	var gone, made, changed []*slot
	var history []*engine.Attempt
	for _, ref := range slices.SortedFunc(maps.Keys(l.slots), byRef) {
		s := l.slots[ref]
		switch {
		case !s.Changed(): // unchanged, or never existed
		case s.Is == nil:
			gone = append(gone, s)
		case s.Was == nil:
			made = append(made, s)
		default:
			changed = append(changed, s)
		}
		history = append(history, s.Attempts()...)
	}
	if len(made) > 0 {
		var inserted int64
		args := slotArgs(made)
		if err := t.exchange(ctx, call{statement: insertTimers, args: args[:len(args)-1], changed: &inserted}); err != nil {
			return err
		}
		if inserted != int64(len(made)) {
			return errStale
		}
		if err := t.lookAgain(ctx, l.now, made); err != nil {
			return err
		}
	}
	calls := historyCalls(history)
	if len(gone) > 0 {
		refs := make([]store.Ref, len(gone))
		for i, s := range gone {
			refs[i] = s.Ref
		}
		calls = append(calls, call{statement: deleteTimers, args: refArgs(refs)})
	}
	if len(changed) > 0 {
		calls = append(calls, call{statement: replaceTimers, args: slotArgs(changed)})
	}
	return t.commit(ctx, append(calls, more...)...)
}

// refArgs returns the shards and the uuids as parameters.
func refArgs(refs []store.Ref) [][]byte {
	ref := func(i int) store.Ref { return refs[i] }
	return [][]byte{refShards(len(refs), ref), refUUIDs(len(refs), ref)}
}

// slotArgs returns all columns of rows as parameters, and whether the payload is unchanged.
func slotArgs(slots []*slot) [][]byte {
	n := len(slots)
	at := func(i int) *engine.Row { return slots[i].Is }
	ref := func(i int) store.Ref { return slots[i].Ref }
	var policies policyMemo
	return [][]byte{
		refShards(n, ref),
		refUUIDs(n, ref),
		texts(n, func(i int) string { return at(i).Timer.Namespace }),
		texts(n, func(i int) string { return at(i).Timer.ID }),
		instants(n, func(i int) timer.Millis { return at(i).Timer.ExecuteAt }),
		texts(n, func(i int) string { return string(at(i).Timer.Deliver) }),
		texts(n, func(i int) string { return at(i).Timer.CallbackURL }),
		int4s(n, func(i int) int32 { return millis32(at(i).Timer.CallbackTimeout) }),
		texts(n, func(i int) string { return policies.Format(&at(i).Timer.Retry) }),
		byteas(n, func(i int) []byte {
			if slots[i].SamePayload {
				return nil
			}
			return at(i).Timer.Payload
		}),
		textsOrNull(n, func(i int) string { return at(i).Timer.CorrelationID }),
		texts(n, func(i int) string { return string(engine.StoredStatus(at(i).Timer.Status)) }),
		instants(n, func(i int) timer.Millis { return at(i).Timer.DueAt }),
		int8s(n, func(i int) int64 { return int64(at(i).Timer.Revision) }),
		int8s(n, func(i int) int64 { return int64(at(i).Timer.Generation) }),
		int4s(n, func(i int) int32 { return int32(at(i).Timer.Attempts) }),
		int4s(n, func(i int) int32 { return int32(at(i).Timer.Starts) }),
		instants(n, func(i int) timer.Millis { return at(i).Timer.CreatedAt }),
		instants(n, func(i int) timer.Millis { return at(i).Timer.UpdatedAt }),
		instantsOrNull(n, func(i int) timer.Millis { return at(i).Timer.ExecutedAt }),
		instantsOrNull(n, func(i int) timer.Millis { return at(i).MarkedAt }),
		int4s(n, func(i int) int32 { return int32(at(i).Timer.LastStatus) }),
		texts(n, func(i int) string { return at(i).Timer.LastError }),
		textsOrNull(n, func(i int) string { return string(at(i).Timer.Headers) }),
		textsOrNull(n, func(i int) string { return at(i).Timer.Topic }),
		textsOrNull(n, func(i int) string { return at(i).Timer.EventKey }),
		instantsOrNull(n, func(i int) timer.Millis { return at(i).PlannedAt() }),
		bools(n, func(i int) bool { return at(i).Leased }),
		int8s(n, func(i int) int64 { return int64(at(i).Timer.Target()) }),
		textsOrNull(n, func(i int) string { return engine.FormatOptions(&at(i).Timer) }),
		bools(n, func(i int) bool { return slots[i].SamePayload }),
	}
}
