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

// Place is where a list stands: behind this row, in the order of the table's key. For live timers the
// key is (shard, uuid) and the rest is unused.
type Place struct {
	Shard      shard.ID
	UUID       timer.UUID
	Generation timer.Generation
	Attempt    timer.Attempt
}

// before lies before all rows of a shard, and behind those of the shards before it.
func before(id shard.ID) Place {
	return Place{Shard: id, Generation: math.MinInt64, Attempt: math.MinInt32}
}

// BehindAll lies behind all rows of all shards.
func BehindAll() Place {
	return Place{
		Shard:      math.MaxUint32,
		UUID:       store.MaxKeyAt(0).UUID,
		Generation: math.MaxInt64,
		Attempt:    math.MaxInt32,
	}
}

// Compare orders places as the tables' keys do.
func (p Place) Compare(o Place) int {
	return cmp.Or(
		cmp.Compare(p.Shard, o.Shard),
		p.UUID.Compare(o.UUID),
		cmp.Compare(p.Generation, o.Generation),
		cmp.Compare(p.Attempt, o.Attempt),
	)
}

// Cursors are an engine's: a kind, a place and a checksum over both. The checksum is no secret: it keeps bytes
// of other origin from passing for a place. Live and Finished are the kinds, of four bytes, an engine's own.
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

// At is the cursor of a place.
func (c Cursors) At(p Place, finished bool) store.Cursor {
	b := make([]byte, 0, cursorSize)
	b = append(b, c.kind(finished)...)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Shard))
	b = append(b, p.UUID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Generation))
	b = binary.BigEndian.AppendUint32(b, uint32(p.Attempt))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Start returns where a query goes on, or a timer.InvalidError.
func (c Cursors) Start(q *store.ListQuery) (Place, error) {
	if len(q.After) == 0 {
		return before(q.Namespace.Shards.Base), nil
	}
	bad := timer.Invalid("cursor", []byte(q.After), "the cursor of the page before, with the same namespace and status")
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
	// One of another namespace would walk that namespace's shards.
	if !q.Namespace.Shards.Contains(p.Shard) {
		return Place{}, bad
	}
	return p, nil
}
