package natsbus_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// TestMain runs more checks in parallel than there are processors, because checks wait for leases to expire. The
// number must stay small: with leases of 1 s, members without CPU time lose their leases.
func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		os.Exit(serve(dir))
	}
	flag.Parse()
	parallel := "4"
	if testing.Short() { // without the race detector, checks need little CPU time
		parallel = "8"
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// suiteTimes returns the intervals of the suites on servers of this test. In -short mode they are shorter than in
// production.
func suiteTimes() natsbus.Times {
	if testing.Short() {
		return natsbus.Times{AckWait: 2 * time.Second, SharedExpires: time.Second, LookEvery: time.Second}
	}
	return natsbus.Times{}
}

func startServer(tb testing.TB, opts embedded.Options) *embedded.Server {
	tb.Helper()
	opts.Logger = testserver.Log()
	if opts.Dir == "" {
		opts.Dir = tb.TempDir()
	}
	s, err := embedded.Start(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// `make test-clusters` has three servers as well.
//
//testenv:need nats

// TestSuite runs all checks, each under its own prefix, on a server in this process, a separate server, and a cluster
// with three replicas of every stream. The server in this process runs the same code as the separate one. If there is
// a separate server, the one in this process only runs the checks with several due streams, unless there is a cluster
// (`make test-clusters`).
func TestSuite(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		if os.Getenv("TIMERBUS_TEST_NATS") != "" && os.Getenv("TIMERBUS_TEST_NATS3") == "" {
			t.Skip("TestSuite/nats runs these checks")
		}
		t.Parallel()
		// Without fsync, because a dozen concurrent checks would wait for the disk.
		runSuite(t, natsbus.Options{URL: startServer(t, embedded.Options{Listen: "127.0.0.1:0", NoSync: true}).URL()}, suiteTimes())
	})
	t.Run("embedded/streams", func(t *testing.T) {
		t.Parallel()
		runSuite(t, natsbus.Options{URL: startServer(t, embedded.Options{Listen: "127.0.0.1:0", NoSync: true}).URL(), QueueStreams: 4}, suiteTimes())
	})
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		runSuite(t, natsbus.Options{URL: testserver.Address(t, "nats")}, natsbus.Times{})
	})
	t.Run("nats3", func(t *testing.T) {
		t.Parallel()
		runSuite(t, natsbus.Options{URL: testserver.Address(t, "nats3"), Replicas: 3, QueueStreams: 1}, natsbus.Times{})
	})
	t.Run("nats3/streams", func(t *testing.T) {
		t.Parallel()
		runSuite(t, natsbus.Options{URL: testserver.Address(t, "nats3"), Replicas: 3, QueueStreams: 4}, natsbus.Times{})
	})
}

// prefixes separate runs and checks on one server.
var prefixes atomic.Int64

func prefix() string {
	return fmt.Sprintf("t%x-%d", time.Now().UnixNano(), prefixes.Add(1))
}

func runSuite(t *testing.T, base natsbus.Options, times natsbus.Times) {
	t.Helper()
	base = times.With(base)
	base.Logger = testserver.Log()
	keepStream(t, base.URL)
	t.Run("checks", func(t *testing.T) {
		bustest.Run(t, bustest.Options{}, func(t bustest.T, partitions int) bustest.System {
			ours, theirs := base, base
			ours.Prefix, ours.Partitions = prefix(), partitions
			theirs.Prefix, theirs.Partitions = prefix(), partitions
			remove(t, base.URL, ours.Prefix, theirs.Prefix)
			if ours.QueueStreams > 1 {
				dispatch(t, ours, "dispatcher") // streams are used once they have a consumer
			}
			return bustest.System{
				Join:           func(t bustest.T) bustest.Member { return join(t, ours) },
				Stranger:       func(t bustest.T) bustest.Member { return join(t, theirs) },
				OwnPrefix:      ours.Prefix + "-own-",
				StrangerTopics: []string{theirs.Prefix + ".due.0", theirs.Prefix + ".commands"},
				Remove: func(t bustest.T, topic bus.Topic, before bus.Position) {
					if err := purge(t.Context(), base.URL, ours.Prefix+"-"+string(topic), uint64(before.Offset)); err != nil {
						t.Fatalf("remove messages: %v", err)
					}
				},
				Small: func(t bustest.T) bustest.Member {
					small := ours
					small.Prefix, small.CommandsMaxBytes = prefix(), 256<<10
					remove(t, base.URL, small.Prefix)
					return join(t, small)
				},
				QueueByPartition: base.QueueStreams >= partitions && base.QueueStreams > 1,

				AckWait:  times.AckWait,
				LeaseTTL: time.Second,
				Settle:   300 * time.Millisecond,
				Patience: 10 * time.Second,
				Early:    500 * time.Millisecond,
			}
		})
	})
}

// keepStream creates a stream that exists until t ends. A NATS server removes the directory of all streams together with
// its last stream, and the creation of another stream at that moment fails.
func keepStream(t *testing.T, url string) {
	t.Helper()
	nc, js, err := jetStream(url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer nc.Close()
	kept := prefix()
	remove(t, url, kept)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: kept + "-kept", Subjects: []string{kept}}); err != nil {
		t.Fatalf("create the stream that is kept: %v", err)
	}
}

// remove deletes a check's streams at the end of the test: the streams of hundreds of checks would keep electing
// leaders.
func remove(t bustest.T, url string, prefixes ...string) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := removeStreams(ctx, url, prefixes); err != nil {
			t.Errorf("delete streams: %v", err)
		}
	})
}

func jetStream(url string) (*nats.Conn, jetstream.JetStream, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	return nc, js, err
}

// purge removes a stream's messages before a sequence.
func purge(ctx context.Context, url, name string, before uint64) error {
	nc, js, err := jetStream(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	s, err := js.Stream(ctx, name)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSequence(before))
}

func removeStreams(ctx context.Context, url string, prefixes []string) error {
	nc, js, err := jetStream(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	names := js.StreamNames(ctx)
	var ours []string
	for name := range names.Name() {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(strings.TrimPrefix(name, "KV_"), p+"-") }) {
			ours = append(ours, name)
		}
	}
	if err := names.Err(); err != nil {
		return err
	}
	var failed error
	for _, name := range ours {
		failed = errors.Join(failed, js.DeleteStream(ctx, name))
	}
	return failed
}

func join(t bustest.T, opts natsbus.Options) bustest.Member {
	l := testserver.NewLine()
	t.Cleanup(l.Close)
	var urls []string
	for server := range strings.SplitSeq(strings.TrimPrefix(opts.URL, "nats://"), ",") {
		urls = append(urls, through(t, l, server))
	}
	opts.URL = strings.Join(urls, ",")
	opts.Connection = append(slices.Clone(opts.Connection), nats.IgnoreDiscoveredServers())
	b, err := natsbus.Connect(t.Context(), opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return bustest.Member{Bus: bus.Bus(b), Crash: l.Kill, Isolate: l.Isolate, Heal: l.Heal, Break: l.Cut}
}

// through returns the URL of a server on a line.
func through(t bustest.T, l *testserver.Line, server string) string {
	t.Helper()
	address, err := l.Listen(t.Context(), strings.TrimPrefix(server, "nats://"))
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	return "nats://" + address
}
