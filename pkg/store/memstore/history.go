package memstore

import (
	"cmp"
	"context"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// historyRow is one attempt. If the attempt was the timer's last, the row also has the finished timer.
type historyRow struct {
	entry   store.HistoryEntry
	expires timer.Millis
	// timer is set if the outcome is done or dead.
	timer timer.Timer
	// mark is the outbox entry of a dead timer, until it is published.
	mark mark
}

// historyKey orders one shard's history by timer, then by age. (generation, attempt) is unique in the history of a
// timer.
type historyKey struct {
	uuid       timer.UUID
	finishedAt timer.Millis
	attempt    timer.Attempt
	generation timer.Generation
}

// Compare orders by timer, then by age.
func (k historyKey) Compare(o historyKey) int {
	return cmp.Or(
		k.uuid.Compare(o.uuid),
		cmp.Compare(k.finishedAt, o.finishedAt),
		cmp.Compare(k.attempt, o.attempt),
		cmp.Compare(k.generation, o.generation),
	)
}

// endOf returns a key after all history of a timer.
func endOf(u timer.UUID) historyKey {
	return historyKey{uuid: u, finishedAt: math.MaxInt64, attempt: math.MaxInt32, generation: math.MaxInt64}
}

// attemptKey is the unique key of a shard's history.
type attemptKey struct {
	uuid       timer.UUID
	generation timer.Generation
	attempt    timer.Attempt
}

// expiryKey orders all history by when it expires.
type expiryKey struct {
	at    timer.Millis
	shard shard.ID
	row   historyKey
}

// Compare orders by expiry first.
func (k expiryKey) Compare(o expiryKey) int {
	return cmp.Or(cmp.Compare(k.at, o.at), cmp.Compare(k.shard, o.shard), k.row.Compare(o.row))
}

func (h *historyRow) key() historyKey {
	return historyKey{h.entry.Ref.UUID, h.entry.FinishedAt, h.entry.Attempt, h.entry.Generation}
}

func (h *historyRow) attemptKey() attemptKey {
	return attemptKey{h.entry.Ref.UUID, h.entry.Generation, h.entry.Attempt}
}

func (h *historyRow) expiryKey() expiryKey {
	return expiryKey{h.expires, h.entry.Ref.Shard, h.key()}
}

func (h *historyRow) markKey() markKey {
	return markKey{h.mark.at, h.entry.Ref.UUID, h.entry.Generation, h.entry.Attempt}
}

func (h *historyRow) expired(now timer.Millis) bool { return h.expires <= now }

// record writes a history row. It replaces a row of the same attempt, unless that row is final.
func (db *Database) record(h *historyRow) {
	sh := db.shard(h.entry.Ref.Shard)
	if old := sh.byAttempt[h.attemptKey()]; old != nil {
		if old.entry.Outcome.Final() {
			return
		}
		db.forget(old)
	}
	if h.entry.Outcome == store.OutcomeDead {
		sh.dead++
	}
	sh.history.set(h.key(), h)
	sh.byAttempt[h.attemptKey()] = h
	if h.mark.set {
		sh.marks.set(h.markKey(), markOn{dead: h}) // Purge does not remove rows with an outbox entry
	} else {
		db.expiry.set(h.expiryKey(), h)
	}
}

// forget removes a history row that has no outbox entry.
func (db *Database) forget(h *historyRow) {
	sh := db.shard(h.entry.Ref.Shard)
	if h.entry.Outcome == store.OutcomeDead {
		sh.dead--
	}
	sh.history.remove(h.key())
	delete(sh.byAttempt, h.attemptKey())
	db.expiry.remove(h.expiryKey())
}

// finished returns the newest final outcome of the timer in history that has not expired, or nil.
func (db *Database) finished(now timer.Millis, ref store.Ref) *historyRow {
	sh := db.shards[ref.Shard]
	if sh == nil {
		return nil
	}
	for k, h := range sh.history.before(endOf(ref.UUID)) {
		if k.uuid != ref.UUID {
			return nil
		}
		if listed(h) && !h.expired(now) {
			return h
		}
	}
	return nil
}

// listed reports whether the row has a finished timer, which Get and List return.
func listed(h *historyRow) bool {
	return h.entry.Outcome == store.OutcomeDone || h.entry.Outcome == store.OutcomeDead
}

// History implements store.Timers.
func (s *Store) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	if err := s.lock(ctx, "history"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	sh := s.db.shards[ref.Shard]
	if sh == nil {
		return nil, nil
	}
	var out []store.HistoryEntry
	for k, h := range sh.history.before(endOf(ref.UUID)) {
		if k.uuid != ref.UUID || len(out) == limit {
			break
		}
		if !h.expired(now) {
			out = append(out, h.entry)
		}
	}
	return out, nil
}

// Forget implements store.Outcomes.
func (s *Store) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if err := s.lock(ctx, "forget timers"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]error, len(items))
	for i := range items {
		out[i] = s.db.forgetTimer(now, &items[i])
	}
	return out, nil
}

func (db *Database) forgetTimer(now timer.Millis, item *store.Forget) error {
	sh := db.shards[item.Ref.Shard]
	if sh == nil {
		return store.ErrNotFound
	}
	var end *historyRow
	var gone []*historyRow
	for k, h := range sh.history.before(endOf(item.Ref.UUID)) {
		if k.uuid != item.Ref.UUID {
			break
		}
		if k.generation == item.Generation {
			gone = append(gone, h)
		}
		if k.generation == item.Generation && listed(h) && !h.expired(now) {
			end = h
		}
	}
	switch {
	case end == nil:
		return store.ErrNotFound
	case end.mark.set:
		return store.ErrConflict
	}
	for _, h := range gone {
		db.forget(h)
	}
	return nil
}

// Purge implements store.Outcomes. It removes rows in the order in which they expired.
func (s *Store) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	if err := s.lock(ctx, "purge history"); err != nil {
		return 0, err
	}
	defer s.db.mu.Unlock()
	var gone []*historyRow
	for _, h := range s.db.expiry.all() {
		if len(gone) == limit || !h.expired(now) {
			break
		}
		gone = append(gone, h)
	}
	for _, h := range gone {
		s.db.forget(h)
	}
	return len(gone), nil
}
