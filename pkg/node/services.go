package node

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	"github.com/timerbus/timerbus/services/ingest"
	"github.com/timerbus/timerbus/services/scheduler"
)

// requestTimeout bounds an HTTP request.
const requestTimeout = 10 * time.Second

// assemble builds the services and lists the parts of the process in the order in which they start: what
// takes in comes last, so that it stops first.
func assemble(b *backend.Backend, o *Options) ([]runtime.Part, error) {
	registry := runtime.NewRegistry(o.Version)
	directory := store.NewDirectory(b.Store)
	clock, revisions := timer.Clock(timer.SystemClock), timer.NewRevisions(timer.SystemClock, rand.Uint64)
	// One source for all services: an event that two of them tell is the same one.
	source := "timerbus/" + b.Cluster.ID.String()
	name, err := os.Hostname()
	if err != nil {
		name = "unknown" // a name for people, nothing more
	}
	positions, _ := store.As[store.Positions](b.Store)

	deliver, err := dispatcher.New(dispatcher.Config{
		Store: b.Store, Bus: b.Bus, Directory: directory, Clock: clock, Revisions: revisions, Random: rand.Uint64,
		Version: o.Version, Source: source, Format: b.Format, Logger: o.Logger, Registerer: registry,
		// The parts before it need some of the time.
		Drain: max(o.Drain-2*time.Second, o.Drain/2, time.Millisecond),
	})
	if err != nil {
		return nil, err
	}
	schedule, err := scheduler.New(scheduler.Config{
		Store: b.Store, Bus: b.Bus, Directory: directory, Clock: clock, Random: rand.Uint64, Node: name,
		Source: source, Format: b.Format, Logger: o.Logger, Registerer: registry,
	})
	if err != nil {
		return nil, err
	}
	take, err := ingest.New(ingest.Config{
		Store: b.Store, Positions: positions, Directory: directory, Bus: b.Bus, Clock: clock, Revisions: revisions,
		Source: source, Format: b.Format, Logger: o.Logger.With("component", "ingest"), Registerer: registry, Gatherer: registry,
		Token: o.Token, RequestTimeout: requestTimeout,
	})
	if err != nil {
		return nil, err
	}
	return []runtime.Part{
		{Name: "watch", Run: newWatch(b.Store, clock, o.Logger, registry).run},
		{Name: "dispatcher", Run: deliver.Run},
		{Name: "scheduler", Run: schedule.Run},
		{Name: "ingest", Run: take.Run},
		serverPart(ingest.NewServer(take.Handler(), requestTimeout, o.Logger), o.Listener, o.Drain/5),
	}, nil
}
