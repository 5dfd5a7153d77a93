package relational

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
)

func (s *Statements) addCluster(d *Dialect, prepare func(name, sql string) *Statement) {
	s.insertCluster = prepare("insert_cluster",
		"INSERT INTO cluster (one, id, partitions, created_at) VALUES (true, @id, @partitions, @created_at)"+d.KeepCluster)
	s.selectCluster = prepare("select_cluster", "SELECT id, partitions, created_at FROM cluster")
}

// Init implements store.Cluster.
func (c *Core) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	var there store.Identity
	values := Values{"id": want.ID, "partitions": int32(want.Partitions), "created_at": want.CreatedAt}
	err := c.db.Write(ctx, "init cluster", func(run Run) error {
		return run(Call{Statement: c.statements.insertCluster, Values: values},
			Call{Statement: c.statements.selectCluster, Row: func(r Row) error {
				var partitions int64
				err := r.Scan(&there.ID, &partitions, &there.CreatedAt)
				there.Partitions = int(partitions)
				return err
			}})
	})
	if err != nil {
		return store.Identity{}, err
	}
	return there, nil
}
