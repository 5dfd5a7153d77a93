// Package relational is the common code of the relational engines: how a page of a list is read, and the cursors of
// lists. If each engine had a copy, a difference between the copies would go unnoticed.
//
// It imports pkg/timer, pkg/shard and pkg/store, and contains no SQL and no driver.
//
// Read place.go and list.go, then named.go.
package relational
