// Package relational is the common code of the relational engines: how a page of a list is read, the cursors of lists,
// and the format of the retry policy's column. If each engine had a copy, a difference between the copies would go
// unnoticed.
//
// It imports pkg/timer, pkg/shard and pkg/store, and contains no SQL and no driver.
//
// Read place.go and list.go, named.go, then policy.go.
package relational
