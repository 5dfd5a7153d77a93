// Package node is one process of Timerbus: it assembles the services on a store and a bus, runs them until its context ends
// and drains them.
//
// The commands of `timerbus` that run services, pkg/timerbus and pkg/timertest use it. It imports the services and the
// contracts, and no engine. It never reads flags, the environment or files itself, writes to the standard streams or ends the process.
//
// Read node.go, then services.go (the components that run, and their order), server.go and watch.go.
package node
