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
//
// Days are changed seldom, by one process at a time, and never for long: a change has all of history to
// itself, and everybody waits behind it. Whatever cannot be done like that is left for a later time.

const (
	dayPrefix = "timer_history_"
	dayLayout = "20060102"
	day       = 24 * time.Hour
	// mostDays bounds the partitions made ahead. Every look into history probes all of them.
	mostDays = 33
	// countedRows is how far the rows of a dropped day are counted; beyond, the server's estimate is told.
	countedRows = 100_000

	// daysEvery is how often a process looks after the days, daysAgain how soon after something was in the
	// way.
	daysEvery = time.Hour
	daysAgain = 5 * time.Minute
	// daysLock is the advisory lock of whoever changes days: "TMBH".
	daysLock = 0x544D4248
)

// selectDays reads which days there are, how long history is kept, and the database's date.
var selectDays = statement{"select_days", `SELECT coalesce((SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('timer_history')), ''),
	(SELECT coalesce(max(history_retention_ns), 0) FROM namespaces), clock_timestamp()`}

// dayIsTaken asks for rows of the default partition that belong to a day: it cannot be made until they have
// expired. Each half has its index.
var dayIsTaken = statement{"day_is_taken", `SELECT
	EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NULL AND expires_at >= $1::timestamptz AND expires_at < $2::timestamptz)
	OR EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NOT NULL AND expires_at >= $1 AND expires_at < $2)`}

// days is what selectDays tells.
type days struct {
	there map[string]bool
	// first and last are the days that there should be; now is the database's.
	first, last time.Time
	now         timer.Millis
}

// keepDays drops the days that are over and makes those to come, for history that is kept for as long as any
// namespace says, or ahead. A day is over when both the caller's clock and the database's say so: one
// clock that runs ahead must not take history away from everybody. It returns how many rows it dropped, and
// what was in the way.
func (s *Store) keepDays(ctx context.Context, now timer.Millis, ahead time.Duration) (dropped int, err error) {
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
	d, err := c.days(ctx, ahead)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", op, failed(ctx, err, false))
	}
	dropped, err = c.changeDays(ctx, d, min(now, d.now))
	if err != nil {
		err = fmt.Errorf("%s: %w", op, err)
	}
	return dropped, err
}

// makeDays makes days before history that is kept for as long as retention is written. Nothing is over at the
// beginning of time, so none is dropped. Without its day, history goes to the default partition.
func (s *Store) makeDays(ctx context.Context, retention time.Duration) {
	_, trouble := s.keepDays(ctx, timer.MinMillis, retention)
	s.logDays(ctx, trouble)
}

func (c *conn) days(ctx context.Context, ahead time.Duration) (days, error) {
	d := days{there: map[string]bool{}}
	err := c.exchange(ctx, call{statement: selectDays, row: func(r *record) {
		for name := range strings.FieldsSeq(r.text()) {
			d.there[name] = true
		}
		retention := max(ahead, time.Duration(r.int8()))
		d.now, _ = r.instant()
		d.first = d.now.Time().Truncate(day)
		d.last = d.first.Add(min(retention, (mostDays-3)*day)).Truncate(day).Add(2 * day)
	}})
	return d, err
}

// changeDays goes on with the next day if one cannot be changed, and returns the first reason.
func (c *conn) changeDays(ctx context.Context, d days, now timer.Millis) (dropped int, err error) {
	for name := range d.there {
		from, ok := dayOf(name)
		if !ok || timer.FromTime(from.Add(day)) > now {
			continue
		}
		rows, failure := c.dropDay(ctx, name)
		dropped += rows
		if err = firstError(err, failure); giveUp(ctx, failure) {
			return dropped, err
		}
	}
	for from := d.first; !from.After(d.last); from = from.Add(day) {
		name := dayPrefix + from.Format(dayLayout)
		if d.there[name] {
			continue
		}
		failure := c.makeDay(ctx, name, from)
		if err = firstError(err, failure); giveUp(ctx, failure) {
			return dropped, err
		}
	}
	return dropped, err
}

// firstError is the first error.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
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

var (
	errMarked = errors.New("the day has rows that nobody was told of yet")
	errTaken  = errors.New("the default partition has rows of the day, which have to expire first")
	errOthers = errors.New("another process is at it")
)

// giveUp reports whether the other days need not be tried: the reason is not one day's.
func giveUp(ctx context.Context, err error) bool {
	switch {
	case err == nil, errors.Is(err, errMarked), errors.Is(err, errTaken):
		return false
	case ctx.Err() != nil, errors.Is(err, errOthers):
		return true
	}
	switch code(err) {
	case lockNotAvailable, deadlockDetected, checkViolation, duplicateTable, undefinedTable:
		return false
	default:
		return true
	}
}

// A change waits this long for statements that use the tables, and others wait behind it; then it may take
// this long, since making a day reads the default partition through.
var patience = []string{"SET LOCAL lock_timeout = '200ms'", "SET LOCAL statement_timeout = '1s'"}

func (c *conn) makeDay(ctx context.Context, name string, from time.Time) error {
	taken := false
	err := c.exchange(ctx, call{
		statement: dayIsTaken,
		args:      [][]byte{instantValue(timer.FromTime(from)), instantValue(timer.FromTime(from.Add(day)))},
		row:       func(r *record) { taken = r.bool() },
	})
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("make %s: %w", name, errTaken)
	}
	return c.changeDay(ctx, name, false, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')
	WITH (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.5)`,
			pgx.Identifier{name}.Sanitize(), from.Format(time.RFC3339), from.Add(day).Format(time.RFC3339)))
		return err
	})
}

// dropDay drops a day, unless rows in it are still marked: those are announced first.
func (c *conn) dropDay(ctx context.Context, name string) (rows int, err error) {
	table := pgx.Identifier{name}.Sanitize()
	err = c.changeDay(ctx, name, true, func(tx pgx.Tx) error {
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
		return 0, fmt.Errorf("drop %s: %w", name, err)
	}
	return rows, nil
}

// changeDay runs a change of a day that is there, or is not, unless another process is at the days or has
// changed it already.
func (c *conn) changeDay(ctx context.Context, name string, there bool, run func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c.pooled, func(tx pgx.Tx) error {
		for _, limit := range patience {
			if _, err := tx.Exec(ctx, limit); err != nil {
				return err
			}
		}
		var mine, found bool
		err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1), to_regclass($2) IS NOT NULL", daysLock, name).Scan(&mine, &found)
		switch {
		case err != nil:
			return err
		case !mine:
			return errOthers
		case found != there:
			return nil
		default:
			return run(tx)
		}
	})
}
