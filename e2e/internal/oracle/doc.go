// Package oracle judges a run by what its clients saw: which writes they sent and how these were
// answered, and which callbacks arrived and how those were answered. From that alone it tells what was
// lost, early, delivered in spite of a delete or an update in time, mixed up, or doubled.
//
// Every write that sets a timer carries a payload of its own, its token: a delivery says by its payload
// which write it belongs to. Writes of one timer are made one after the other; what the client could not
// learn the outcome of counts as "perhaps", and the oracle then holds the service only to what is true
// either way.
//
// It imports the standard library only. Read oracle.go (what is told to it), judge.go (what a delivery
// may look like), report.go (what is owed, and the counts). The tests plant every kind of violation.
package oracle
