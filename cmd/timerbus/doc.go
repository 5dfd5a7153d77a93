// Command timerbus is the only binary: `timerbus dev` runs the whole service, `timerbus receive` is a callback receiver
// for trying it, and `timerbus timer`, `timerbus schedule`, `timerbus namespace` and `timerbus shard` are clients of a running
// service.
//
// It assembles the components: flags and settings from internal/process, the service as one process from internal/node, and
// pkg/client for the client commands. It never accesses a store, a bus or NATS directly.
//
// Read main.go and run.go, then dev.go (settings), process.go (the service as one process), server.go and banner.go;
// receive.go and answer.go; timer.go with timerwrite.go, timerdelete.go, timerretry.go, timerlist.go and timerwatch.go
// (one timer), timermatching.go (all timers that a filter selects), timerbatch.go, batchrun.go and lines.go (all timers
// of a file); schedule.go with schedulewrite.go, scheduleflags.go, schedulepreview.go and schedulerun.go; namespace.go and
// shard.go; and the shared files remote.go, retryflags.go, args.go, completion.go, progress.go and output.go. healthcheck.go
// asks a process whether it is ready. bench.go and the other bench*.go files measure a service.
package main
