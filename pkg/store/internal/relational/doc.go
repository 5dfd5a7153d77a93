// Package relational is what the relational engines have in common beside the contract: where a list stands in
// their tables' key order, the cursors that tell it, and the text of a retry policy's column. A drift between two
// copies of these would be silent.
//
// It imports pkg/timer, pkg/shard and pkg/store, and knows no SQL and no driver.
//
// Read place.go, then policy.go.
package relational
