package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/timer"
)

// History is kept in days of expires_at. A day is made before anything expires on it, and dropped when it is
// over: rows of history are never removed one by one, as long as namespaces keep theirs for up to mostDays.

const (
	dayPrefix = "timer_history_"
	dayLayout = "20060102"
	day       = 24 * time.Hour
	// mostDays bounds the partitions made ahead. Every look into history probes all of them.
	mostDays = 33
	// countedRows is how far the rows of a dropped day are counted; beyond, the server's estimate is told.
	countedRows = 100_000
)

// selectDays reads which days there are, how many are wanted, and the database's date.
var selectDays = statement{"select_days", `SELECT coalesce((SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('timer_history')), ''),
	(SELECT coalesce(max(history_retention_ns), 0) FROM namespaces), clock_timestamp()`}

// days is what selectDays tells.
type days struct {
	there map[string]bool
	// first and last are the days that there should be.
	first, last time.Time
}

// keepDays drops the days that are over at the caller's time, and makes those to come by the database's. It
// returns how many rows it dropped. Tables that somebody uses for long are left for the next time.
func (s *Store) keepDays(ctx context.Context, now timer.Millis) (dropped int, err error) {
	const op = "keep days of history"
	if err := s.enter(ctx, op); err != nil {
		return 0, err
	}
	defer s.leave()
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", op, failed(ctx, err, false))
	}
	defer pooled.Release()
	c := &conn{pooled}
	d, err := c.days(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", op, failed(ctx, err, false))
	}
	if dropped, err = c.changeDays(ctx, d, now); err != nil {
		return dropped, fmt.Errorf("%s: %w", op, failed(ctx, err, true))
	}
	return dropped, nil
}

func (c *conn) days(ctx context.Context) (days, error) {
	d := days{there: map[string]bool{}}
	err := c.exchange(ctx, call{statement: selectDays, row: func(r *record) {
		for name := range strings.FieldsSeq(r.text()) {
			d.there[name] = true
		}
		retention := time.Duration(r.int8())
		today, _ := r.instant()
		d.first = today.Time().Truncate(day)
		d.last = d.first.Add(min(retention, (mostDays-3)*day)).Truncate(day).Add(2 * day)
	}})
	return d, err
}

func (c *conn) changeDays(ctx context.Context, d days, now timer.Millis) (dropped int, err error) {
	for name := range d.there {
		from, ok := dayOf(name)
		if !ok || timer.FromTime(from.Add(day)) > now {
			continue
		}
		rows, err := c.dropDay(ctx, name)
		if err != nil && !busy(err) {
			return dropped, err
		}
		dropped += rows
	}
	for from := d.first; !from.After(d.last); from = from.Add(day) {
		name := dayPrefix + from.Format(dayLayout)
		if d.there[name] || timer.FromTime(from.Add(day)) <= now {
			continue
		}
		if err := c.makeDay(ctx, name, from); err != nil && !busy(err) {
			return dropped, err
		}
	}
	return dropped, nil
}

// dayOf tells which day a table holds.
func dayOf(table string) (from time.Time, ok bool) {
	text, ok := strings.CutPrefix(table, dayPrefix)
	if !ok {
		return time.Time{}, false
	}
	from, err := time.Parse(dayLayout, text)
	return from, err == nil
}

// busy reports whether a day cannot be changed now and may be later: its tables are in use, another process
// is at it, or the default partition has rows that belong there. A user who may not change tables at all
// goes without days; then history is removed row by row.
func busy(err error) bool {
	switch code(err) {
	case lockNotAvailable, deadlockDetected, checkViolation, duplicateTable, undefinedTable, insufficientRights:
		return true
	default:
		return errors.Is(err, errMarked)
	}
}

var errMarked = errors.New("the day has rows that nobody was told of yet")

// A change waits this long for statements that use the table, and others wait behind it.
const setPatience = "SET LOCAL lock_timeout = '200ms'"

func (c *conn) makeDay(ctx context.Context, name string, from time.Time) error {
	return c.schemaChange(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')
	WITH (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.5)`,
			pgx.Identifier{name}.Sanitize(), from.Format(time.RFC3339), from.Add(day).Format(time.RFC3339)))
		return err
	})
}

// dropDay drops a day, unless rows in it are still marked: those are announced first.
func (c *conn) dropDay(ctx context.Context, name string) (rows int, err error) {
	table := pgx.Identifier{name}.Sanitize()
	err = c.schemaChange(ctx, func(tx pgx.Tx) error {
		// The parent first, as all others lock them.
		if _, err := tx.Exec(ctx, "LOCK TABLE ONLY timer_history IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		var marked bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+table+" WHERE marked_at IS NOT NULL)").Scan(&marked); err != nil {
			return err
		}
		if marked {
			return errMarked
		}
		err := tx.QueryRow(ctx, fmt.Sprintf(`SELECT greatest((SELECT count(*) FROM (SELECT FROM %s LIMIT %d) AS counted),
	(SELECT reltuples FROM pg_class WHERE oid = to_regclass('%s')))::bigint`, table, countedRows, name)).Scan(&rows)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "DROP TABLE "+table)
		return err
	})
	if err != nil {
		rows = 0
	}
	return rows, err
}

func (c *conn) schemaChange(ctx context.Context, run func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c.pooled, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setPatience); err != nil {
			return err
		}
		return run(tx)
	})
}
