package postgresstore

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// TestCountStopsSomewhere: after an outage of a day, a database has millions of overdue timers. Repeated counts of all
// of them would slow down their delivery, and the gauges would not be read in time.
func TestCountStopsSomewhere(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		if _, err := s.CreateNamespace(t.Context(), store.Namespace{
			Name: "default", Shards: shard.Block{Count: block.Count}, Settings: store.DefaultSettings(),
		}); err != nil {
			t.Fatal(err)
		}
		seed(t, s, 2000) // a tenth parked, a tenth done, a tenth dead
		execute(t, inside, "VACUUM ANALYZE timers")
		for most, want := range map[int]struct{ pending, overdue, parked int64 }{
			maxCounted: {1400, 1400, 200},
			1600:       {1400, 1400, 200}, // the estimate is exact
			300:        {1400, 300, 200},
			100:        {1500, 100, 100},
		} {
			s.maxCounted = most
			got, err := s.Count(t.Context(), now+1000)
			if err != nil || got.Pending != want.pending || got.Overdue != want.overdue || got.Parked != want.parked || got.OldestPlannedAt != now {
				t.Errorf("up to %d: %+v, %v; want %+v", most, got, err, want)
			}
		}
	})
}
