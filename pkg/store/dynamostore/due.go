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

// answer reads spans and tells each what was found, or that its claim is fenced.
//
// The rows are read first and the claims after them. A claim that is the newest when it is read was the
// newest while the rows were: versions only grow, and what was released stays so. Read the other way
// round, a shard could be taken over between the two, and its old owner would learn rows of its
// successor's time.
//
// A fenced shard takes no room, which shows only after the rows were divided up; if that left somebody
// short, the others are read again without it.
func (s *Store) answer(
	ctx context.Context, op string, spans []span, perShard, total int, peek bool, tell func(i int, f found, err error),
) error {
	if len(spans) == 0 {
		return nil
	}
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	defer s.leave()
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

// fenced returns, for each of the spans, ErrFenced if its claim is not the newest or was released, or why that is not
// known; else nil. It reads strongly consistent, in one request for up to a hundred shards.
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
