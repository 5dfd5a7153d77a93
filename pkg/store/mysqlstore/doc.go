// Package mysqlstore is the store in MySQL, 8.0.11 or newer, and MariaDB, 10.6 or newer, for any number of processes.
//
// It owns the schema, its migrations and every statement that internal/store/relational does not have. It may import
// pkg/store, pkg/timer, pkg/shard, internal/store, the driver and goose. It reads no clock except the database's (Time), and
// never generates a revision.
//
// A write locks the rows of its batch in the order of (shard, uuid), applies the operations in memory (engine.Slot), and
// writes the differences, each kind in one statement. Creates of new ids are one INSERT. All statements use READ COMMITTED,
// except polls, which read the claims and the rows in one snapshot. Values are sent in the text of the statement, which
// saves a round trip.
//
// Read store.go first (opening and closing; check.go and schema.go have the checks at the start), then options.go, conn.go
// (sessions, lists of values), transact.go and errors.go (transactions, retries, the translation of errors), rows.go (the
// columns), locked.go (the rows of a batch). Then the contract: write.go, outcomes.go, current.go, shards.go, due.go,
// outbox.go, census.go. dialect.go describes the statements of internal/store/relational. The schema is in migrations.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/store.
package mysqlstore
