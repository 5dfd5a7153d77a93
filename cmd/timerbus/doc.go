// Command timerbus is the one binary: `timerbus dev` runs the whole service, `timerbus receive` is a
// receiver to try it with, and `timerbus timer`, `timerbus namespace` and `timerbus shard` talk to a
// running one.
//
// It puts the parts together: flags and settings from pkg/runtime, the service as one process from
// pkg/node, and pkg/client for the commands. It never talks to a store, a bus or NATS itself.
//
// Read main.go and run.go, then dev.go (settings), process.go (the service as one process), server.go and
// banner.go; receive.go and answer.go; timer.go with timerwrite.go, timerdelete.go, timerretry.go,
// timerlist.go and timerwatch.go (one timer), timermatching.go (those of a filter), timerbatch.go,
// batchrun.go and lines.go (those of a file); namespace.go and shard.go; and what they share: remote.go,
// retryflags.go, args.go, completion.go, progress.go and output.go. bench.go and what is named after it
// measure a service.
package main
