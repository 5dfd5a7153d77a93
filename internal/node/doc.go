// Package node is one process of Timerbus: it opens the backend, assembles the services, runs them until its context
// ends, drains them and closes everything.
//
// `timerbus dev` and pkg/timertest both use it. It imports the services and everything that programs may import. It
// never reads flags, the environment or files itself, writes to the standard streams or ends the process.
//
// Read node.go, then services.go (the parts that run, and their order), server.go and watch.go.
package node
