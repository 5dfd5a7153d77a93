// Package bench measures a running Timerbus from outside, as its users meet it: one workload, a load
// generator, a receiver, and the figures that come of them. `timerbus bench` and the benchmark module
// stand on it.
//
// It owns what is measured and how it is counted. It speaks HTTP and NATS itself, because it shares the
// machine with what it measures and must cost little; it imports pkg/event for the names of events and
// nothing else of the product, never starts a service, and never judges a figure.
//
// Read workload.go (what a timer of the benchmark is), plan.go (how many), phases.go (what is measured, in
// which order) and run.go, with create.go, fire.go, idle.go and topic.go; then load.go and wire.go (how
// requests are sent), receiver.go and tally.go (how callbacks are counted), meter.go (what a process
// uses), and figure.go, samples.go and table.go (what comes out). options.go and progress.go are for callers.
package bench
