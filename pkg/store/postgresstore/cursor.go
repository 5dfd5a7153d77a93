package postgresstore

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// place is where a list stands: behind this row, in the order of the table's key. For live timers the
// key is (shard, uuid) and the rest is unused.
type place struct {
	shard      shard.ID
	uuid       timer.UUID
	generation timer.Generation
	attempt    timer.Attempt
}

// before lies before all rows of a block of shards.
func before(b shard.Block) place {
	return place{shard: b.Base, generation: math.MinInt64, attempt: math.MinInt32}
}

// behindAll lies behind all rows of all shards.
func behindAll() place {
	return place{
		shard:      math.MaxUint32,
		uuid:       store.MaxKeyAt(0).UUID,
		generation: math.MaxInt64,
		attempt:    math.MaxInt32,
	}
}

// compare orders places as the tables' keys do.
func (p place) compare(o place) int {
	return cmp.Or(
		cmp.Compare(p.shard, o.shard),
		p.uuid.Compare(o.uuid),
		cmp.Compare(p.generation, o.generation),
		cmp.Compare(p.attempt, o.attempt),
	)
}

// A cursor is a kind, a place and a checksum over both. The checksum is no secret: it keeps bytes of
// other origin from passing for a place.
const (
	liveCursor     = "pg1l"
	finishedCursor = "pg1f"
	cursorSize     = len(liveCursor) + 4 + 16 + 8 + 4 + crc32.Size
)

func cursorKind(finished bool) string {
	if finished {
		return finishedCursor
	}
	return liveCursor
}

func (p place) cursor(finished bool) store.Cursor {
	b := make([]byte, 0, cursorSize)
	b = append(b, cursorKind(finished)...)
	b = binary.BigEndian.AppendUint32(b, uint32(p.shard))
	b = append(b, p.uuid[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.generation))
	b = binary.BigEndian.AppendUint32(b, uint32(p.attempt))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// startOf returns where a query goes on, or a timer.InvalidError.
func startOf(q *store.ListQuery) (place, error) {
	if len(q.After) == 0 {
		return before(q.Namespace.Shards), nil
	}
	bad := timer.Invalid("cursor", []byte(q.After), "the cursor of the page before, with the same namespace and status")
	kind := cursorKind(q.Status.Finished())
	if len(q.After) != cursorSize || string(q.After[:len(kind)]) != kind {
		return place{}, bad
	}
	body, sum := q.After[:cursorSize-crc32.Size], q.After[cursorSize-crc32.Size:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return place{}, bad
	}
	b := body[len(kind):]
	p := place{
		shard:      shard.ID(binary.BigEndian.Uint32(b)),
		uuid:       timer.UUID(b[4:20]),
		generation: timer.Generation(binary.BigEndian.Uint64(b[20:])),
		attempt:    timer.Attempt(binary.BigEndian.Uint32(b[28:])),
	}
	// One of another namespace would walk that namespace's shards.
	if !q.Namespace.Shards.Contains(p.shard) {
		return place{}, bad
	}
	return p, nil
}
