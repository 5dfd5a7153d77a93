package kafkabus_test

import (
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

// TestCrashSuite runs the crash checks on a single broker and on a cluster whose brokers are all killed. A killed
// broker loses no acknowledged message, because it is in the page cache. Only `make test-clusters` starts a cluster,
// and only there no tests of other packages use the single broker at the same time.
func TestCrashSuite(t *testing.T) {
	t.Run("kafka", func(t *testing.T) {
		brokers(t, "kafka3")
		runCrashSuite(t, kafkabus.Options{Brokers: brokers(t, "kafka")}, "kafka")
	})
	t.Run("kafka3", func(t *testing.T) {
		runCrashSuite(t, kafkabus.Options{Brokers: brokers(t, "kafka3"), Replicas: 3}, "kafka3-1", "kafka3-2", "kafka3-3")
	})
}

func runCrashSuite(t *testing.T, base kafkabus.Options, nodes ...string) {
	t.Helper()
	bustest.RunCrash(t, bustest.Options{}, func(check bustest.T, partitions int) bustest.CrashSystem {
		opts := base
		opts.Prefix, opts.Partitions = prefix(), partitions
		remove(check, opts.Brokers, opts.Prefix)
		return bustest.CrashSystem{
			System: bustest.System{
				Join:             func(t bustest.T) bustest.Member { return join(t, opts) },
				QueueByPartition: true,
				WaitingUnknown:   true,
				LeaseTTL:         2 * session,
				Settle:           700 * time.Millisecond,
				Patience:         time.Minute, // brokers take up to 15 s to be ready, and a group its session
			},
			Remember: func() {},
			Crash: func() {
				for _, node := range nodes {
					testserver.Control(t, "kill/"+node)
				}
				var starting sync.WaitGroup
				for _, node := range nodes { // a broker becomes ready only with a quorum
					starting.Go(func() { testserver.Control(t, "start/"+node) })
				}
				starting.Wait()
			},
		}
	})
}
