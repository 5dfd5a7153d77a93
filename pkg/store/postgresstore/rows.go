package postgresstore

import (
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerColumns are the columns of a live row t, and endColumns those of a history row h.
var (
	timerColumns = dialect.LiveColumns("t.")
	endColumns   = dialect.EndColumns("h.")
)

// These conditions join a table with the array parameters a of a batch. They compare shard_id with an array of one
// element instead of a value: for an equality the planner also considers a scan of the whole index in the order of
// shard_id. It prefers that scan if the table was small when the server last analyzed it, and keeps the plan while the
// table grows (docs/decisions/0045).
const (
	// byUUID finds a row t by its primary key.
	byUUID = "t.shard_id = ANY (ARRAY[a.shard_id]) AND t.timer_uuid = a.timer_uuid"

	// byAttempt finds a history row h by its key.
	byAttempt = `h.shard_id = ANY (ARRAY[a.shard_id]) AND h.timer_uuid = a.timer_uuid AND h.generation = a.generation
	AND h.attempt = a.attempt`

	// atKey finds a row t that is not parked by its key in timers_due, which does not contain parked rows. With equality
	// conditions either index would serve, and the planner could choose the one by uuid, in which rows that are due
	// together are spread over all pages. The planner also considers a scan of the whole index, because the index is
	// partial. place > 0 is always true, and makes it expect a batch of 3 rows instead of 10; for 10 it prefers that scan
	// while the tables are empty.
	atKey = `t.shard_id = ANY (ARRAY[a.shard_id])
	AND (t.due_at, t.timer_uuid) BETWEEN (a.due_at, a.timer_uuid) AND (a.due_at, a.timer_uuid)
	AND t.status <> 'parked' AND a.place > 0`
)

// scanner reads the timers of one answer.
type scanner struct{ policies policyMemo }

func (s *scanner) timer(r *record) (timer.Timer, shard.ID) {
	var t timer.Timer
	id := shard.ID(r.int8())
	t.UUID = r.uuid()
	t.Namespace = r.text()
	t.ID = r.text()
	t.ExecuteAt, _ = r.instant()
	t.Deliver = timer.Deliver(r.text())
	t.CallbackURL = r.text()
	t.CallbackTimeout = time.Duration(r.int4()) * time.Millisecond
	t.Retry = s.policies.read(r)
	t.Payload = r.bytes()
	t.CorrelationID = r.text()
	t.Status = statusOf(r)
	t.DueAt, _ = r.instant()
	t.Revision = timer.Revision(r.int8())
	t.Generation = timer.Generation(r.int8())
	t.Attempts = timer.Attempt(r.int4())
	t.Starts = int(r.int4())
	t.CreatedAt, _ = r.instant()
	t.UpdatedAt, _ = r.instant()
	t.ExecutedAt, _ = r.instant()
	t.LastStatus = int(r.int4())
	t.LastError = r.text()
	t.Headers = timer.Headers(r.text())
	t.Topic = r.text()
	t.EventKey = r.text()
	if err := engine.ParseOptions(r.text(), &t); err != nil {
		r.failf("%w", err)
	}
	t.PlannedAt, _ = r.instant()
	return t, id
}

// statusOf reads a status without allocating a string.
func statusOf(r *record) timer.Status {
	for _, s := range [...]timer.Status{
		timer.StatusScheduled, timer.StatusRetrying, timer.StatusParked, timer.StatusDone, timer.StatusDead,
	} {
		if r.isText(string(s)) {
			r.at++
			return s
		}
	}
	return timer.Status(r.text())
}

// storable replaces bytes that PostgreSQL does not store in a text. Receivers may send any bytes in errors.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// errorText returns an error text as it is stored. It is truncated twice, because replacing bytes may make it longer.
func errorText(text string) string { return store.CutError(storable(store.CutError(text))) }

// byRef is the order in which rows are locked, so that concurrent batches do not deadlock.
func byRef(a, b store.Ref) int {
	if a.Shard != b.Shard {
		if a.Shard < b.Shard {
			return -1
		}
		return 1
	}
	return a.UUID.Compare(b.UUID)
}

func refShards(n int, ref func(i int) store.Ref) []byte {
	return int8s(n, func(i int) int64 { return int64(ref(i).Shard) })
}

func refUUIDs(n int, ref func(i int) store.Ref) []byte {
	return uuids(n, func(i int) timer.UUID { return ref(i).UUID })
}

// millis32 returns a callback timeout as it is stored, in milliseconds. The largest is five minutes.
func millis32(d time.Duration) int32 { return int32(d.Milliseconds()) }
