// Package e2e tests Timerbus the way its users meet it: the real binary as a process, a real HTTP
// receiver, real clients of the bus.
//
// It is a module of its own, so that what only tests need stays out of the product's go.mod. It may
// import what a program may (pkg/client, pkg/event, pkg/backend and the contracts), never an engine; it
// never reaches into a running process other than through its API, its bus and its signals.
//
// The tests stand in files named for what they prove; demo/ is the program behind `make demo`.
package e2e
