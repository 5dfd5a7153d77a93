//go:build race

package sim_test

// shuffled: the race detector makes the runtime start goroutines in random order.
const shuffled = true
