// Command peers is run by `make bench-peers`. It gives the same timers to Timerbus and to other systems that fire jobs at a
// time, on one machine and with one receiver, and prints the medians and the ratios to River.
//
// It contains the workload, the drivers of the systems, the course of a round and the reports. Each system runs in its own
// processes: its servers, a worker that calls the receiver, and a client that creates timers. Rounds are interleaved. It
// never judges a figure, and the product does not import it or its dependencies.
//
// Read workload.go (the timers), peers.go (the systems, how each is tuned), main.go and round.go; then drive.go (the
// processes of a system) with river.go, natsschedules.go, asynq.go, bullmq/ and timerbus.go; resident.go (memory);
// report.go and svg.go.
package main
