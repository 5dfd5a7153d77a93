// Package node is one process of Timerbus: it assembles the services on a store and a bus, runs them until its context ends
// and drains them.
//
// `timerbus dev` and pkg/timertest both use it. It imports the services and everything that programs may import. It
// never reads flags, the environment or files itself, writes to the standard streams or ends the process.
//
// Read node.go, then services.go (the parts that run, and their order), server.go and watch.go.
package node
