// Package runtime is what every process of Timerbus stands on: configuration from flags, environment
// and file, signals, the group of parts that start and stop together, the logger and the metrics
// registry. It may import pkg/timer and pkg/shard; it knows no service, store or bus, never reads
// flags itself, and never exits the process.
//
// Read config.go (every setting there is), load.go (where values come from), group.go, signal.go, log.go
// and metrics.go.
package runtime
