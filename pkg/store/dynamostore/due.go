package dynamostore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Due implements store.Shards.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	spans := make([]span, len(q.Shards))
	for i, asked := range q.Shards {
		spans[i] = span{claim: asked.Claim, after: asked.After, upto: store.MaxKeyAt(q.Horizon)}
	}
	out := make([]store.DueShard, len(q.Shards))
	err := s.answer(ctx, "due", spans, q.PerShard, q.Total, true, func(i int, f found, err error) {
		if err != nil {
			out[i].Err = err
			return
		}
		out[i] = store.DueShard{Rows: f.rows, NextDueAt: f.next, Cut: f.next != timer.Never && f.next <= q.Horizon}
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, nil
}

// answer reads spans and calls tell for each with the rows, or with ErrFenced if its claim is fenced.
//
// It reads the rows first and the claims after them. A claim that is the newest when it is read was also the newest
// while the rows were read, because versions only grow and a released claim stays released. In the other order, another
// process could claim the shard between the two reads, and the old owner would get rows that were written after that
// claim.
//
// answer detects a fenced shard only after total was divided among the shards. If the rows of a fenced shard left too
// little for others, it reads the others again without it.
func (s *Store) answer(
	ctx context.Context, op string, spans []span, perShard, total int, peek bool, tell func(i int, f found, err error),
) error {
	if len(spans) == 0 {
		return nil
	}
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	places := make([]int, len(spans))
	for i := range places {
		places[i] = i
	}
	for {
		asked := make([]span, len(places))
		for n, i := range places {
			asked[n] = spans[i]
		}
		read, err := s.readSpans(ctx, asked, perShard, total, peek)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		refused, err := s.fenced(ctx, asked)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		wasted, unfenced := 0, places[:0:0]
		for n, i := range places {
			if refused[n] == nil {
				refused[n] = read[n].err
			}
			if refused[n] != nil {
				wasted += len(read[n].rows)
				c := spans[i].claim
				tell(i, found{}, fmt.Errorf("%s shard %s under claim %d: %w", op, c.Shard, c.Version, refused[n]))
				continue
			}
			unfenced = append(unfenced, i)
		}
		if wasted == 0 || taken(read) < total {
			for n, i := range places {
				if refused[n] == nil {
					tell(i, read[n], nil)
				}
			}
			return nil
		}
		if places = unfenced; len(places) == 0 {
			return nil
		}
	}
}

func taken(all []found) int {
	n := 0
	for i := range all {
		n += len(all[i].rows)
	}
	return n
}

// fenced returns for each span nil, or ErrFenced if its claim is not the newest or was released, or the error of the
// read. It reads strongly consistent, in one request for up to a hundred shards.
func (s *Store) fenced(ctx context.Context, spans []span) ([]error, error) {
	keys := make([]item, 0, len(spans))
	asked := make(map[string]bool, len(spans))
	for i := range spans {
		k := recordKey(spans[i].claim.Shard)
		if !asked[describeKey(k)] {
			asked[describeKey(k)] = true
			keys = append(keys, k)
		}
	}
	records, missed, err := s.getAll(ctx, s.options.Table, keys, "#shard_id, #sk, #version, #owner")
	if err != nil {
		return nil, err
	}
	out := make([]error, len(spans))
	for i := range spans {
		key := describeKey(recordKey(spans[i].claim.Shard))
		if out[i] = missed[key]; out[i] == nil && !admits(records[key], spans[i].claim) {
			out[i] = store.ErrFenced
		}
	}
	return out, nil
}
