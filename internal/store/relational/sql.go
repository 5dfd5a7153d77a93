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
	nullable := make([]any, len(dest))
	for i, d := range dest {
		nullable[i] = column{d}
	}
	return r.Rows.Scan(nullable...)
}

// Timer implements Row. Columns of dest must not be NULL.
func (r SQLRow) Timer(dest ...any) (timer.Timer, shard.ID, error) {
	var t timer.Timer
	var id, timeout, attempts, starts, lastStatus int64 // scanning into int64 is cheaper than into other integer types
	var policy string
	var correlation, headers, topic, key sql.NullString
	dest = append(dest,
		&id, (*UUIDColumn)(&t.UUID), &t.Namespace, &t.ID, &t.ExecuteAt, (*string)(&t.Deliver), &t.CallbackURL,
		&timeout, &policy, &t.Payload, &correlation, (*string)(&t.Status), &t.DueAt, &t.Revision,
		&t.Generation, &attempts, &starts, &t.CreatedAt, &t.UpdatedAt, &t.ExecutedAt, &lastStatus, &t.LastError, &headers,
		&topic, &key, &t.PlannedAt)
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
	t.Retry, err = r.Policies.Parse(policy)
	return t, shard.ID(id), err
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

// column scans a column that may be NULL.
type column struct{ dest any }

// Scan implements sql.Scanner.
func (c column) Scan(src any) error {
	if src == nil {
		return nil
	}
	switch dest := c.dest.(type) {
	case *int64:
		return (*IntColumn)(dest).Scan(src)
	case *timer.Millis:
		return (*IntColumn)(dest).Scan(src)
	case *timer.UUID:
		return (*UUIDColumn)(dest).Scan(src)
	case *string:
		switch src := src.(type) {
		case string:
			*dest = src
			return nil
		case []byte:
			*dest = string(src)
			return nil
		}
	case *[]byte:
		if src, ok := src.([]byte); ok {
			*dest = append([]byte{}, src...)
			return nil
		}
	}
	return fmt.Errorf("column: got %T for %T", src, c.dest)
}

// UUIDColumn scans 16 bytes into a UUID.
type UUIDColumn timer.UUID

// Scan implements sql.Scanner.
func (u *UUIDColumn) Scan(src any) error {
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
	_ sql.Scanner = column{}
	_ sql.Scanner = (*UUIDColumn)(nil)
	_ sql.Scanner = (*IntColumn)(nil)
)
