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
	// leased: the last write was a lease.
	leased bool
}

// mark says that a parked row or a dead timer of history is to be announced (I14).
type mark struct {
	set bool
	at  timer.Millis
}

func (r *row) key() store.Key { return store.Key{DueAt: r.timer.DueAt, UUID: r.timer.UUID} }

func (r *row) plannedKey() store.Key { return store.Key{DueAt: r.timer.PlannedAt, UUID: r.timer.UUID} }

func (r *row) parked() bool { return r.timer.Status == timer.StatusParked }

func (r *row) markKey() markKey { return markKey{at: r.mark.at, uuid: r.timer.UUID} }

// put replaces the row of a timer, its mark with it, and keeps the indexes true.
func (sh *shardState) put(r *row) {
	if old, ok := sh.rows.get(r.timer.UUID); ok {
		sh.unindex(old)
	}
	sh.rows.set(r.timer.UUID, r)
	if !r.parked() {
		sh.due.set(r.key(), r)
		if r.timer.PlannedAt != r.timer.DueAt {
			sh.moved.set(r.plannedKey(), r)
		}
	}
	if r.mark.set {
		sh.marks.set(r.markKey(), markOn{parked: r})
	}
}

// drop removes a row, and its mark with it.
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

// clone copies a timer for the other side of the contract: nothing is shared with the caller.
func clone(t timer.Timer) timer.Timer {
	t.Payload = slices.Clone(t.Payload)
	return t
}

func cloned(t timer.Timer) *timer.Timer {
	t = clone(t)
	return &t
}

// dueAt keeps rule I6: never before the write, nor before what the user asked for.
func dueAt(now, executeAt, wanted timer.Millis) timer.Millis {
	return max(now, executeAt, wanted)
}
