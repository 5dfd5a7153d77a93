package natsbus_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// With these environment variables set, the test binary runs a NATS server, so that tests can kill one.
const (
	serverDir    = "TIMERBUS_TEST_SERVER_DIR"
	serverListen = "TIMERBUS_TEST_SERVER_LISTEN"
)

// serve runs a server until the parent process ends, which closes stdin.
func serve(dir string) int {
	s, err := embedded.Start(context.Background(), embedded.Options{Dir: dir, Listen: os.Getenv(serverListen), Logger: testserver.Log()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Close()
	return 0
}

// childServer is a NATS server in a child process.
type childServer struct {
	t       bustest.T
	dir     string
	address string
	process *exec.Cmd
}

func startChild(t bustest.T, dir string) *childServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a port: %v", err)
	}
	m := &childServer{t: t, dir: dir, address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatalf("find a port: %v", err)
	}
	m.start()
	t.Cleanup(m.kill)
	return m
}

func (c *childServer) url() string { return "nats://" + c.address }

// start starts the process and waits until JetStream responds.
func (c *childServer) start() {
	c.t.Helper()
	c.process = exec.Command(os.Args[0])
	c.process.Env = append(os.Environ(), serverDir+"="+c.dir, serverListen+"="+c.address)
	c.process.Stderr = os.Stderr
	_, err := c.process.StdinPipe() // closed when this process ends
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		c.t.Fatalf("start a server: %v", err)
	}
	eventually(c.t, "the server responds", func() error {
		nc, err := nats.Connect(c.url())
		if err != nil {
			return err
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		_, err = js.AccountInfo(c.t.Context())
		return err
	})
}

// kill ends the process with SIGKILL.
func (c *childServer) kill() {
	_ = c.process.Process.Kill() // fails if it has exited
	_ = c.process.Wait()         // returns "signal: killed"
}

// eventually retries until try succeeds.
func eventually(t bustest.T, what string, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// folder returns the directory of a stream.
func (c *childServer) folder(stream string) string {
	return filepath.Join(c.dir, "jetstream", "$G", "streams", stream)
}

// state returns the state of a stream and of its durable consumer, if there is one.
func (c *childServer) state(name string) (stream jetstream.StreamState, consumer *jetstream.ConsumerInfo, err error) {
	ctx := c.t.Context()
	nc, err := nats.Connect(c.url())
	if err != nil {
		return stream, nil, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return stream, nil, err
	}
	handle, err := js.Stream(ctx, name)
	if err != nil {
		return stream, nil, err
	}
	consumers := handle.ListConsumers(ctx)
	for c := range consumers.Info() {
		if c.Config.Durable != "" {
			consumer = c
		}
	}
	return handle.CachedInfo().State, consumer, consumers.Err()
}

// remember copies the files of streams once all their messages are on disk.
func (c *childServer) remember(into string, streams ...string) {
	c.t.Helper()
	for _, stream := range streams {
		c.rememberOne(stream, filepath.Join(into, stream))
	}
}

func (c *childServer) rememberOne(stream, into string) {
	c.t.Helper()
	eventually(c.t, "the stream is on disk", func() error {
		state, _, err := c.state(stream)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(into); err != nil {
			return err
		}
		if err := os.CopyFS(into, os.DirFS(filepath.Join(c.folder(stream), "msgs"))); err != nil {
			return err
		}
		last, err := lastStored(into)
		if err != nil || last != state.LastSeq {
			return fmt.Errorf("the last message on disk is %d, want %d: %w", last, state.LastSeq, err)
		}
		return nil
	})
}

// crash kills the server and starts it with the remembered messages of streams.
func (c *childServer) crash(remembered string, streams ...string) {
	c.t.Helper()
	c.killAndRestore(remembered, streams...)
	c.start()
}

// killAndRestore kills the server once the states of the streams' durable consumers are on disk, and restores the
// streams' files from remembered. A crash can have the same effect, because the server may write messages and their
// removals later than the consumer's state.
func (c *childServer) killAndRestore(remembered string, streams ...string) {
	c.t.Helper()
	for _, stream := range streams {
		c.awaitConsumer(stream)
	}
	c.kill()
	for _, stream := range streams {
		messages := filepath.Join(c.folder(stream), "msgs")
		err := os.RemoveAll(messages)
		if err == nil {
			err = os.CopyFS(messages, os.DirFS(filepath.Join(remembered, stream)))
		}
		if err != nil {
			c.t.Fatalf("restore stream %s: %v", stream, err)
		}
	}
}

// awaitConsumer waits until the state of the stream's durable consumer is on disk.
func (c *childServer) awaitConsumer(stream string) {
	c.t.Helper()
	eventually(c.t, "the consumer's state is on disk", func() error {
		_, consumer, err := c.state(stream)
		if err != nil || consumer == nil {
			return err
		}
		floor, delivered, err := consumerStored(filepath.Join(c.folder(stream), "obs", consumer.Name, "o.dat"))
		if err != nil || floor != consumer.AckFloor.Stream || delivered != consumer.Delivered.Stream {
			return fmt.Errorf("ack floor %d and delivered %d on disk, want %d and %d: %w",
				floor, delivered, consumer.AckFloor.Stream, consumer.Delivered.Stream, err)
		}
		return nil
	})
}

// lastStored reads the sequence of the last message from the message blocks in dir. A record starts with its length,
// whose top bit is a flag, and the sequence, whose top bits mark removals.
func lastStored(dir string) (last uint64, err error) {
	blocks, err := filepath.Glob(filepath.Join(dir, "*.blk"))
	if err != nil {
		return 0, err
	}
	for _, name := range blocks {
		block, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		for len(block) >= 12 {
			length := int(binary.LittleEndian.Uint32(block) &^ (1 << 31))
			if length < 12 || length > len(block) {
				break
			}
			if seq := binary.LittleEndian.Uint64(block[4:]); seq>>62 == 0 {
				last = max(last, seq)
			}
			block = block[length:]
		}
	}
	return last, nil
}

// consumerStored reads a consumer's state file: two bytes, then the consumer and stream sequences of the ack floor
// and of the last delivery.
func consumerStored(name string) (floor, delivered uint64, err error) {
	state, err := os.ReadFile(name)
	if err != nil || len(state) < 2 {
		return 0, 0, err
	}
	from := bytes.NewReader(state[2:])
	var fields [4]uint64
	for i := range fields {
		if fields[i], err = binary.ReadUvarint(from); err != nil {
			return 0, 0, err
		}
	}
	return fields[1], fields[3], nil
}

// TestCrashSuite runs the crash checks on a server that loses the end of the due queue, and on a server that is only
// killed. The servers are child processes, because other tests use the server of the test environment at the same
// time.
func TestCrashSuite(t *testing.T) {
	t.Parallel()
	t.Run("loss", func(t *testing.T) {
		t.Parallel()
		runCrashSuite(t, func(check bustest.T) crashable {
			root := t.TempDir()
			server, remembered := startChild(check, filepath.Join(root, "server")), filepath.Join(root, "remembered")
			return crashable{
				opts:     natsbus.Options{URL: server.url(), Prefix: "crash"},
				remember: func() { server.remember(remembered, "crash-due") },
				crash:    func() { server.crash(remembered, "crash-due") },
			}
		})
	})
	t.Run("loss/streams", func(t *testing.T) {
		t.Parallel()
		streams := []string{"crash-due", "crash-due-1"}
		runCrashSuite(t, func(check bustest.T) crashable {
			root := t.TempDir()
			server, remembered := startChild(check, filepath.Join(root, "server")), filepath.Join(root, "remembered")
			return crashable{
				opts:     natsbus.Options{URL: server.url(), Prefix: "crash", QueueStreams: len(streams)},
				remember: func() { server.remember(remembered, streams...) },
				crash:    func() { server.crash(remembered, streams...) },
			}
		})
	})
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		runCrashSuite(t, func(check bustest.T) crashable {
			server := startChild(check, t.TempDir())
			return crashable{opts: natsbus.Options{URL: server.url()}, remember: func() {}, crash: func() {
				server.kill()
				server.start()
			}}
		})
	})
}

// TestCrashSuiteOnACluster kills all servers of a cluster, so no other test may run at the same time. Only `make
// test-clusters` starts a cluster.
func TestCrashSuiteOnACluster(t *testing.T) {
	url := testserver.Address(t, "nats3")
	runCrashSuite(t, func(check bustest.T) crashable {
		opts := natsbus.Options{URL: url, Prefix: prefix(), Replicas: 3, QueueStreams: 2}
		remove(check, url, opts.Prefix)
		return crashable{opts: opts, remember: func() {}, crash: func() {
			nodes := []string{"nats3-1", "nats3-2", "nats3-3"}
			for _, node := range nodes {
				testserver.Control(t, "kill/"+node)
			}
			var starting sync.WaitGroup
			for _, node := range nodes { // a server becomes ready only with a quorum
				starting.Go(func() { testserver.Control(t, "start/"+node) })
			}
			starting.Wait()
		}}
	})
}

// crashable is a server, or a cluster, that a check may crash.
type crashable struct {
	opts            natsbus.Options
	remember, crash func()
}

func runCrashSuite(t *testing.T, start func(t bustest.T) crashable) {
	bustest.RunCrash(t, bustest.Options{}, func(t bustest.T, partitions int) bustest.CrashSystem {
		server := start(t)
		times := suiteTimes()
		server.opts = times.With(server.opts)
		server.opts.Partitions, server.opts.Logger = partitions, testserver.Log()
		divided := server.opts.QueueStreams > 1
		if divided {
			dispatch(t, server.opts, "dispatcher") // streams are used once they have a consumer
		}
		return bustest.CrashSystem{
			System: bustest.System{
				Join: func(t bustest.T) bustest.Member { return join(t, server.opts) },

				QueueByPartition: divided && partitions > 1,

				AckWait:  times.AckWait,
				LeaseTTL: time.Second,
				Settle:   300 * time.Millisecond,
				Patience: patience,
				Early:    500 * time.Millisecond,
			},
			Remember: server.remember,
			Crash:    server.crash,
		}
	})
}

// TestConsumerAheadOfItsStreamIsRecreated uses a consumer that skips new messages. A crash leaves such a consumer on
// servers that do not repair it at startup.
func TestConsumerAheadOfItsStreamIsRecreated(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b := connect(t, server)
	_, js := raw(t, server)
	publish := func(body string) {
		t.Helper()
		if _, err := b.Publish(t.Context(), bus.Due, bus.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	in := make(enginetest.Inbox, 10)
	stop := consumeInto(t, b, bus.Due, bus.Queue, acking{in})
	publish("1")
	in.Next(t)
	stop()
	if _, err := js.ResetConsumerToSequence(t.Context(), "timerbus-due", "g", 100); err != nil {
		t.Fatal(err)
	}
	publish("2")
	consumer, err := js.Consumer(t.Context(), "timerbus-due", "g")
	if err != nil {
		t.Fatal(err)
	}
	if info := consumer.CachedInfo(); info.NumPending != 0 || info.Delivered.Stream != 99 {
		t.Fatalf("the consumer is at %d with %d to come: this proves nothing", info.Delivered.Stream, info.NumPending)
	}
	t.Cleanup(consumeInto(t, b, bus.Due, bus.Queue, acking{in}))
	if d := in.Next(t); string(d.Body) != "2" {
		t.Errorf("%s was delivered, want 2", d.Body)
	}
	publish("3")
	if d := in.Next(t); string(d.Body) != "3" {
		t.Errorf("%s was delivered, want 3", d.Body)
	}
}

// TestNewMessagesOfATruncatedLogAreDelivered truncates a log, as a power failure without fsync does. New messages
// must be delivered, to running and to new members, although their sequences were delivered before.
func TestNewMessagesOfATruncatedLogAreDelivered(t *testing.T) {
	t.Parallel()
	server := startChild(t, filepath.Join(t.TempDir(), "server"))
	b := connectTo(t, natsbus.Options{URL: server.url(), Partitions: 1, Logger: testserver.Log()})
	in := make(enginetest.Inbox, 100)
	stop := consumeInto(t, b, bus.Commands, bus.Ordered, acking{in})
	var last bus.Position
	say := func(bodies ...string) {
		t.Helper()
		for _, body := range bodies {
			eventually(t, "the bus accepts a command", func() error {
				_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Body: []byte(body)})
				return err
			})
			d := in.Next(t)
			for string(d.Body) != body { // an uncommitted command may be delivered again
				d = in.Next(t)
			}
			if !last.Before(d.Position) {
				t.Fatalf("command %s was delivered at %+v, the one before it at %+v", body, d.Position, last)
			}
			last = d.Position
		}
	}
	remembered := filepath.Join(t.TempDir(), "remembered")
	say("1", "2")
	server.remember(remembered, "timerbus-commands")
	say("3", "4", "5", "6")
	server.crash(remembered, "timerbus-commands")
	say("7", "8")
	server.remember(remembered, "timerbus-commands")
	say("9", "10")
	eventually(t, "the position is committed", func() error {
		floors, err := b.Floor(t.Context(), bus.Commands, "g")
		if err == nil && floors[0].Depth > 0 {
			err = fmt.Errorf("%d commands are left", floors[0].Depth)
		}
		return err
	})
	stop()
	server.crash(remembered, "timerbus-commands")
	t.Cleanup(consumeInto(t, b, bus.Commands, bus.Ordered, acking{in}))
	say("11")
}

// watched forwards deliveries and the cause of its session's end.
type watched struct {
	enginetest.Inbox
	acks   bool
	closed chan error
}

func (w watched) Deliver(ctx context.Context, d *bus.Delivery) error {
	if w.acks {
		d.Ack()
	}
	return w.Inbox.Deliver(ctx, d)
}

func (w watched) Close(_ context.Context, cause error) error {
	w.closed <- cause
	return nil
}

// TestALogThatWasTruncatedAfterTheLeaseIsDetected keeps the server down until the session has lost its lease. The
// owner record then lacks the last deliveries, and positions of lost commands must not be used again: ingest would
// treat new commands as applied.
func TestALogThatWasTruncatedAfterTheLeaseIsDetected(t *testing.T) {
	t.Parallel()
	for name, committed := range map[string]bool{"before the first commit": false, "after a commit": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startChild(t, filepath.Join(t.TempDir(), "server"))
			b := connectTo(t, natsbus.Options{URL: server.url(), Partitions: 1, CommitEvery: time.Hour, Logger: testserver.Log()})
			w := watched{make(enginetest.Inbox, 100), committed, make(chan error, 100)}
			t.Cleanup(consumeInto(t, b, bus.Commands, bus.Ordered, w))
			say := func(body string) bus.Position {
				t.Helper()
				eventually(t, "the bus accepts a command", func() error {
					_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Body: []byte(body)})
					return err
				})
				for {
					if d := w.Next(t); string(d.Body) == body { // a redelivered command may come first
						return d.Position
					}
				}
			}
			say("1")
			if committed {
				eventually(t, "the position is committed", func() error {
					floors, err := b.Floor(t.Context(), bus.Commands, "g")
					if err == nil && floors[0].Depth > 0 {
						err = fmt.Errorf("%d commands are left", floors[0].Depth)
					}
					return err
				})
			}
			remembered := filepath.Join(t.TempDir(), "remembered")
			server.remember(remembered, "timerbus-commands")
			say("2")
			last := say("3")
			server.killAndRestore(remembered, "timerbus-commands")
			select {
			case err := <-w.closed:
				if !errors.Is(err, bus.ErrLost) {
					t.Fatalf("the session was closed by %v, want ErrLost", err)
				}
			case <-time.After(patience):
				t.Fatal("the session keeps its lease")
			}
			server.start()
			for _, body := range []string{"4", "5"} {
				at := say(body)
				if !last.Before(at) {
					t.Errorf("command %s was delivered at %+v, the one before it at %+v", body, at, last)
				}
				last = at
			}
		})
	}
}
