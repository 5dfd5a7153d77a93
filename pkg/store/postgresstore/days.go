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

// History is partitioned by expires_at. A partition (part) covers one day, or several days if a namespace keeps history
// for so long that there would be too many partitions. A part is created before anything expires in it, and dropped
// when its days are over, so history is not deleted row by row.
//
// Parts are changed rarely, by one process at a time, and only with short lock and statement timeouts: a change locks
// the whole history exclusively, and all other transactions wait for it. A change that fails because of the timeouts is
// retried later.

const (
	partPrefix = "timer_history_"
	dayLayout  = "20060102"
	day        = 24 * time.Hour
	// mostParts is the intended number of parts. For a while there may be more, after a retention has become longer.
	// Every read of history probes all parts.
	mostParts = 33
	// countedRows bounds the count of a part's rows if the server has no estimate, which means that the part never had
	// many.
	countedRows = 10_000

	// daysEvery is how often a process creates and drops parts, and daysAgain how soon it retries after a failure.
	daysEvery = time.Hour
	daysAgain = 5 * time.Minute
	// daysLock is the advisory lock of the process that changes parts: "TMBH".
	daysLock = 0x544D4248
)

// part is a partition of history: the rows that expire on a number of consecutive days.
type part struct {
	from time.Time
	days int
}

func (p part) to() time.Time { return p.from.Add(time.Duration(p.days) * day) }

// table returns the table's name: timer_history_20261121, or timer_history_20261121_12 for several days.
func (p part) table() string {
	name := partPrefix + p.from.Format(dayLayout)
	if p.days > 1 {
		name += "_" + strconv.Itoa(p.days)
	}
	return name
}

// partOf returns the days of a table. ok is false for the default partition and for tables that are not parts.
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

// selectDays reads the names of the parts, the longest retention of history (store.Settings.DoneRetention), and the database's time.
var selectDays = statement{"select_days", `SELECT coalesce((SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_inherits i
	JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('timer_history')), ''),
	(SELECT coalesce(max(greatest(history_retention_ns, keep_payload_ns)), 0) FROM namespaces), clock_timestamp()`}

// dayIsTaken reads whether the default partition has rows that belong to a part. The part cannot be created until they
// have expired. Each half of the query has an index.
var dayIsTaken = statement{"day_is_taken", `SELECT
	EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NULL AND expires_at >= $1::timestamptz AND expires_at < $2::timestamptz)
	OR EXISTS (SELECT FROM timer_history_default WHERE marked_at IS NOT NULL AND expires_at >= $1 AND expires_at < $2)`}

// days has the results of selectDays.
type days struct {
	// there are the existing parts, in order. now is the database's time.
	there []part
	now   timer.Millis
	// first and last are the first and the last day that parts should cover.
	first, last time.Time
	// wait is set if a change should wait for another process that changes parts.
	wait bool
}

// missing returns the parts to create.
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
			// The new part ends where the next existing part begins, which may be at this day.
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

// keepDays drops the parts whose days are over and creates parts for the coming days, up to the longest retention of a
// namespace, or up to ahead if that is longer. A day is over when it is over by both the caller's clock and the
// database's: if one clock is ahead, history must not be lost for everyone. It returns how many rows it dropped, and
// the first error. If the user cannot change parts, it does nothing.
func (s *Store) keepDays(ctx context.Context, now timer.Millis, ahead time.Duration, wait bool) (dropped int, err error) {
	const op = "keep days of history"
	if s.borrowed {
		return 0, nil
	}
	if err := s.calls.Enter(ctx, op); err != nil {
		return 0, err
	}
	defer s.calls.Leave()
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

// makeDays creates parts. It drops none, because no day is over at the earliest time.
func (s *Store) makeDays(ctx context.Context) {
	_, trouble := s.keepDays(ctx, timer.MinMillis, 0, false)
	s.logDays(ctx, trouble)
}

// makeDaysFor creates parts before a namespace with a longer retention is written. Rows without a part go to the
// default partition, and their part cannot be created until they have expired.
func (s *Store) makeDaysFor(ctx context.Context, retention time.Duration) {
	const tries = 10 // another process may change parts at the same time and create different ones
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

// changeDays drops and creates parts. If one part cannot be changed, it continues with the next. It returns the first
// error, or the error for which it stopped.
func (c *conn) changeDays(ctx context.Context, d *days, now timer.Millis) (dropped int, err error) {
	for _, p := range d.there {
		if timer.FromTime(p.to()) > now {
			continue
		}
		rows, failure := c.dropPart(ctx, p, d.wait)
		dropped += rows
		if giveUp(ctx, failure) && code(failure) != queryCanceled { // a drop that takes too long must not prevent the creation of parts
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
	errMarked = errors.New("the day has rows whose events are not published yet")
	errTaken  = errors.New("the default partition has rows of the day, which must expire first")
	errOthers = errors.New("another process is changing partitions")
)

// giveUp reports whether the error is not specific to one part, so that changes of other parts would fail too.
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

// patience limits a change: how long it waits for its locks, while other statements wait behind it, and then how long
// it may take, because creating a part reads the whole default partition.
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
		return fmt.Errorf("create %s: %w", name, errTaken)
	}
	err = c.changePart(ctx, name, false, wait, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE %s PARTITION OF timer_history FOR VALUES FROM ('%s') TO ('%s')
	WITH (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.5)`,
			pgx.Identifier{name}.Sanitize(), p.from.Format(time.RFC3339), p.to().Format(time.RFC3339)))
		return err
	})
	if code(err) == overlappingPartition {
		// Another process created different parts after this one read them.
		return fmt.Errorf("create %s: %w: %w", name, errOthers, err)
	}
	return err
}

// dropPart drops a part, unless it has rows with outbox entries, which must be published first.
func (c *conn) dropPart(ctx context.Context, p part, wait bool) (rows int, err error) {
	name := p.table()
	table := pgx.Identifier{name}.Sanitize()
	// Count before locking, because the part's pages are usually no longer in the server's memory.
	count, err := c.countPart(ctx, name, table)
	if err == nil {
		err = c.changePart(ctx, name, true, wait, func(tx pgx.Tx) error {
			// Lock the parent first, in the order of all other transactions.
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

// countPart returns the approximate number of rows of a part.
func (c *conn) countPart(ctx context.Context, name, table string) (rows int, err error) {
	err = c.pooled.QueryRow(ctx, fmt.Sprintf(`SELECT CASE WHEN reltuples > 0 THEN reltuples::bigint
	ELSE (SELECT count(*) FROM (SELECT FROM %s LIMIT %d) AS counted) END FROM pg_class WHERE oid = to_regclass('%s')`,
		table, countedRows, name)).Scan(&rows)
	if errors.Is(err, pgx.ErrNoRows) || code(err) == undefinedTable {
		return 0, nil // another process has dropped it
	}
	return rows, err
}

// changePart runs a change of a part that must exist (there) or must not exist, unless another process is changing
// parts or has already made the change.
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

// lockDays takes the lock for changes of parts, or returns errOthers if another process has it.
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
