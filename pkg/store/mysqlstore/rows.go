package mysqlstore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerColumns are the columns that live rows and history have in common, in the order of timerArgs.
const timerColumns = "shard_id, uuid, namespace, timer_id, execute_at, deliver, callback_url, callback_timeout_ms, retry_policy, " +
	"payload, correlation_id, due_at, revision, generation, created_at, updated_at, headers, topic, event_key, options"

// liveColumns are the columns of a live row, in the order of liveArgs, and attemptColumns those of history, in the order of
// attemptArgs.
const (
	liveColumns = timerColumns + ", status, poll_at, attempts, starts, executed_at, last_status, last_error, target, marked_at, " +
		"planned_at, leased"
	attemptColumns = timerColumns + ", attempt, outcome, next_at, started_at, finished_at, status_code, error, expires_at, purge_at, " +
		"marked_at"
)

func (c *conn) timerArgs(id shard.ID, t *timer.Timer, updatedAt timer.Millis) []any {
	return []any{
		int64(id), t.UUID[:], text(t.Namespace), text(t.ID), int64(t.ExecuteAt), text(t.Deliver), text(t.CallbackURL),
		t.CallbackTimeout.Milliseconds(), c.policies.Format(&t.Retry), t.Payload, textOrNull(t.CorrelationID), int64(t.DueAt),
		int64(t.Revision), int64(t.Generation), int64(t.CreatedAt), int64(updatedAt), textOrNull(t.Headers), textOrNull(t.Topic),
		textOrNull(t.EventKey), textOrNull(engine.FormatOptions(t)),
	}
}

func (c *conn) liveArgs(id shard.ID, row *engine.Row) []any {
	t := &row.Timer
	var pollAt any
	if !t.Status.Held() {
		pollAt = int64(t.DueAt)
	}
	return append(c.timerArgs(id, t, t.UpdatedAt), text(engine.StoredStatus(t.Status)), pollAt, int64(t.Attempts), int64(t.Starts),
		int64(t.ExecutedAt), int64(t.LastStatus), text(t.LastError), int64(t.Target()), timeOrNull(row.MarkedAt),
		timeOrNull(row.PlannedAt()), row.Leased)
}

func (c *conn) attemptArgs(a *engine.Attempt) []any {
	purgeAt := timeOrNull(a.ExpiresAt)
	if a.MarkedAt != 0 {
		purgeAt = nil
	}
	return append(c.timerArgs(a.Ref.Shard, &a.Timer, a.UpdatedAt), int64(a.Attempt), text(a.Outcome), int64(a.NextAt),
		int64(a.StartedAt), int64(a.FinishedAt), int64(a.StatusCode), text(a.Error), int64(a.ExpiresAt), purgeAt, timeOrNull(a.MarkedAt))
}

// text returns a text as bytes, because a text with invalid UTF-8 is not allowed in a statement.
func text[T ~string](s T) []byte { return []byte(s) }

// textOrNull stores an empty text as NULL.
func textOrNull[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// timeOrNull stores a zero as NULL.
func timeOrNull(m timer.Millis) any {
	if m == 0 {
		return nil
	}
	return int64(m)
}

// The statements that write rows. Each is followed by a list of rows, and then by what happens to rows that exist.
var (
	insertTimers  = "INSERT INTO timers (" + liveColumns + ") VALUES "
	insertHistory = "INSERT INTO history (" + attemptColumns + ") VALUES "

	replaceTimers = " ON DUPLICATE KEY UPDATE " + assign(liveColumns, timerKey, "%s = VALUES(%s)")
	// replaceAllButPayload is for rows whose payload was not read.
	replaceAllButPayload = " ON DUPLICATE KEY UPDATE " + assign(liveColumns, append(timerKey, "payload"), "%s = VALUES(%s)")
	// keepFinal replaces failed attempts only. The assignments are executed in order, so the outcome is the last one.
	keepFinal = " ON DUPLICATE KEY UPDATE " + assign(attemptColumns, []string{"shard_id", "uuid", "generation", "attempt", "outcome"},
		"%s = IF("+relational.IsReplaceable+", VALUES(%s), %s)") +
		", outcome = IF(" + relational.IsReplaceable + ", VALUES(outcome), outcome)"
)

// timerKey are the columns that a write of an existing row does not change.
var timerKey = []string{"shard_id", "uuid", "namespace", "timer_id"}

// assign returns an assignment for each column, except some.
func assign(columns string, except []string, format string) string {
	var out []string
	for column := range strings.SplitSeq(columns, ", ") {
		if !slices.Contains(except, column) {
			out = append(out, strings.ReplaceAll(format, "%s", column))
		}
	}
	return strings.Join(out, ", ")
}

// compareRefs orders refs as the primary key does.
func compareRefs(a, b store.Ref) int {
	return cmp.Or(cmp.Compare(a.Shard, b.Shard), bytes.Compare(a.UUID[:], b.UUID[:]))
}
