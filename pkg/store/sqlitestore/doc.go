// Package sqlitestore is the store in one SQLite file: the embedded default, for one process on one node.
//
// It owns the file, its schema and its locks. It may import pkg/store, pkg/timer, pkg/shard, the SQLite driver and
// goose. It reads a clock in Time and for the time of a backup only, never generates revisions, and translates every
// driver error.
//
// All writes go through one goroutine, which owns the only writing connection and commits the requests that have
// arrived during the previous commit in one transaction (group commit). Reads have separate connections.
//
// Read store.go first (opening and closing), then writer.go and request.go (the group commit), readers.go, conn.go (one
// connection), errors.go (translation of errors), rows.go (the columns of a timer). Then the contract, part by part:
// put.go, change.go, positions.go, get.go, list.go and cursor.go (with internal/store/relational); shards.go,
// due.go, overdue.go, outbox.go; current.go, finish.go, rearm.go, purge.go; namespaces.go, cluster.go, census.go,
// room.go. backup.go copies the database of a running service. The schema is in migrations.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/store.
package sqlitestore
