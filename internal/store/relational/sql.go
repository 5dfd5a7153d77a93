package relational

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// SQLRow is a Row of database/sql, for engines that store a uuid as 16 bytes, times as milliseconds, and callback
// timeouts in units of Timeout.
type SQLRow struct {
	Rows     *sql.Rows
	Policies *engine.Policies
	Timeout  time.Duration
}

// Scan implements Row.
func (r SQLRow) Scan(dest ...any) error {
	columns := make([]any, len(dest))
	for i, d := range dest {
		columns[i] = nullableOf(d)
	}
	return r.Rows.Scan(columns...)
}

// Timer implements Row. Columns of dest must not be NULL.
func (r SQLRow) Timer(dest ...any) (timer.Timer, shard.ID, error) {
	var t timer.Timer
	var id, timeout, attempts, starts, lastStatus int64 // scanning into int64 is cheaper than into other integer types
	var policy string
	var correlation, headers, topic, key, options sql.NullString
	dest = append(dest,
		&id, (*UUIDColumn)(&t.UUID), &t.Namespace, &t.ID, &t.ExecuteAt, (*string)(&t.Deliver), &t.CallbackURL,
		&timeout, &policy, (*payloadColumn)(&t.Payload), &correlation, (*string)(&t.Status), &t.DueAt, &t.Revision,
		&t.Generation, &attempts, &starts, &t.CreatedAt, &t.UpdatedAt, &t.ExecutedAt, &lastStatus, &t.LastError, &headers,
		&topic, &key, &options, &t.PlannedAt)
	if err := r.Rows.Scan(dest...); err != nil {
		return timer.Timer{}, 0, err
	}
	t.CallbackTimeout = time.Duration(timeout) * r.Timeout
	t.CorrelationID = correlation.String
	t.Headers = timer.Headers(headers.String)
	t.Topic, t.EventKey = topic.String, key.String
	t.Attempts = timer.Attempt(attempts)
	t.Starts = int(starts)
	t.LastStatus = int(lastStatus)
	var err error
	if t.Retry, err = r.Policies.Parse(policy); err == nil {
		err = engine.ParseOptions(options.String, &t)
	}
	return t, shard.ID(id), err
}

// payloadColumn scans a payload. Empty ones are not nil, because they differ from NULL in history. Drivers may return both as nil.
type payloadColumn []byte

// Scan implements sql.Scanner.
func (p *payloadColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*p = nil
	case []byte:
		*p = append(make([]byte, 0, len(v)), v...)
	default:
		return fmt.Errorf("the payload is a %T", src)
	}
	return nil
}

// SQLArgument converts a value of Values for database/sql: a uuid to 16 bytes, and shards to a JSON list.
func SQLArgument(value any) any {
	switch v := value.(type) {
	case timer.UUID:
		return v[:]
	case []shard.ID:
		ids := make([]string, len(v))
		for i, id := range v {
			ids[i] = id.String()
		}
		return "[" + strings.Join(ids, ",") + "]"
	case timer.Millis:
		return int64(v)
	default:
		return value
	}
}

// nullable scans a column. If it is NULL, dest does not change.
type nullable[T any] struct{ dest *T }

// Scan implements sql.Scanner.
func (n nullable[T]) Scan(src any) error {
	var v sql.Null[T]
	err := v.Scan(src)
	if v.Valid && err == nil {
		*n.dest = v.V
	}
	return err
}

func nullableOf(dest any) any {
	switch d := dest.(type) {
	case *int64:
		return nullable[int64]{d}
	case *string:
		return nullable[string]{d}
	case *[]byte:
		return nullable[[]byte]{d}
	case *timer.Millis:
		return nullable[timer.Millis]{d}
	case *timer.UUID:
		return (*UUIDColumn)(d)
	default:
		return dest
	}
}

// UUIDColumn scans 16 bytes into a UUID. NULL does not change it.
type UUIDColumn timer.UUID

// Scan implements sql.Scanner.
func (u *UUIDColumn) Scan(src any) error {
	if src == nil {
		return nil
	}
	b, ok := src.([]byte)
	if !ok || len(b) != len(u) {
		return fmt.Errorf("uuid column: got %T, want 16 bytes", src)
	}
	copy(u[:], b)
	return nil
}

// IntColumn scans an integer. database/sql would use reflection, which makes polls of many rows measurably slower.
type IntColumn int64

// Scan implements sql.Scanner.
func (i *IntColumn) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("integer column: got %T", src)
	}
	*i = IntColumn(n)
	return nil
}

var (
	_ sql.Scanner = nullable[int64]{}
	_ sql.Scanner = (*UUIDColumn)(nil)
	_ sql.Scanner = (*IntColumn)(nil)
)
