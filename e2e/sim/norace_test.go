//go:build !race

package sim_test

const shuffled = false
