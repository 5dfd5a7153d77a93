package dynamostore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Overdue implements store.Shards.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	spans := make([]span, len(q.Shards))
	for i, asked := range q.Shards {
		spans[i] = span{claim: asked.Claim, after: asked.From, upto: asked.Upto}
		if last := store.MaxKeyAt(q.Before - 1); asked.Upto.After(last) {
			spans[i].upto = last
		}
	}
	out := make([]store.OverdueShard, len(q.Shards))
	err := s.answer(ctx, "overdue", spans, q.Limit, q.Limit, false, func(i int, f found, err error) {
		out[i] = store.OverdueShard{Err: err, Rows: f.rows, More: err == nil && f.next != timer.Never}
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, nil
}
