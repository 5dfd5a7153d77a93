package memstore

import (
	"cmp"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// shardState is the data of one shard.
type shardState struct {
	id    shard.ID
	fence fence

	rows    sorted[timer.UUID, *row]
	due     sorted[store.Key, *row] // the rows that are not parked
	moved   sorted[store.Key, *row] // of these, the rows moved by a lease or a postponement, by plannedAt
	history sorted[historyKey, *historyRow]
	// byAttempt finds the history row that an outcome of the same attempt may replace.
	byAttempt map[attemptKey]*historyRow
	dead      int // entries with OutcomeDead
	marks     sorted[markKey, markOn]
}

// fence is the claim record of a shard. Every scheduler statement is checked against it.
type fence struct {
	version              int64
	owner                store.Owner
	claimedAt            timer.Millis
	held                 bool // claimed, and not released
	watermark, published store.Key
}

// unclaimed is the record of a shard that was never claimed.
func unclaimed() fence { return fence{watermark: store.MinKey(), published: store.MinKey()} }

func (f *fence) admits(c store.Claim) bool {
	return f.held && f.version == c.Version && f.owner.Incarnation == c.Owner
}

// shard returns a shard's state. It creates the state if there is none.
func (db *Database) shard(id shard.ID) *shardState {
	sh := db.shards[id]
	if sh == nil {
		sh = &shardState{
			id:        id,
			fence:     unclaimed(),
			byAttempt: map[attemptKey]*historyRow{},
		}
		db.shards[id] = sh
	}
	return sh
}

// row returns a live row, or nil.
func (db *Database) row(ref store.Ref) *row {
	sh := db.shards[ref.Shard]
	if sh == nil {
		return nil
	}
	r, _ := sh.rows.get(ref.UUID)
	return r
}

// markKey orders outbox entries by age. The other fields make it unique.
type markKey struct {
	at   timer.Millis
	uuid timer.UUID
	// generation and attempt are zero for a parked row, because a timer has at most one.
	generation timer.Generation
	attempt    timer.Attempt
}

// Compare orders by age first.
func (k markKey) Compare(o markKey) int {
	return cmp.Or(
		cmp.Compare(k.at, o.at),
		k.uuid.Compare(o.uuid),
		cmp.Compare(k.generation, o.generation),
		cmp.Compare(k.attempt, o.attempt),
	)
}

// markOn is the row that an outbox entry belongs to. Exactly one of the two is set.
type markOn struct {
	parked *row
	dead   *historyRow
}
