package dynamostore

import (
	"encoding/binary"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// cursor is the position of the last item read. For a live timer only the uuid is used.
type cursor struct {
	finished bool
	shard    shard.ID
	// started is set if an item of the shard was read.
	started    bool
	uuid       timer.UUID
	generation timer.Generation
	attempt    timer.Attempt
}

// Cursors begin with one of these prefixes, so that cursors of another engine are refused.
const (
	liveCursor     = "dyn1l"
	finishedCursor = "dyn1f"
	cursorSize     = len(liveCursor) + 4 + 1 + 16 + 8 + 4
)

func (c *cursor) encode() store.Cursor {
	b := make([]byte, 0, cursorSize)
	if c.finished {
		b = append(b, finishedCursor...)
	} else {
		b = append(b, liveCursor...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(c.shard))
	if c.started {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(b, c.uuid[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.generation))
	return binary.BigEndian.AppendUint32(b, uint32(c.attempt))
}

// startOf returns the position after which the query's page begins.
func startOf(q *store.ListQuery) (cursor, error) {
	c := cursor{finished: q.Status.Finished(), shard: q.Namespace.Shards.Base}
	if len(q.After) == 0 {
		return c, nil
	}
	bad := timer.Invalid("cursor", []byte(q.After), "the cursor of the previous page, with the same namespace and status")
	magic := liveCursor
	if c.finished {
		magic = finishedCursor
	}
	if len(q.After) != cursorSize || string(q.After[:len(magic)]) != magic {
		return cursor{}, bad
	}
	b := q.After[len(magic):]
	c.shard = shard.ID(binary.BigEndian.Uint32(b))
	c.started = b[4] == 1
	copy(c.uuid[:], b[5:])
	c.generation = timer.Generation(binary.BigEndian.Uint64(b[21:]))
	c.attempt = timer.Attempt(binary.BigEndian.Uint32(b[29:]))
	// A cursor of another namespace would list that namespace's shards.
	if b[4] > 1 || !q.Namespace.Shards.Contains(c.shard) {
		return cursor{}, bad
	}
	return c, nil
}

// sort returns the sort key of the position.
func (c *cursor) sort() string {
	if c.finished {
		return historySort(c.uuid, c.generation, c.attempt)
	}
	return timerPrefix + c.uuid.String()
}

// moveTo sets the position to that of an item of its shard.
func (c *cursor) moveTo(it item) error {
	read := reader{item: it}
	c.started = true
	if c.finished {
		c.uuid = read.uuidAfter(historyPrefix)
		c.generation, c.attempt = timer.Generation(read.int(attrGeneration)), timer.Attempt(read.int(attrAttempts))
	} else {
		c.uuid = read.uuidAfter(timerPrefix)
	}
	return read.err
}
