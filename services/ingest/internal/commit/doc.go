// Package commit is the group commit: requests that arrive while the store is busy share the next
// write.
//
// It imports pkg/timer and pkg/store. It knows nothing of HTTP, of what an operation means to a user or
// of hints: it answers each operation with what the store said of it and the time after the commit.
//
// Read committer.go, then lane.go.
package commit
