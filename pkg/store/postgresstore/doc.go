// Package postgresstore is the store in PostgreSQL, 15 or newer: the cluster's default, for any number of
// processes.
//
// It owns the schema, its migrations and every statement. It may import pkg/store, pkg/timer, pkg/shard,
// pgx and goose. It never reads a clock except the database's (Ping, and the days of history), never makes
// a revision, never fences by a SELECT that does not lock, and never lets a driver's error out untranslated.
//
// Statements work on whole batches: columns travel as arrays and are unnested by the server. All run from
// prepared, generic plans, in which every table is reached through an index; sending several in one
// exchange makes them one transaction. Rows that a batch locks are locked in the order of (shard, uuid).
//
// Read store.go first (opening and closing; check.go and schema.go say what is refused), then conn.go (an
// exchange with the server), transact.go and errors.go (what a failure means for the caller), binary.go and
// record.go (values on the wire), rows.go (how a timer lies in a row). Then the contract, part by part:
// write.go, locked.go and change.go, positions.go, get.go, list.go and cursor.go; shards.go, due.go,
// overdue.go, inspect.go, notices.go; current.go, finish.go, history.go, purge.go, days.go; namespaces.go,
// cluster.go, census.go. The schema is in migrations.
package postgresstore
