package sqlitestore

import (
	"database/sql"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerColumns are the columns of a live row that scanTimer reads, in its order. The outbox entry of a parked row is
// not part of the timer.
const timerColumns = `shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, status, due_at, revision,
	generation, attempts, starts, created_at, updated_at, executed_at, last_status, last_error, headers, topic, event_key,
	coalesce(planned_at, due_at)`

// endColumns are the same columns of a history row: the timer after the attempt. They are valid for done and dead
// timers only.
const endColumns = `shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, outcome, due_at, revision,
	generation, attempt, 0, created_at, updated_at, started_at, status_code, error, headers, topic, event_key, due_at`

const selectLive = "SELECT " + timerColumns + " FROM timers WHERE shard = ? AND uuid = ?"

// scanTimer reads timerColumns or endColumns. The columns that the statement selects before them are read into dest.
func (c *conn) scanTimer(rows *sql.Rows, dest ...any) (timer.Timer, shard.ID, error) {
	var t timer.Timer
	var id, timeout, attempts, starts, lastStatus int64 // scanning into int64 is cheaper than into other integer types
	var policy string
	var correlation, headers, topic, key sql.NullString
	dest = append(dest,
		&id, (*uuidColumn)(&t.UUID), &t.Namespace, &t.ID, &t.ExecuteAt, (*string)(&t.Deliver), &t.CallbackURL,
		&timeout, &policy, &t.Payload, &correlation, (*string)(&t.Status), &t.DueAt, &t.Revision,
		&t.Generation, &attempts, &starts, &t.CreatedAt, &t.UpdatedAt, &t.ExecutedAt, &lastStatus, &t.LastError, &headers,
		&topic, &key, &t.PlannedAt)
	if err := rows.Scan(dest...); err != nil {
		return timer.Timer{}, 0, err
	}
	t.CallbackTimeout = time.Duration(timeout)
	t.CorrelationID = correlation.String
	t.Headers = timer.Headers(headers.String)
	t.Topic, t.EventKey = topic.String, key.String
	t.Attempts = timer.Attempt(attempts)
	t.Starts = int(starts)
	t.LastStatus = int(lastStatus)
	var err error
	t.Retry, err = c.policies.Parse(policy)
	return t, shard.ID(id), err
}

// timer reads the first row of a query that selects timerColumns or endColumns.
func (c *conn) timer(query string, args ...any) (t timer.Timer, found bool, err error) {
	return c.timerWith(nil, query, args...)
}

// timerWith also reads into dest the columns that the query selects before these columns.
func (c *conn) timerWith(dest []any, query string, args ...any) (t timer.Timer, found bool, err error) {
	err = c.each(func(rows *sql.Rows) error {
		found = true
		if t, _, err = c.scanTimer(rows, dest...); err != nil {
			return err
		}
		return errStop
	}, query, args...)
	return t, found, err
}
