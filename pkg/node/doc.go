// Package node is one process of Timerbus: it opens the backend, puts the services together, runs them
// until it is told to stop, drains them and closes everything.
//
// It is where `timerbus dev` and pkg/timertest meet. Besides the services it imports what programs may,
// and it never reads flags, the environment or files of its own, writes to the standard streams or ends
// the process.
//
// Read node.go, then services.go (what runs, and in which order), server.go and watch.go.
package node
