// Package bench measures a running Timerbus from outside: one workload, a load generator, a receiver, and the resulting
// figures. `timerbus bench` and the benchmark module use it.
//
// It owns what is measured and how it is counted. It implements its HTTP client itself and uses nats.go directly,
// because it shares the machine with the measured service and must use little CPU. It imports internal/event for the names
// of events and no other package of the product, never starts a service, and never judges a figure.
//
// Read workload.go (the timers of the benchmark), plan.go (how many), phases.go (what is measured, in which order) and
// run.go, with create.go, fire.go, idle.go and topic.go; then load.go and wire.go (how requests are sent), receiver.go
// and tally.go (how callbacks are counted), meter.go (resources of a process), and figure.go, samples.go and table.go
// (results). options.go and progress.go are for callers, creation.go for programs that measure other systems with the
// same timers and the same receiver.
package bench
