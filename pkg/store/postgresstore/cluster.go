package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

var (
	insertCluster = statement{
		"insert_cluster",
		"INSERT INTO cluster (id, partitions, created_at) VALUES ($1, $2, $3) ON CONFLICT (one) DO NOTHING",
	}
	selectCluster = statement{"select_cluster", "SELECT id, partitions, created_at FROM cluster"}
)

// Init implements store.Cluster.
func (s *Store) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	var there store.Identity
	err := s.write(ctx, "init cluster", latest, func(t *transaction) error {
		return t.commit(ctx,
			call{
				statement: insertCluster,
				args:      [][]byte{uuidValue(want.ID), int4Value(int32(want.Partitions)), instantValue(want.CreatedAt)},
			},
			call{statement: selectCluster, row: func(r *record) {
				there.ID = r.uuid()
				there.Partitions = int(r.int4())
				there.CreatedAt, _ = r.instant()
			}})
	})
	if err != nil {
		return store.Identity{}, err
	}
	return there, nil
}
