package sqlitestore

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// timerColumns are what scanTimer reads, in its order, of a live row. A parked row's mark is not the
// timer's.
const timerColumns = `shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, status, due_at, revision,
	generation, attempts, starts, created_at, updated_at, executed_at, last_status, last_error, headers`

// endColumns are the same of a history row: the timer as the attempt left it. They tell the truth about
// done and dead ones only.
const endColumns = `shard, uuid, namespace, timer_id, execute_at, deliver, callback_url,
	callback_timeout_ns, retry_policy, payload, correlation_id, outcome, due_at, revision,
	generation, attempt, 0, created_at, updated_at, started_at, status_code, error, headers`

// scanTimer reads timerColumns or endColumns, and before them into dest what else the statement selects.
func (c *conn) scanTimer(rows *sql.Rows, dest ...any) (timer.Timer, shard.ID, error) {
	var t timer.Timer
	var id, timeout, attempts, starts, lastStatus int64 // scanning into int64 is cheap, into others not
	var policy string
	var correlation, headers sql.NullString
	dest = append(dest,
		&id, (*uuidColumn)(&t.UUID), &t.Namespace, &t.ID, &t.ExecuteAt, (*string)(&t.Deliver), &t.CallbackURL,
		&timeout, &policy, &t.Payload, &correlation, (*string)(&t.Status), &t.DueAt, &t.Revision,
		&t.Generation, &attempts, &starts, &t.CreatedAt, &t.UpdatedAt, &t.ExecutedAt, &lastStatus, &t.LastError, &headers)
	if err := rows.Scan(dest...); err != nil {
		return timer.Timer{}, 0, err
	}
	t.CallbackTimeout = time.Duration(timeout)
	t.CorrelationID = correlation.String
	t.Headers = timer.Headers(headers.String)
	t.Attempts = timer.Attempt(attempts)
	t.Starts = int(starts)
	t.LastStatus = int(lastStatus)
	var err error
	t.Retry, err = c.policies.parse(policy)
	return t, shard.ID(id), err
}

// timer reads the first row of a query that selects timerColumns or endColumns.
func (c *conn) timer(query string, args ...any) (t timer.Timer, found bool, err error) {
	err = c.each(func(rows *sql.Rows) error {
		found = true
		if t, _, err = c.scanTimer(rows); err != nil {
			return err
		}
		return errStop
	}, query, args...)
	return t, found, err
}

// policyMemo remembers the last policy read and written: nearly all timers of a namespace share one.
type policyMemo struct {
	text   string
	policy timer.RetryPolicy
}

// format writes a policy as the column's comment in the schema says.
func (m *policyMemo) format(p timer.RetryPolicy) string {
	if m.text == "" || m.policy != p {
		m.policy = p
		m.text = strings.Join([]string{
			strconv.Itoa(p.MaxAttempts),
			p.MaxAttemptsDuration.String(),
			p.InitialInterval.String(),
			strconv.FormatFloat(p.BackoffMultiplier, 'g', -1, 64),
			p.MaxInterval.String(),
		}, " ")
	}
	return m.text
}

func (m *policyMemo) parse(text string) (timer.RetryPolicy, error) {
	if text == m.text && text != "" {
		return m.policy, nil
	}
	p, err := parsePolicy(text)
	if err != nil {
		return p, err
	}
	m.text, m.policy = text, p
	return p, nil
}

func parsePolicy(text string) (p timer.RetryPolicy, err error) {
	fields := strings.Split(text, " ")
	if len(fields) != 5 {
		return p, fmt.Errorf("a retry policy column holds %q: want five fields", text)
	}
	number := func(field string) (n int) {
		if err == nil {
			n, err = strconv.Atoi(field)
		}
		return n
	}
	duration := func(field string) (d time.Duration) {
		if err == nil {
			d, err = time.ParseDuration(field)
		}
		return d
	}
	p.MaxAttempts = number(fields[0])
	p.MaxAttemptsDuration = duration(fields[1])
	p.InitialInterval = duration(fields[2])
	if err == nil {
		p.BackoffMultiplier, err = strconv.ParseFloat(fields[3], 64)
	}
	p.MaxInterval = duration(fields[4])
	if err != nil {
		return timer.RetryPolicy{}, fmt.Errorf("a retry policy column holds %q: %w", text, err)
	}
	return p, nil
}
