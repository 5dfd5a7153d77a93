package store

import (
	"cmp"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is everything an engine does, cut by who needs it. Each service takes only its own parts.
//
// Rules common to all methods:
//
//   - Batches are slices, and answers are slices of the same length and order. Each item is atomic;
//     a batch is not, except where a comment says so.
//   - A method's error is about the whole batch (ErrUnavailable, ErrOutcomeUnknown, ErrClosed or
//     ctx's error, which for a write means ErrOutcomeUnknown); the failure of one item is in
//     that item's answer. That may be ErrUnavailable or ErrOutcomeUnknown, too: an engine that makes
//     a request for each item must not fail all of them because the database refuses one shard, which
//     is hot or full. Behind such an item, later ones on the same timer are not applied.
//   - Every write takes `now`, the writer's clock, read before the commit. It becomes updatedAt, and
//     no due_at is written that lies before it (I6) or before executeAt.
//   - Reads are strongly consistent: they see every write that was answered before they began.
//   - An empty batch is answered without asking the database.
//   - Nothing that is passed in is kept or changed, and nothing that is returned is shared.
type Store interface {
	Timers
	Shards
	Outcomes
	Namespaces
	Cluster
}

// Ref addresses a timer's row. The shard is computed from the namespace and the id; it is the part by
// which engines partition.
type Ref struct {
	Shard shard.ID
	UUID  timer.UUID
}

// Key orders the rows of one shard: by DueAt, then by UUID as unsigned bytes.
type Key struct {
	DueAt timer.Millis
	UUID  timer.UUID
}

// Compare orders keys.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.DueAt, o.DueAt); c != 0 {
		return c
	}
	return k.UUID.Compare(o.UUID)
}

// After reports whether k lies after o.
func (k Key) After(o Key) bool { return k.Compare(o) > 0 }

// MinKey lies before every row: the watermark of a shard that was never worked on.
func MinKey() Key { return Key{DueAt: math.MinInt64} }

// MaxKeyAt lies at or after every row that is due at the instant or before.
func MaxKeyAt(at timer.Millis) Key {
	k := Key{DueAt: at}
	for i := range k.UUID {
		k.UUID[i] = 0xff
	}
	return k
}
