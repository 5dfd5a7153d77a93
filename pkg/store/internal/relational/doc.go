// Package relational is what the relational engines share apart from the contract: how a page of a list is put together,
// the cursors of lists, and the text of a retry policy's column. A drift between two copies of these would be silent.
//
// It imports pkg/timer, pkg/shard and pkg/store, and knows no SQL and no driver.
//
// Read place.go and list.go, named.go, then policy.go.
package relational
