package relational

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Place is a position in a list: that of a row, in the order of the table's key. The key of live timers is (shard,
// uuid), and the other fields are unused.
type Place struct {
	Shard      shard.ID
	UUID       timer.UUID
	Generation timer.Generation
	Attempt    timer.Attempt
}

// before returns a position before all rows of a shard and after those of lower shards.
func before(id shard.ID) Place {
	return Place{Shard: id, Generation: math.MinInt64, Attempt: math.MinInt32}
}

// BehindAll returns a position after all rows of all shards.
func BehindAll() Place {
	return Place{
		Shard:      math.MaxUint32,
		UUID:       store.MaxKeyAt(0).UUID,
		Generation: math.MaxInt64,
		Attempt:    math.MaxInt32,
	}
}

// Compare orders positions as the tables' keys do.
func (p Place) Compare(o Place) int {
	return cmp.Or(
		cmp.Compare(p.Shard, o.Shard),
		p.UUID.Compare(o.UUID),
		cmp.Compare(p.Generation, o.Generation),
		cmp.Compare(p.Attempt, o.Attempt),
	)
}

// Cursors encodes the cursors of an engine: a kind, a position and a checksum over both. The checksum is not a secret.
// It makes the engine refuse bytes that are not one of its cursors. Live and Finished are the kinds. They are four
// bytes long and differ between engines.
type Cursors struct{ Live, Finished string }

const (
	kindSize   = 4
	cursorSize = kindSize + 4 + 16 + 8 + 4 + crc32.Size
)

func (c Cursors) kind(finished bool) string {
	if finished {
		return c.Finished
	}
	return c.Live
}

// At returns the cursor of a position.
func (c Cursors) At(p Place, finished bool) store.Cursor {
	b := make([]byte, 0, cursorSize)
	b = append(b, c.kind(finished)...)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Shard))
	b = append(b, p.UUID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Generation))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Attempt))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Start returns the position after which the query's page begins, or a timer.InvalidError.
func (c Cursors) Start(q *store.ListQuery) (Place, error) {
	if len(q.After) == 0 {
		return before(q.Namespace.Shards.Base), nil
	}
	bad := timer.Invalid("cursor", []byte(q.After), "the cursor of the previous page, with the same namespace and status")
	if len(q.After) != cursorSize || string(q.After[:kindSize]) != c.kind(q.Status.Finished()) {
		return Place{}, bad
	}
	body, sum := q.After[:cursorSize-crc32.Size], q.After[cursorSize-crc32.Size:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return Place{}, bad
	}
	b := body[kindSize:]
	p := Place{
		Shard:      shard.ID(binary.BigEndian.Uint32(b)),
		UUID:       timer.UUID(b[4:20]),
		Generation: timer.Generation(binary.BigEndian.Uint64(b[20:])),
		Attempt:    timer.Attempt(binary.BigEndian.Uint32(b[28:])),
	}
	// A cursor of another namespace would list that namespace's shards.
	if !q.Namespace.Shards.Contains(p.Shard) {
		return Place{}, bad
	}
	return p, nil
}
