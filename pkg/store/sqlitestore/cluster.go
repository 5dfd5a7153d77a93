package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

const (
	insertCluster = "INSERT INTO cluster (one, id, partitions, created_at) VALUES (1, ?, ?, ?) ON CONFLICT (one) DO NOTHING"
	selectCluster = "SELECT id, partitions, created_at FROM cluster WHERE one = 1"
)

// Init implements store.Cluster.
func (s *Store) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	var there store.Identity
	err := s.write(ctx, "init cluster", 1, 0, func(c *conn) error {
		if _, err := c.exec(insertCluster, want.ID[:], want.Partitions, want.CreatedAt); err != nil {
			return err
		}
		return c.one(selectCluster, nil, (*uuidColumn)(&there.ID), &there.Partitions, &there.CreatedAt)
	})
	if err != nil {
		return store.Identity{}, err
	}
	return there, nil
}
