package memstore

import (
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// row is one live timer.
type row struct {
	timer timer.Timer
	mark  mark
	// leased is set if the last write was a lease.
	leased bool
}

// mark is the outbox entry of a parked row or of a dead timer in history (I14).
type mark struct {
	set bool
	at  timer.Millis
}

func (r *row) key() store.Key { return store.Key{DueAt: r.timer.DueAt, UUID: r.timer.UUID} }

func (r *row) plannedKey() store.Key { return store.Key{DueAt: r.timer.PlannedAt, UUID: r.timer.UUID} }

// held reports whether polls and sweeps do not read the row.
func (r *row) held() bool { return r.timer.Status.Held() }

func (r *row) markKey() markKey { return markKey{at: r.mark.at, uuid: r.timer.UUID} }

// put replaces the row of a timer and its outbox entry, and updates the indexes.
func (sh *shardState) put(r *row) {
	if old, ok := sh.rows.get(r.timer.UUID); ok {
		sh.unindex(old)
	}
	sh.rows.set(r.timer.UUID, r)
	if !r.held() {
		sh.due.set(r.key(), r)
		if r.timer.PlannedAt != r.timer.DueAt {
			sh.moved.set(r.plannedKey(), r)
		}
	}
	if r.mark.set {
		sh.marks.set(r.markKey(), markOn{parked: r})
	}
}

// drop removes a row and its outbox entry.
func (sh *shardState) drop(r *row) {
	sh.unindex(r)
	sh.rows.remove(r.timer.UUID)
}

func (sh *shardState) unindex(r *row) {
	sh.due.remove(r.key())
	sh.moved.remove(r.plannedKey())
	if r.mark.set {
		sh.marks.remove(r.markKey())
	}
}

// clone copies a timer, because the caller and the store must not share memory.
func clone(t timer.Timer) timer.Timer {
	t.Payload = slices.Clone(t.Payload)
	return t
}

func cloned(t timer.Timer) *timer.Timer {
	t = clone(t)
	return &t
}

// dueAt implements rule I6: a due_at is neither before the write nor before executeAt.
func dueAt(now, executeAt, wanted timer.Millis) timer.Millis {
	return max(now, executeAt, wanted)
}
