package mysqlstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// need lists what an operation needs besides the columns of its row.
type need struct {
	// payload: the row's payload. ended: the timer's last final outcome.
	payload, ended bool
}

// locked are the rows of a batch in a transaction. No other transaction changes them until it ends.
type locked struct {
	conn  *conn
	store *Store
	now   timer.Millis
	slots map[store.Ref]*engine.Slot
	// reserved are timers without a row for which lock has inserted one, so that no other transaction can create them.
	reserved []store.Ref
}

// lock locks and reads rows, in the order of their keys.
func (s *Store) lock(ctx context.Context, c *conn, now timer.Millis, needs map[store.Ref]need) (*locked, error) {
	l := &locked{conn: c, store: s, now: now, slots: make(map[store.Ref]*engine.Slot, len(needs))}
	refs := slices.SortedFunc(maps.Keys(needs), compareRefs)
	for some := range slices.Chunk(refs, maxRows) {
		args := make([]any, 0, 4*len(some))
		for i, ref := range some {
			l.slots[ref] = &engine.Slot{Ref: ref}
			args = append(args, i, int64(ref.Shard), ref.UUID[:], needs[ref].payload)
		}
		err := c.each(ctx, func(rows *sql.Rows) error {
			var place int64
			var row engine.Row
			var marked sql.NullInt64
			var err error
			if row.Timer, _, err = c.row(rows).Timer(&place, &row.Leased, &marked); err != nil {
				return err
			}
			row.MarkedAt = timer.Millis(marked.Int64)
			l.slots[some[place]].Read(row)
			return nil
		}, "SELECT k.p, t.leased, t.marked_at, "+slotColumns+" FROM "+list(len(some), "p", "s", "u", "w")+
			" STRAIGHT_JOIN timers t ON t.shard_id = k.s AND t.uuid = k.u FOR UPDATE", args...)
		if err != nil {
			return nil, err
		}
	}
	var ended []store.Ref
	for _, ref := range refs {
		if needs[ref].ended {
			ended = append(ended, ref)
		}
	}
	return l, l.readEnds(ctx, ended)
}

// slotColumns has the payload only if the operation needs it.
var slotColumns = strings.Replace(dialect.LiveColumns("t."), "t.payload", "IF(k.w, t.payload, NULL)", 1)

// readEnds reads the last final outcomes of timers. A timer without a row is reserved first: otherwise another transaction
// could create the timer, and that timer could end, after this read and before the write.
func (l *locked) readEnds(ctx context.Context, refs []store.Ref) error {
	for _, ref := range refs {
		if l.slots[ref].Was == nil {
			l.reserved = append(l.reserved, ref)
		}
	}
	err := l.insert(ctx, l.reserved, "", func(ref store.Ref) *engine.Row { return &engine.Row{Timer: timer.Timer{UUID: ref.UUID}} })
	if err != nil {
		return err
	}
	return l.conn.union(ctx, selectEnd, len(refs), func(i int) []any { return []any{int64(refs[i].Shard), refs[i].UUID[:], int64(l.now)} },
		func(rows *sql.Rows) error {
			var place int64
			t, _, err := l.conn.row(rows).Timer(&place)
			l.slots[refs[place]].Ended = &t
			return err
		})
}

const unexpiredEnd = "h." + relational.IsEnd + " AND h.expires_at > ?"

var selectEnd = "(SELECT ? AS place, " + dialect.EndColumns("h.") + ` FROM history h
WHERE h.shard_id = ? AND h.uuid = ? AND ` + unexpiredEnd + `
ORDER BY h.finished_at DESC, h.attempt DESC, h.generation DESC LIMIT 1)`

func (c *conn) row(rows *sql.Rows) relational.SQLRow {
	return relational.SQLRow{Rows: rows, Policies: &c.policies, Timeout: time.Millisecond}
}

// flush writes the differences between the rows as they were read and as they are now.
func (l *locked) flush(ctx context.Context) error {
	var attempts []*engine.Attempt
	gone := slices.Clone(l.reserved)
	var created, changed, changedWithPayload []store.Ref
	for _, ref := range slices.SortedFunc(maps.Keys(l.slots), compareRefs) {
		slot := l.slots[ref]
		attempts = append(attempts, slot.Attempts()...)
		switch {
		case !slot.Changed():
		case slot.Is == nil:
			gone = append(gone, ref)
		case slot.Was == nil:
			created = append(created, ref)
		case slot.SamePayload:
			changed = append(changed, ref)
		default:
			changedWithPayload = append(changedWithPayload, ref)
		}
	}
	is := func(ref store.Ref) *engine.Row { return l.slots[ref].Is }
	if err := l.record(ctx, attempts); err != nil {
		return err
	}
	if err := l.remove(ctx, gone); err != nil {
		return err
	}
	if err := l.insert(ctx, created, "", is); err != nil {
		return err
	}
	if err := l.insert(ctx, changed, replaceAllButPayload, is); err != nil {
		return err
	}
	return l.insert(ctx, changedWithPayload, replaceTimers, is)
}

// insert writes rows. end follows the list of rows.
func (l *locked) insert(ctx context.Context, refs []store.Ref, end string, row func(store.Ref) *engine.Row) error {
	return l.conn.inserts(ctx, l.store.maxPacket, insertTimers, end, len(refs), func(i int) ([]any, int) {
		r := row(refs[i])
		return l.conn.liveArgs(refs[i].Shard, r), len(r.Timer.Payload)
	})
}

// inserts sends n rows, in statements of at most maxRows rows and half the bytes that the server accepts, because bytes may be
// escaped. row returns the values of a row and the size of its payload.
func (c *conn) inserts(ctx context.Context, maxPacket int, begin, end string, n int, row func(i int) ([]any, int)) error {
	var args []any
	rows, bytes, columns := 0, 0, 0
	send := func() error {
		if rows == 0 {
			return nil
		}
		_, err := c.exec(ctx, begin+repeat("("+repeat("?", columns)+")", rows)+end, args...)
		args, rows, bytes = args[:0], 0, 0
		return err
	}
	for i := range n {
		values, payload := row(i)
		size := 4096 + 2*payload // the other columns are shorter
		if rows == maxRows || bytes+size > maxPacket/2 {
			if err := send(); err != nil {
				return err
			}
		}
		args, rows, bytes, columns = append(args, values...), rows+1, bytes+size, len(values)
	}
	return send()
}

// record writes attempts into history. A final outcome in history is not replaced.
func (l *locked) record(ctx context.Context, attempts []*engine.Attempt) error {
	recent := slices.DeleteFunc(slices.Clone(attempts), func(a *engine.Attempt) bool { return !a.Recent })
	for some := range slices.Chunk(recent, maxRows) {
		args := make([]any, 0, 3*len(some)+1)
		for i, a := range some {
			args = append(args, i, int64(a.Ref.Shard), a.Ref.UUID[:])
		}
		err := l.conn.each(ctx, func(rows *sql.Rows) error {
			var place int
			var last timer.Millis
			err := rows.Scan(&place, &last)
			some[place].FinishedAt = max(some[place].FinishedAt, last+1)
			return err
		}, "SELECT h.p, max(h.finished_at) FROM (SELECT k.p, h.outcome, h.expires_at, h.finished_at, "+
			"row_number() OVER (PARTITION BY k.p ORDER BY h.generation DESC, h.attempt DESC) n FROM "+list(len(some), "p", "s", "u")+
			" STRAIGHT_JOIN history h ON h.shard_id = k.s AND h.uuid = k.u) h "+
			"WHERE h.n <= "+relational.NewestEnds+" AND "+unexpiredEnd+" GROUP BY h.p",
			append(args, int64(l.now))...)
		if err != nil {
			return err
		}
	}
	return l.conn.inserts(ctx, l.store.maxPacket, insertHistory, keepFinal, len(attempts), func(i int) ([]any, int) {
		return l.conn.attemptArgs(attempts[i]), len(attempts[i].Timer.Payload)
	})
}

// remove deletes rows.
func (l *locked) remove(ctx context.Context, refs []store.Ref) error {
	for some := range slices.Chunk(refs, maxRows) {
		args := make([]any, 0, 2*len(some))
		for _, ref := range some {
			args = append(args, int64(ref.Shard), ref.UUID[:])
		}
		_, err := l.conn.exec(ctx, "DELETE t FROM "+list(len(some), "s", "u")+
			" STRAIGHT_JOIN timers t ON t.shard_id = k.s AND t.uuid = k.u", args...)
		if err != nil {
			return err
		}
	}
	return nil
}
