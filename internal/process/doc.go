// Package process contains what every process of Timerbus needs: configuration from flags, environment and file,
// signals, the group of parts that start and stop together, the logger and the metrics registry. It may import
// pkg/timer, pkg/shard, internal/encryption, internal/egress and pkg/api. It knows no service, store or bus, never reads flags
// itself, and never exits the process.
//
// Read config.go (all settings), load.go (the sources of settings), group.go, signal.go, log.go and metrics.go.
package process
