// Package commit implements the group commit: requests that arrive during a write share the next write.
//
// It imports pkg/timer and pkg/store. It knows nothing of HTTP, of hints, or of the meaning of an operation: it answers
// each operation with the store's answer and the time after the commit.
//
// Read committer.go, then writerqueue.go.
package commit
