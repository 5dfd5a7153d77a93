package sqlitestore

import (
	"database/sql"
	"strings"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// replaceLive replaces all columns of a row, except its key and its ids.
	replaceLive = `UPDATE timers SET execute_at = ?, deliver = ?, callback_url = ?, callback_timeout_ns = ?,
	retry_policy = ?, payload = iif(?, payload, ?), correlation_id = ?, status = ?, due_at = ?, revision = ?, generation = ?,
	attempts = ?, starts = ?, created_at = ?, updated_at = ?, executed_at = ?, last_status = ?, last_error = ?, headers = ?,
	topic = ?, event_key = ?, target = ?, options = ?, marked_at = ?, planned_at = ?, leased = ?
WHERE shard = ? AND uuid = ?`

	deleteLive = "DELETE FROM timers WHERE shard = ? AND uuid = ?"
)

var (
	selectSlot = "SELECT leased, marked_at, " + timerColumns + " FROM timers WHERE shard = ? AND uuid = ?"

	// selectBareSlot is selectSlot without the payload, for operations that do not change it.
	selectBareSlot = strings.Replace(selectSlot, "payload", "NULL", 1)
)

// slot reads a row. The writer is the only one that writes, so nothing changes the row before flush.
func (c *conn) slot(query string, ref store.Ref) (*engine.Slot, error) {
	s := &engine.Slot{Ref: ref}
	var row engine.Row
	var marked sql.NullInt64
	var found bool
	var err error
	row.Timer, found, err = c.timerWith([]any{&row.Leased, &marked}, query, ref.Shard, ref.UUID[:])
	if err == nil && found {
		row.MarkedAt = timer.Millis(marked.Int64)
		s.Read(row)
	}
	return s, err
}

// readEnd reads the last final outcome of a timer that has no row.
func (c *conn) readEnd(now timer.Millis, s *engine.Slot) error {
	if s.Was != nil {
		return nil
	}
	t, found, err := c.timer(selectEnd, s.Ref.Shard, s.Ref.UUID[:], now)
	if found {
		s.Ended = &t
	}
	return err
}

// flush writes the changes of a row.
func (c *conn) flush(s *engine.Slot) error {
	for _, a := range s.Attempts() {
		payload := payloadOf(a, a.Timer.Payload != nil)
		if err := c.record(a, store.Guard{Revision: s.Was.Timer.Revision}, payload); err != nil {
			return err
		}
	}
	var err error
	switch {
	case !s.Changed():
	case s.Is == nil:
		_, err = c.exec(deleteLive, s.Ref.Shard, s.Ref.UUID[:])
	case s.Was == nil:
		_, err = c.insert(s.Ref, &s.Is.Timer)
	default:
		err = c.replace(s)
	}
	return err
}

// insert writes a new row, unless one with the id exists.
func (c *conn) insert(ref store.Ref, t *timer.Timer) (inserted bool, err error) {
	n, err := c.exec(insertNew, ref.Shard, ref.UUID[:], t.Namespace, t.ID, t.ExecuteAt, string(t.Deliver), t.CallbackURL,
		int64(t.CallbackTimeout), c.policies.Format(&t.Retry), t.Payload, orNull(t.CorrelationID), t.DueAt, t.Revision, t.Generation,
		t.CreatedAt, t.UpdatedAt, t.ExecutedAt, t.LastStatus, t.LastError, orNull(string(t.Headers)),
		orNull(t.Topic), orNull(t.EventKey), int64(t.Target()), orNull(engine.FormatOptions(t)))
	return n == 1, err
}

func (c *conn) replace(s *engine.Slot) error {
	t := &s.Is.Timer
	_, err := c.exec(replaceLive, t.ExecuteAt, string(t.Deliver), t.CallbackURL, int64(t.CallbackTimeout),
		c.policies.Format(&t.Retry), s.SamePayload, t.Payload, orNull(t.CorrelationID), string(engine.StoredStatus(t.Status)),
		t.DueAt, t.Revision, t.Generation, t.Attempts, t.Starts, t.CreatedAt, t.UpdatedAt, t.ExecutedAt, t.LastStatus, t.LastError,
		orNull(string(t.Headers)), orNull(t.Topic), orNull(t.EventKey), int64(t.Target()),
		orNull(engine.FormatOptions(t)), timeOrNull(s.Is.MarkedAt), timeOrNull(s.Is.PlannedAt()), s.Is.Leased,
		s.Ref.Shard, s.Ref.UUID[:])
	return err
}

// timeOrNull stores a zero as NULL.
func timeOrNull(m timer.Millis) any {
	if m == 0 {
		return nil
	}
	return m
}
