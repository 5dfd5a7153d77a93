// Package relational is the common code of the relational engines: the statements that differ only in dialect, the
// reads and writes that use them, how a page of a list is read, and the cursors of lists. If each engine had a copy, a
// difference between the copies would go unnoticed.
//
// An engine embeds Core, describes its dialect, and implements Database. The statements of polls, row checks and
// outcomes are the engine's own. The package imports pkg/timer, pkg/shard, pkg/store, internal/store/engine and
// database/sql, and no driver.
//
// Read place.go and list.go, then dialect.go, core.go, timers.go, walks.go, namespaces.go, shards.go, cluster.go,
// and sql.go.
package relational
