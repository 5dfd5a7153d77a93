package dynamostore

import (
	"context"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// Inspect implements store.Shards.
func (s *Store) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "inspect shards"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	groups := turns(len(shards), func(i int) shard.ID { return shards[i] })
	keys := make([]item, len(groups))
	for g := range groups {
		keys[g] = recordKey(shards[groups[g][0]])
	}
	records, missed, err := s.getAll(ctx, s.options.Table, keys, "")
	for _, unread := range missed { // Inspect is for operators, who repeat the request
		err = unread
	}
	out := make([]store.ShardState, len(shards))
	if err == nil {
		err = s.each(len(groups), func(g int) error {
			id := shards[groups[g][0]]
			state, err := readRecord(id, records[describeKey(keys[g])])
			if err != nil {
				return err
			}
			first, err := s.page(ctx, id, keyText(store.MinKey()), pastAllKeys, 1)
			if len(first.rows) > 0 {
				state.NextDueAt = first.rows[0].DueAt
			}
			for _, i := range groups[g] {
				out[i] = state
			}
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("inspect shards: %w", err)
	}
	return out, nil
}
