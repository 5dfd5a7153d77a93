package mysqlstore

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/internal/store/storebench"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/store"
)

const benchPending = 100_000

// benchServers runs a benchmark on every server, in a database with pending timers.
func benchServers(b *testing.B, pending int, run func(b *testing.B, s *Store, all []store.Put)) {
	b.Helper()
	for _, name := range []string{"mysql", "mariadb"} {
		b.Run(name, func(b *testing.B) {
			s := openStore(b, migrated(b, testserver.Address(b, name)))
			run(b, s, storebench.Create(b, s, pending))
		})
	}
}

func BenchmarkPut(b *testing.B) {
	benchServers(b, benchPending, func(b *testing.B, s *Store, _ []store.Put) { storebench.Writes(b, s, storebench.Elapsed) })
}

func BenchmarkFinishDone(b *testing.B) {
	benchServers(b, benchPending, func(b *testing.B, s *Store, _ []store.Put) {
		storebench.Finishes(b, s, storebench.Elapsed, store.FinishDone)
	})
}

func BenchmarkCurrent(b *testing.B) {
	benchServers(b, benchPending, func(b *testing.B, s *Store, all []store.Put) {
		storebench.Checks(b, s, storebench.Elapsed, all)
	})
}

// BenchmarkDue polls 1,024 shards. b.N counts polls.
func BenchmarkDue(b *testing.B) {
	for _, pending := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			benchServers(b, pending, func(b *testing.B, s *Store, all []store.Put) { storebench.Polls(b, s, all) })
		})
	}
}
