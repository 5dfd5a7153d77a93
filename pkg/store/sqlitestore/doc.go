// Package sqlitestore is the store in one SQLite file: the embedded default, for one process on one
// node.
//
// It owns the file, its schema and its locks. It may import pkg/store, pkg/timer, pkg/shard, the SQLite
// driver and goose. It never reads a clock except the database's (Ping), never makes a revision, and
// never lets a driver's error out untranslated.
//
// All writes go through one goroutine, which owns the one writing connection and commits what gathered
// while the last commit ran (group commit). Reads have a few connections of their own.
//
// Read store.go first (opening and closing), then writer.go and request.go (the group commit),
// readers.go, conn.go (one connection), errors.go (what a failure means for the caller), rows.go (how a
// timer lies in a row). Then the contract, part by part: put.go, change.go, positions.go, get.go, list.go
// and cursor.go (with pkg/store/internal/relational); shards.go, due.go, overdue.go, notices.go; current.go, finish.go, rearm.go, purge.go;
// namespaces.go, cluster.go, census.go, room.go. backup.go copies the database of a service that runs. The schema is in
// migrations.
package sqlitestore
