package memstore

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxLooked bounds how many rows a page reads. If few rows match the filter, pages are short and have a Next, as the
// contract allows. So tests find callers that cannot process such pages.
const maxLooked = 1000

// ListFilters implements store.DeclaredFilters.
func (*Store) ListFilters() store.Filters { return store.AllFilters() }

// List implements store.Timers. Live timers are ordered by (shard, uuid), finished ones by (shard, uuid, age).
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if q.InDueOrder {
		return engine.DuePage(ctx, &q, s.DueKeys, s.liveRows)
	}
	if err := s.lock(ctx, "list timers"); err != nil {
		return store.Page{}, err
	}
	defer s.db.mu.Unlock()
	from, err := startOf(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("list timers of %q: %w: %w", q.Namespace.Name, store.ErrInvalid, err)
	}
	p := pager{q: &q, now: now}
	for id := from.shard; q.Namespace.Shards.Contains(id); id++ {
		if sh := s.db.shards[id]; sh != nil && !p.take(sh, from) {
			break
		}
		from = cursor{finished: from.finished}
	}
	return p.page, nil
}

// DueKeys implements store.Timers.
func (s *Store) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	if err := s.lock(ctx, "read keys"); err != nil {
		return store.DueKeys{}, err
	}
	defer s.db.mu.Unlock()
	each := engine.KeysPerShard(q.Limit, q.Namespace.Shards.Count)
	var found []store.DueKey
	for id := q.Namespace.Shards.Base; q.Namespace.Shards.Contains(id); id++ {
		sh := s.db.shards[id]
		if sh == nil {
			continue
		}
		n := 0
		for key := range sh.due.after(q.After) {
			if n == each || q.Before != 0 && key.DueAt >= q.Before {
				break
			}
			n++
			found = append(found, store.DueKey{Key: key, Shard: id})
		}
	}
	return engine.MergeKeys(found, q.Limit, each), nil
}

// liveRows returns the timers that have a row.
func (s *Store) liveRows(ctx context.Context, refs []store.Ref) ([]timer.Timer, error) {
	if err := s.lock(ctx, "list timers"); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	var found []timer.Timer
	for _, ref := range refs {
		if r := s.db.row(ref); r != nil {
			found = append(found, clone(r.timer))
		}
	}
	return found, nil
}

// CountLive implements store.Timers.
func (s *Store) CountLive(ctx context.Context, ns store.Namespace, limit int) (int, error) {
	if err := s.lock(ctx, "count timers"); err != nil {
		return 0, err
	}
	defer s.db.mu.Unlock()
	n := 0
	for id := ns.Shards.Base; ns.Shards.Contains(id) && n < limit; id++ {
		if sh := s.db.shards[id]; sh != nil {
			n += sh.rows.len
		}
	}
	return min(n, limit), nil
}

// pager fills one page.
type pager struct {
	q      *store.ListQuery
	now    timer.Millis
	page   store.Page
	bytes  store.PageBytes
	looked int
}

// take adds the timers of one shard after from. It returns false when the page is full; the page's Next is then the
// last position that it read.
func (p *pager) take(sh *shardState, from cursor) bool {
	last := cursor{finished: from.finished, shard: sh.id, after: from.after}
	if !from.finished {
		for uuid, r := range sh.rows.after(from.after.uuid) {
			if p.full(last) {
				return false
			}
			if !p.look(&r.timer, false) {
				p.page.Next = last.encode()
				return false
			}
			last.after.uuid = uuid
		}
		return true
	}
	for key, h := range sh.history.after(from.after) {
		if p.full(last) {
			return false
		}
		if !p.look(&h.timer, !listed(h) || h.expired(p.now)) {
			p.page.Next = last.encode()
			return false
		}
		last.after = key
	}
	return true
}

func (p *pager) full(at cursor) bool {
	if len(p.page.Timers) < p.q.Limit && p.looked < maxLooked {
		return false
	}
	p.page.Next = at.encode()
	return true
}

// look adds a timer to the page if it matches the query. It returns false if the page has no room for its payload.
func (p *pager) look(t *timer.Timer, hidden bool) bool {
	p.looked++
	if hidden || !p.q.Selects(t) {
		return true
	}
	shown := *t
	if p.q.WithoutPayloads {
		shown.Payload = nil
	}
	if !p.bytes.Fits(&shown) {
		return false
	}
	p.page.Timers = append(p.page.Timers, clone(shown))
	return true
}

// cursor is the position of the last row read. For a live timer only the uuid of its key is used.
type cursor struct {
	finished bool
	shard    shard.ID
	after    historyKey
}

// Cursors begin with one of these prefixes, so that cursors of another engine are refused.
const (
	liveCursor     = "mem1l"
	finishedCursor = "mem1f"
	cursorSize     = len(liveCursor) + 4 + 16 + 8 + 4 + 8
)

func (c cursor) encode() store.Cursor {
	b := make([]byte, 0, cursorSize)
	if c.finished {
		b = append(b, finishedCursor...)
	} else {
		b = append(b, liveCursor...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(c.shard))
	b = append(b, c.after.uuid[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.after.finishedAt))
	b = binary.BigEndian.AppendUint32(b, uint32(c.after.attempt))
	return binary.BigEndian.AppendUint64(b, uint64(c.after.generation))
}

// startOf returns the position after which the query's page begins.
func startOf(q *store.ListQuery) (cursor, error) {
	c := cursor{finished: q.Status.Finished(), shard: q.Namespace.Shards.Base}
	if len(q.After) == 0 {
		return c, nil
	}
	const want = "the cursor of the previous page, with the same namespace and status"
	magic := liveCursor
	if c.finished {
		magic = finishedCursor
	}
	if len(q.After) != cursorSize || string(q.After[:len(magic)]) != magic {
		return cursor{}, timer.Invalid("cursor", []byte(q.After), want)
	}
	b := q.After[len(magic):]
	c.shard = shard.ID(binary.BigEndian.Uint32(b))
	copy(c.after.uuid[:], b[4:])
	c.after.finishedAt = timer.Millis(binary.BigEndian.Uint64(b[20:]))
	c.after.attempt = timer.Attempt(binary.BigEndian.Uint32(b[28:]))
	c.after.generation = timer.Generation(binary.BigEndian.Uint64(b[32:]))
	// A cursor of another namespace would list that namespace's shards.
	if !q.Namespace.Shards.Contains(c.shard) {
		return cursor{}, timer.Invalid("cursor", []byte(q.After), want)
	}
	return c, nil
}
