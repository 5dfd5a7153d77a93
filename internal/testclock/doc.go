// Package testclock contains the clock of a service under test. It runs at normal speed, and a test can move it forward.
//
// Clock is the machine of a store.Clock: the machine's clocks, and an offset that only grows. In a data folder it keeps the
// offset, so that a restarted process continues at the same time. Driver moves it: it waits until nothing is due, moves the
// clock to the next due time, and repeats this up to the target. So timers fire in their order and at their times.
//
// It may import pkg/timer, pkg/shard and pkg/store. It never delivers a timer, and it reads the state only from the store.
//
// Read clock.go, then driver.go.
package testclock
