package postgresstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// deleteExpired deletes expired rows of the default partition.
var deleteExpired = statement{"delete_expired", `DELETE FROM timer_history_default d USING (
	SELECT expires_at, ctid AS row FROM timer_history_default
	WHERE expires_at <= $1::timestamptz AND marked_at IS NULL ORDER BY expires_at LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE d.ctid = old.row AND d.marked_at IS NULL`}

// deleteExpiredDead deletes expired dead timers.
var deleteExpiredDead = statement{"delete_expired_dead", `DELETE FROM timer_history_dead d USING (
	SELECT dead_until, ctid AS row FROM timer_history_dead
	WHERE dead_until <= $1::timestamptz AND marked_at IS NULL ORDER BY dead_until LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE d.ctid = old.row AND d.marked_at IS NULL`}

// deleteDays deletes the rows of partitions whose days are over, for a user who cannot drop these partitions. Another user,
// such as that of a migration, may have created them.
var deleteDays = statement{"delete_days", `DELETE FROM timer_history h USING (
	SELECT tableoid AS part, ctid AS row FROM timer_history
	WHERE expires_at < $1::timestamptz AND marked_at IS NULL LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE h.tableoid = old.part AND h.ctid = old.row AND h.expires_at < $1 AND h.marked_at IS NULL`}

// Purge implements store.Outcomes. It deletes expired rows that are not in a day's partition. Then, if daysEvery is
// over, it drops partitions whose days are over, which costs the same for any number of rows and is not bounded by the
// limit, and creates those of coming days. It logs errors of partitions instead of returning them, because only an
// administrator can fix them, and they must not prevent the deletion of rows. A user who cannot drop partitions deletes their
// rows, up to the limit.
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
	if s.borrowed {
		return s.purgeDays(ctx, now, int(deleted), limit)
	}
	dropped, trouble := s.keepDays(ctx, now, 0, false)
	s.housekeeping.end(now, nextDays(trouble))
	s.logDays(ctx, trouble)
	return dropped + int(deleted), nil
}

// purgeDays deletes rows of partitions whose days are over, until deleted rows are limit. If it reaches the limit, the next call
// continues.
func (s *Store) purgeDays(ctx context.Context, now timer.Millis, deleted, limit int) (int, error) {
	var more int64
	today := timer.FromTime(now.Time().Truncate(day))
	err := s.write(ctx, "purge history", latest, func(t *transaction) error {
		return t.commit(ctx, call{
			statement: deleteDays, args: [][]byte{instantValue(today), int8Value(int64(limit - deleted))}, changed: &more,
		})
	})
	deleted += int(more)
	wait := nextDays(err)
	if err == nil && deleted >= limit {
		wait = 0
	}
	s.housekeeping.end(now, wait)
	return deleted, err
}

// nextDays returns when to change partitions again.
func nextDays(trouble error) time.Duration {
	if trouble != nil {
		return daysAgain
	}
	return daysEvery
}

// logDays logs an error of partitions once, until the error changes. It does not log that another process is changing
// them.
func (s *Store) logDays(ctx context.Context, trouble error) {
	if errors.Is(trouble, errOthers) {
		return
	}
	if s.housekeeping.isNew(trouble) {
		s.log.WarnContext(ctx, "history partitions could not all be created or dropped, retrying", "error", trouble)
	}
}

// housekeeping decides when this process creates and drops partitions again, by the clock of Purge's callers.
type housekeeping struct {
	mu      sync.Mutex
	running bool
	last    timer.Millis
	wait    time.Duration
	trouble string
}

// begin reports whether it is time. If so, the caller must call end. If the clock was set back, it is time immediately.
func (h *housekeeping) begin(now timer.Millis) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running || now >= h.last && now < h.last.Add(h.wait) {
		return false
	}
	h.running = true
	return true
}

func (h *housekeeping) end(now timer.Millis, wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running, h.last, h.wait = false, now, wait
}

// isNew reports whether there is an error that differs from the last one.
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
