package node

import (
	"testing"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

func TestWhichProcessesKeepTheirDueEvents(t *testing.T) {
	exclusive := memstore.NewDatabase().Open()
	shared := struct{ store.Store }{exclusive} // many processes may use it
	for _, c := range []struct {
		role  Role
		store store.Store
		queue string
		want  bool
	}{
		{All, exclusive, "", true},
		{All, exclusive, process.DueQueueAuto, true},
		{All, exclusive, process.DueQueueBus, false},
		{All, shared, process.DueQueueAuto, false},
		{All, shared, process.DueQueueMemory, true},
		{Scheduler, exclusive, process.DueQueueMemory, false},
		{Dispatcher, shared, process.DueQueueMemory, false},
	} {
		o := &Options{Role: c.role, Store: c.store, DueQueue: c.queue}
		if got := keepsDueEvents(o); got != c.want {
			t.Errorf("role %q, shared store %t, due queue %q: %t, want %t", c.role, store.Shared(c.store), c.queue, got, c.want)
		}
	}
}
