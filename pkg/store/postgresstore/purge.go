package postgresstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// deleteExpired removes row by row what no day holds.
var deleteExpired = statement{"delete_expired", `DELETE FROM timer_history_default d USING (
	SELECT expires_at, ctid AS row FROM timer_history_default
	WHERE expires_at <= $1::timestamptz AND marked_at IS NULL ORDER BY expires_at LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE d.ctid = old.row AND d.marked_at IS NULL`}

// deleteExpiredDead does so with dead timers.
var deleteExpiredDead = statement{"delete_expired_dead", `DELETE FROM timer_history_dead d USING (
	SELECT dead_until, ctid AS row FROM timer_history_dead
	WHERE dead_until <= $1::timestamptz AND marked_at IS NULL ORDER BY dead_until LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE d.ctid = old.row AND d.marked_at IS NULL`}

// Purge implements store.Outcomes. What lies beside the days goes row by row. Then, now and then, it looks
// after the days: those that are over are dropped, which costs the same for any number of rows and is not
// held to the limit, and those to come are made. Trouble with the days is logged: it is nobody's but the
// administrator's, and must not keep rows from being removed.
func (s *Store) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	var deleted, dead int64
	err := s.write(ctx, "purge history", latest, func(t *transaction) error {
		err := t.exchange(ctx, call{
			statement: deleteExpired,
			args:      [][]byte{instantValue(now), int8Value(int64(limit))},
			changed:   &deleted,
		})
		if err != nil {
			return err
		}
		return t.commit(ctx, call{
			statement: deleteExpiredDead,
			args:      [][]byte{instantValue(now), int8Value(int64(limit) - deleted)},
			changed:   &dead,
		})
	})
	deleted += dead
	if err != nil || !s.housekeeping.begin(now) {
		return int(deleted), err
	}
	dropped, trouble := s.keepDays(ctx, now, 0, false)
	s.housekeeping.end(now, trouble)
	s.logDays(ctx, trouble)
	return dropped + int(deleted), nil
}

// logDays tells of trouble with days once, until it is another. That another process is at it is none.
func (s *Store) logDays(ctx context.Context, trouble error) {
	if errors.Is(trouble, errOthers) {
		return
	}
	if s.housekeeping.isNew(trouble) {
		s.log.WarnContext(ctx, "days of history could not all be made or dropped; they are tried again", "error", trouble)
	}
}

// housekeeping tells when this process looks after the days again, by the clock of those who ask.
type housekeeping struct {
	mu      sync.Mutex
	running bool
	last    timer.Millis
	wait    time.Duration
	trouble string
}

// begin reports whether it is time. If so, end has to be called. A clock that was set back waits no longer
// than one that was not.
func (h *housekeeping) begin(now timer.Millis) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running || now >= h.last && now < h.last.Add(h.wait) {
		return false
	}
	h.running = true
	return true
}

func (h *housekeeping) end(now timer.Millis, trouble error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running, h.last, h.wait = false, now, daysEvery
	if trouble != nil {
		h.wait = daysAgain
	}
}

// isNew reports whether trouble is there and another than the last.
func (h *housekeeping) isNew(trouble error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.trouble
	h.trouble = ""
	if trouble != nil {
		h.trouble = trouble.Error()
	}
	return h.trouble != "" && h.trouble != was
}
