// Package postgresstore is the store in PostgreSQL, 15 or newer: the default of clusters, for any number of processes.
//
// It owns the schema, its migrations and every statement. It may import pkg/store, pkg/timer, pkg/shard, pgx and goose.
// It reads no clock except the database's (Time, and the days of history), never generates a revision, never checks the
// claim of a write with a SELECT that does not lock, and translates every driver error.
//
// Statements process whole batches: columns are sent as arrays and unnested by the server. All statements are prepared
// with generic plans that access every table through an index. Several statements sent in one exchange are one
// transaction. Rows of a batch are locked in the order of (shard, uuid).
//
// Read store.go first (opening and closing; check.go and schema.go have the checks at the start), then conn.go (an
// exchange with the server), transact.go and errors.go (transactions, retries and the translation of errors), binary.go
// and record.go (encoding of values), rows.go (the columns of a timer). Then the contract, part by part: write.go,
// locked.go and change.go, positions.go, get.go, list.go and cursor.go; shards.go, due.go, overdue.go, inspect.go,
// outbox.go; current.go, finish.go, history.go, purge.go, days.go; namespaces.go, cluster.go, census.go. The schema is
// in migrations.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/store.
package postgresstore
