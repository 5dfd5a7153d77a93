package mysqlstore

import (
	"context"
	"errors"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// errTaken: an id of a batch of creates exists.
var errTaken = errors.New("an id exists")

// Write implements store.Timers. A batch of creates is one INSERT, without a transaction, if no id exists and the batch fits
// into one statement. Otherwise nothing of it was applied, and the operations are applied with their rows locked.
func (s *Store) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	out := make([]store.Written, len(ops))
	if s.onlyCreates(ops) {
		err := s.writeOne(ctx, "create timers", func(c *conn) error { return s.create(ctx, c, now, ops, out) })
		switch {
		case err == nil:
			return out, nil
		case !errors.Is(err, errTaken):
			return nil, err
		}
	}
	err := s.write(ctx, "write timers", func(c *conn) error { return s.apply(ctx, c, now, ops, out) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// onlyCreates reports whether a batch may be one INSERT.
func (s *Store) onlyCreates(ops []store.Op) bool {
	refs := make(map[store.Ref]bool, len(ops))
	bytes := 0
	for _, op := range ops {
		put, ok := op.(store.Put)
		if !ok || put.OnConflict != store.Replace || refs[put.Ref] {
			return false
		}
		refs[put.Ref] = true
		bytes += 4096 + 2*len(put.Spec.Payload)
	}
	return len(ops) <= maxRows && bytes <= s.maxPacket/2
}

func (s *Store) create(ctx context.Context, c *conn, now timer.Millis, ops []store.Op, out []store.Written) error {
	// In the order of the primary key, in which inserts cost the server less.
	order := engine.Places(ops)
	slices.SortFunc(order, func(a, b int) int { return compareRefs(putAt(ops, a).Ref, putAt(ops, b).Ref) })
	err := c.inserts(ctx, s.maxPacket, insertTimers, "", len(ops), func(i int) ([]any, int) {
		i = order[i]
		put := putAt(ops, i)
		t := engine.NewTimer(now, &put)
		out[i] = store.Written{Timer: t}
		return c.liveArgs(put.Ref.Shard, &engine.Row{Timer: t}), len(t.Payload)
	})
	if number(err) == duplicateKey {
		return errTaken
	}
	return err
}

// putAt returns an operation that onlyCreates has checked.
func putAt(ops []store.Op, place int) store.Put {
	put, _ := ops[place].(store.Put)
	return put
}

// apply applies operations in their order, with their rows locked.
func (s *Store) apply(ctx context.Context, c *conn, now timer.Millis, ops []store.Op, out []store.Written) error {
	needs := make(map[store.Ref]need, len(ops))
	for _, op := range ops {
		if ref, err := engine.RefOf(op); err == nil {
			put, ok := op.(store.Put)
			needs[ref] = need{payload: true, ended: needs[ref].ended || ok && put.OnConflict != store.Replace}
		}
	}
	l, err := s.lock(ctx, c, now, needs)
	if err != nil {
		return err
	}
	for i, op := range ops {
		ref, err := engine.RefOf(op)
		if err != nil {
			out[i] = store.Written{Err: err}
			continue
		}
		out[i] = l.slots[ref].Apply(now, op)
	}
	return l.flush(ctx)
}

// WriteAt implements store.Positions. The row of the position is locked first, so that calls for a partition run one after
// the other.
func (s *Store) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, move store.Move) ([]store.Written, error) {
	out := make([]store.Written, len(ops))
	var present store.Position
	err := s.write(ctx, "write timers at a position", func(c *conn) error {
		if _, err := c.exec(ctx, reservePosition, text(move.Topic), move.Partition); err != nil {
			return err
		}
		if err := c.run(ctx)(statements.ReadPosition(move.Topic, move.Partition, &present)); err != nil {
			return err
		}
		if present != move.From {
			return nil
		}
		if err := s.apply(ctx, c, now, ops, out); err != nil {
			return err
		}
		_, err := c.exec(ctx, setPosition, move.To.Epoch, move.To.Offset, int64(now), text(move.Topic), move.Partition)
		return err
	})
	if err != nil {
		return nil, err
	}
	if present != move.From {
		return nil, engine.NotAt(present, move)
	}
	return out, nil
}

const (
	// reservePosition locks the row. The zero position means that none is stored.
	reservePosition = "INSERT INTO positions VALUES (?, ?, 0, 0, 0) ON DUPLICATE KEY UPDATE topic = topic"
	setPosition     = "UPDATE positions SET incarnation = ?, `offset` = ?, updated_at = ? WHERE topic = ? AND `partition` = ?"
)
