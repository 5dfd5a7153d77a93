// Package e2e tests Timerbus as its users meet it: the real binary as a process, a real HTTP receiver, real clients of
// the bus.
//
// It is a separate module, so that dependencies of tests stay out of the product's go.mod. It may import the same
// packages as a program (pkg/client, internal/event, internal/backend and the contracts), never an engine. It uses a running
// process only through its API, its bus and signals.
//
// Each file is named after the behaviour that it tests; demo/ is the program behind `make demo`.
package e2e
