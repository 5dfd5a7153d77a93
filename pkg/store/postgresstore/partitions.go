package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A new database has timerPartitions partitions of timers. Databases that contained timers when migration 20 ran have 32, and
// every statement works with both. MergePartitions replaces the partitions of each group, which are those whose rows belong to one
// new partition, in one transaction. So a merge that is interrupted leaves a table with partitions of both sizes, which works,
// and can be continued (docs/decisions/0087).

const (
	timerPartitions = 8
	// partitionParameters are the same as in migration 20.
	partitionParameters = `fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
	autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_analyze_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 0`

	countPartitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'timers'::regclass"
	// selectPartitions reads the partitions in the order of their remainders. The catalog has the bounds as text only.
	selectPartitions = `SELECT inhrelid::regclass::text, bound[1]::int, bound[2]::int
FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
	regexp_match(pg_get_expr(c.relpartbound, c.oid), 'modulus (\d+), remainder (\d+)') AS bound
WHERE inhparent = 'timers'::regclass ORDER BY 3, 2`
	// The columns of a partition may have another order.
	selectColumns = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = 'timers'::regclass AND attnum > 0 AND NOT attisdropped`
)

// MergePartitions reduces the partitions of timers to the number that new databases have, and returns their number before and
// after. Processes may run during the merge: while a group of partitions is copied, they wait for the lock of the table, and their calls
// fail with ErrUnavailable if that takes longer than their lock_timeout.
func MergePartitions(ctx context.Context, o Options) (before, after int, err error) {
	schema, err := Status(ctx, o)
	if err == nil && schema.Version < schema.Known {
		err = fmt.Errorf("the schema is version %d, want %d: run `%s`", schema.Version, schema.Known, store.MigrateCommand)
	}
	if err == nil {
		err = schema.Usable()
	}
	if err != nil {
		return 0, 0, err
	}
	config, err := o.migrationPool()
	if err != nil {
		return 0, 0, err
	}
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return 0, 0, refused(target(config), err)
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	if err := c.QueryRow(ctx, countPartitions).Scan(&before); err != nil {
		return 0, 0, err
	}
	for remainder := range timerPartitions {
		began := time.Now()
		rows, merged, err := mergeGroup(ctx, c, remainder)
		for try := 0; again(err) && try < migrateTries && timer.Sleep(ctx, migratePause); try++ {
			began = time.Now()
			rows, merged, err = mergeGroup(ctx, c, remainder)
		}
		if err != nil {
			return before, 0, fmt.Errorf("merge partitions of timers into %s: %w", partitionName(remainder), err)
		}
		if merged == 0 {
			continue
		}
		o.logger().InfoContext(ctx, "partitions merged", "partitions", merged, "into", partitionName(remainder), "rows", rows,
			"took", time.Since(began).Round(time.Millisecond).String())
		// The new table has no visibility map. Autovacuum may be faster.
		if _, err := c.Exec(ctx, "VACUUM (ANALYZE, SKIP_LOCKED) "+partitionName(remainder)); err != nil {
			return before, 0, fmt.Errorf("vacuum %s: %w", partitionName(remainder), err)
		}
	}
	err = c.QueryRow(ctx, countPartitions).Scan(&after)
	return before, after, err
}

func partitionName(remainder int) string { return fmt.Sprint("timers_", remainder) }

// mergeGroup merges the partitions whose rows belong to the new partition of a remainder.
func mergeGroup(ctx context.Context, c *pgx.Conn, remainder int) (rows int64, merged int, err error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
		}
	}()
	// Nothing reads or writes timers from here to the commit. Transactions that wait for this lock must take their snapshots
	// later, because an older snapshot does not show the copied rows (transaction.begin).
	if _, err := tx.Exec(ctx, "LOCK TABLE ONLY timers IN ACCESS EXCLUSIVE MODE"); err != nil {
		return 0, 0, err
	}
	if rows, merged, err = mergeLocked(ctx, tx, remainder); err != nil {
		return 0, 0, err
	}
	return rows, merged, tx.Commit(ctx)
}

// mergeLocked is the part of mergeGroup after the lock.
func mergeLocked(ctx context.Context, tx pgx.Tx, remainder int) (rows int64, merged int, err error) {
	olds, err := group(ctx, tx, remainder)
	if err != nil || len(olds) == 0 {
		return 0, 0, err
	}
	var columns string
	if err := tx.QueryRow(ctx, selectColumns).Scan(&columns); err != nil {
		return 0, 0, err
	}
	into := partitionName(remainder)
	// Indexes are built when all rows are there.
	if _, err := tx.Exec(ctx, "CREATE TABLE "+into+" (LIKE timers INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION) WITH ("+
		partitionParameters+")"); err != nil {
		return 0, 0, err
	}
	for _, old := range olds {
		copied, err := tx.Exec(ctx, "INSERT INTO "+into+" ("+columns+") SELECT "+columns+" FROM "+old)
		if err != nil {
			return 0, 0, err
		}
		if _, err := tx.Exec(ctx, "DROP TABLE "+old); err != nil {
			return 0, 0, err
		}
		rows += copied.RowsAffected()
	}
	_, err = tx.Exec(ctx, fmt.Sprintf("ALTER TABLE timers ATTACH PARTITION %s FOR VALUES WITH (MODULUS %d, REMAINDER %d)",
		into, timerPartitions, remainder))
	return rows, len(olds), err
}

// group returns the partitions that are smaller than a new one and whose rows belong to the new partition of a remainder.
func group(ctx context.Context, tx pgx.Tx, remainder int) (olds []string, err error) {
	found, err := tx.Query(ctx, selectPartitions)
	if err != nil {
		return nil, err
	}
	var name string
	var modulus, rest int
	_, err = pgx.ForEachRow(found, []any{&name, &modulus, &rest}, func() error {
		switch {
		case modulus%timerPartitions != 0:
			return fmt.Errorf("partition %s has modulus %d: want a multiple of %d", name, modulus, timerPartitions)
		case modulus > timerPartitions && rest%timerPartitions == remainder:
			olds = append(olds, name)
		}
		return nil
	})
	return olds, err
}
