package store

import (
	"cmp"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is the complete contract of an engine, divided by the component that uses each part. A service takes only the
// parts that it needs.
//
// Rules common to all methods:
//
//   - Batches are slices, and answers are slices of the same length and order. Each item is atomic. A batch is not,
//     unless a method's comment says so.
//   - A method's error applies to the whole batch: ErrUnavailable, ErrOutcomeUnknown, ErrClosed or ctx's error, which
//     for a write means ErrOutcomeUnknown. The error of one item is in that item's answer. An item's error may also be
//     ErrUnavailable or ErrOutcomeUnknown: if an engine sends one request per item and the database refuses those of
//     one shard, because it is hot or full, the other items must not fail. After such an item, later items for the same
//     timer are not applied.
//   - Every write takes `now`, the writer's clock, read before the commit. It becomes updatedAt, and no due_at is
//     written that is before it (I6) or before executeAt.
//   - Reads are strongly consistent: they see every write that was answered before they began.
//   - An empty batch is answered without a request to the database.
//   - Engines neither keep nor change their arguments, and do not share returned memory.
type Store interface {
	Timers
	Shards
	Outcomes
	Namespaces
	Cluster
}

// Ref addresses a timer's row. The shard is computed from the namespace and the id. Engines partition by it.
type Ref struct {
	Shard shard.ID
	UUID  timer.UUID
}

// Key orders the rows of one shard: by DueAt, then by UUID as unsigned bytes.
type Key struct {
	DueAt timer.Millis
	UUID  timer.UUID
}

// Compare returns a negative number if k is before o, 0 if they are equal, and a positive number if k is after o.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.DueAt, o.DueAt); c != 0 {
		return c
	}
	return k.UUID.Compare(o.UUID)
}

// After reports whether k is after o.
func (k Key) After(o Key) bool { return k.Compare(o) > 0 }

// MinKey is before every row. It is the watermark of a shard that was never claimed.
func MinKey() Key { return Key{DueAt: math.MinInt64} }

// MaxKeyAt returns the largest key with this due_at: no row that is due at this time or earlier is after it.
func MaxKeyAt(at timer.Millis) Key {
	k := Key{DueAt: at}
	for i := range k.UUID {
		k.UUID[i] = 0xff
	}
	return k
}
