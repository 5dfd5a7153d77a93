package postgresstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/timer"
)

// History is kept in parts, which are days of expires_at: one day each, or several where a namespace keeps history for
// so long that there would be too many. A part is made before anything expires in it, and dropped when its days are
// over: rows of history are never removed one by one.
//
// Parts are changed seldom, by one process at a time, and never for long: a change has all of history to
// itself, and everybody waits behind it. Whatever cannot be done like that is left for a later time.

const (
	partPrefix = "timer_history_"
	dayLayout  = "20060102"
	day        = 24 * time.Hour
	// mostParts is how many there shall be, and for a while some more when history is to be kept for longer. Every
	// look into history probes all of them.
	mostParts = 33
	// countedRows is how far the rows of a part are counted that the server has no estimate of: it never saw many.
	countedRows = 10_000

	// daysEvery is how often a process looks after the days, daysAgain how soon after something was in the
	// way.
	daysEvery = time.Hour
	daysAgain = 5 * time.Minute
	// daysLock is the advisory lock of whoever changes days: "TMBH".
	daysLock = 0x544D4248
)

// part is a partition of history: what expires on some days in a row.
type part struct {
	from time.Time
	days int
}

func (p part) to() time.Time { return p.from.Add(time.Duration(p.days) * day) }

// table is timer_history_20261121, or for several days timer_history_20261121_12.
func (p part) table() string {
	name := partPrefix + p.from.Format(dayLayout)
	if p.days > 1 {
		name += "_" + strconv.Itoa(p.days)
	}
	return name
}

// partOf tells which days a table holds; ok is false for the default partition, and for what is no partition.
func partOf(table string) (p part, ok bool) {
	text, ok := strings.CutPrefix(table, partPrefix)
	if !ok {
		return part{}, false
	}
	from, days, several := strings.Cut(text, "_")
	p.days = 1
	var err error
	if several {
		if p.days, err = strconv.Atoi(days); err != nil {
			return part{}, false
		}
	}
	p.from, err = time.Parse(dayLayout, from)
	return p, err == nil && p.days > 0 && p.table() == table
}

// selectDays reads which parts there are, how long history is kept, and the database's date.
var selectDays = statement{"select_days", `SELECT coalesce((SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('timer_history')), ''),
	(SELECT coalesce(max(history_retention_ns), 0) FROM namespaces), clock_timestamp()`}

// dayIsTaken asks for rows of the default partition that belong to a part: it cannot be made until they have
// expired. Each half has its index.
var dayIsTaken = statement{"day_is_taken", `SELECT
	EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NULL AND expires_at >= $1::timestamptz AND expires_at < $2::timestamptz)
	OR EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NOT NULL AND expires_at >= $1 AND expires_at < $2)`}

// days is what selectDays tells.
type days struct {
	// there are the parts that exist, in order; now is the database's.
	there []part
	now   timer.Millis
	// first and last are the days that parts should hold.
	first, last time.Time
	// wait for another process that is at the days.
	wait bool
}

// missing are the parts to be made.
func (d *days) missing() (out []part) {
	count := int(d.last.Sub(d.first)/day) + 1
	width := (count + mostParts - 1) / mostParts
	there := d.there
	for from := d.first; !from.After(d.last); {
		for len(there) > 0 && !there[0].to().After(from) {
			there = there[1:]
		}
		p := part{from, width}
		if len(there) > 0 && there[0].from.Before(p.to()) {
			// Up to the next one, which may hold this very day.
			p.days = int(there[0].from.Sub(from) / day)
		}
		if p.days > 0 {
			out = append(out, p)
			from = p.to()
		} else {
			from = there[0].to()
		}
	}
	return out
}

// keepDays drops the parts whose days are over and makes those to come, for history that is kept for as long as any
// namespace says, or ahead. A day is over when both the caller's clock and the database's say so: one
// clock that runs ahead must not take history away from everybody. It returns how many rows it dropped, and
// what was in the way.
func (s *Store) keepDays(ctx context.Context, now timer.Millis, ahead time.Duration, wait bool) (dropped int, err error) {
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
	d.wait = wait
	dropped, err = c.changeDays(ctx, &d, min(now, d.now))
	if err != nil {
		err = fmt.Errorf("%s: %w", op, err)
	}
	return dropped, err
}

// makeDays makes days. Nothing is over at the beginning of time, so none is dropped.
func (s *Store) makeDays(ctx context.Context) {
	_, trouble := s.keepDays(ctx, timer.MinMillis, 0, false)
	s.logDays(ctx, trouble)
}

// makeDaysFor makes days before history that is kept for as long as retention is written. Without its day, history goes
// to the default partition, where it is in the way of that day until it has expired.
func (s *Store) makeDaysFor(ctx context.Context, retention time.Duration) {
	const tries = 10 // another process may be at it for a while, and cut them in its own way
	var trouble error
	for range tries {
		if _, trouble = s.keepDays(ctx, timer.MinMillis, retention, true); !errors.Is(trouble, errOthers) {
			break
		}
	}
	s.logDays(ctx, trouble)
}

func (c *conn) days(ctx context.Context, ahead time.Duration) (d days, err error) {
	err = c.exchange(ctx, call{statement: selectDays, row: func(r *record) {
		d.there = nil
		for name := range strings.FieldsSeq(r.text()) {
			if p, ok := partOf(name); ok {
				d.there = append(d.there, p)
			}
		}
		slices.SortFunc(d.there, func(a, b part) int { return a.from.Compare(b.from) })
		retention := max(ahead, time.Duration(r.int8()))
		d.now, _ = r.instant()
		d.first = d.now.Time().Truncate(day)
		d.last = d.first.Add(retention).Truncate(day).Add(2 * day)
	}})
	return d, err
}

// changeDays goes on with the next part if one cannot be changed, and returns the first reason, or the one to give up.
func (c *conn) changeDays(ctx context.Context, d *days, now timer.Millis) (dropped int, err error) {
	for _, p := range d.there {
		if timer.FromTime(p.to()) > now {
			continue
		}
		rows, failure := c.dropPart(ctx, p, d.wait)
		dropped += rows
		if giveUp(ctx, failure) && code(failure) != queryCanceled { // one that takes too long is no reason to make none
			return dropped, failure
		}
		err = cmp.Or(err, failure)
	}
	for _, p := range d.missing() {
		failure := c.makePart(ctx, p, d.wait)
		if giveUp(ctx, failure) {
			return dropped, failure
		}
		err = cmp.Or(err, failure)
	}
	return dropped, err
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

func (c *conn) makePart(ctx context.Context, p part, wait bool) error {
	name := p.table()
	taken := false
	err := c.exchange(ctx, call{
		statement: dayIsTaken,
		args:      [][]byte{instantValue(timer.FromTime(p.from)), instantValue(timer.FromTime(p.to()))},
		row:       func(r *record) { taken = r.bool() },
	})
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("make %s: %w", name, errTaken)
	}
	err = c.changePart(ctx, name, false, wait, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')
	WITH (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.5)`,
			pgx.Identifier{name}.Sanitize(), p.from.Format(time.RFC3339), p.to().Format(time.RFC3339)))
		return err
	})
	if code(err) == overlappingPartition {
		// Made since the parts were read, and cut in another way.
		return fmt.Errorf("make %s: %w: %w", name, errOthers, err)
	}
	return err
}

// dropPart drops a part, unless rows in it are still marked: those are announced first.
func (c *conn) dropPart(ctx context.Context, p part, wait bool) (rows int, err error) {
	name := p.table()
	table := pgx.Identifier{name}.Sanitize()
	// Beforehand, while nobody waits: a part that is over has long left the memory of the server.
	count, err := c.countPart(ctx, name, table)
	if err == nil {
		err = c.changePart(ctx, name, true, wait, func(tx pgx.Tx) error {
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
			rows = count
			_, err := tx.Exec(ctx, "DROP TABLE "+table)
			return err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("drop %s: %w", name, err)
	}
	return rows, nil
}

// countPart tells about how many rows a part has.
func (c *conn) countPart(ctx context.Context, name, table string) (rows int, err error) {
	err = c.pooled.QueryRow(ctx, fmt.Sprintf(`SELECT CASE WHEN reltuples > 0 THEN reltuples::bigint
	ELSE (SELECT count(*) FROM (SELECT FROM %s LIMIT %d) AS counted) END FROM pg_class WHERE oid = to_regclass('%s')`,
		table, countedRows, name)).Scan(&rows)
	if errors.Is(err, pgx.ErrNoRows) || code(err) == undefinedTable {
		return 0, nil // another process has dropped it
	}
	return rows, err
}

// changePart runs a change of a part that is there, or is not, unless another process is at the days or has
// changed it already.
func (c *conn) changePart(ctx context.Context, name string, there, wait bool, run func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, c.pooled, func(tx pgx.Tx) error {
		for _, limit := range patience {
			if _, err := tx.Exec(ctx, limit); err != nil {
				return err
			}
		}
		if err := lockDays(ctx, tx, wait); err != nil {
			return err
		}
		var found bool
		err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&found)
		if err != nil || found != there {
			return err
		}
		return run(tx)
	})
}

// lockDays keeps other processes from the days, or says that one is there.
func lockDays(ctx context.Context, tx pgx.Tx, wait bool) error {
	if wait {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", daysLock)
		if code(err) == lockNotAvailable {
			return errOthers
		}
		return err
	}
	var mine bool
	err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", daysLock).Scan(&mine)
	if err == nil && !mine {
		err = errOthers
	}
	return err
}
