package natsbus_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// serverDir and serverListen make this test binary a NATS server, so that tests can kill one.
const (
	serverDir    = "TIMERBUS_TEST_SERVER_DIR"
	serverListen = "TIMERBUS_TEST_SERVER_LISTEN"
)

// serve runs a server until the process is killed.
func serve(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := embedded.Start(ctx, embedded.Options{Dir: dir, Listen: os.Getenv(serverListen), Logger: testLog()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	<-ctx.Done()
	s.Close()
	return 0
}

// mortal is a NATS server in a process of its own.
type mortal struct {
	t       bustest.T
	dir     string
	address string
	process *exec.Cmd
}

func startMortal(t bustest.T, dir string) *mortal {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a port: %v", err)
	}
	m := &mortal{t: t, dir: dir, address: listener.Addr().String()}
	if err := listener.Close(); err != nil {
		t.Fatalf("find a port: %v", err)
	}
	m.start()
	t.Cleanup(m.kill)
	return m
}

func (m *mortal) url() string { return "nats://" + m.address }

// start starts the process and waits until it answers for JetStream.
func (m *mortal) start() {
	m.t.Helper()
	m.process = exec.Command(os.Args[0])
	m.process.Env = append(os.Environ(), serverDir+"="+m.dir, serverListen+"="+m.address)
	m.process.Stderr = os.Stderr
	if err := m.process.Start(); err != nil {
		m.t.Fatalf("start a server: %v", err)
	}
	eventually(m.t, "the server answers", func() error {
		nc, err := nats.Connect(m.url())
		if err != nil {
			return err
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		_, err = js.AccountInfo(m.t.Context())
		return err
	})
}

// kill ends the process with SIGKILL.
func (m *mortal) kill() {
	_ = m.process.Process.Kill() // fails if it has ended
	_ = m.process.Wait()         // says that it was killed
}

// eventually tries until it succeeds.
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

// folder is where a stream lies.
func (m *mortal) folder(stream string) string {
	return filepath.Join(m.dir, "jetstream", "$G", "streams", stream)
}

// state asks for a stream and, if it has one, for its durable consumer.
func (m *mortal) state(name string) (stream jetstream.StreamState, consumer *jetstream.ConsumerInfo, err error) {
	ctx := m.t.Context()
	nc, err := nats.Connect(m.url())
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

// remember copies what a stream has on the disk, once that is all that it has.
func (m *mortal) remember(stream, into string) {
	m.t.Helper()
	eventually(m.t, "the stream is on the disk", func() error {
		state, _, err := m.state(stream)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(into); err != nil {
			return err
		}
		if err := os.CopyFS(into, os.DirFS(filepath.Join(m.folder(stream), "msgs"))); err != nil {
			return err
		}
		last, err := lastStored(into)
		if err != nil || last != state.LastSeq {
			return fmt.Errorf("message %d is the last on the disk, want %d: %w", last, state.LastSeq, err)
		}
		return nil
	})
}

// crash kills the server once the state of the stream's durable consumer is on the disk, puts the stream back to what
// remember copied, and starts the server again. A crash may leave the same: messages and their removals are
// written in order, and some time after the consumer's state.
func (m *mortal) crash(stream, remembered string) {
	m.t.Helper()
	eventually(m.t, "the consumer's state is on the disk", func() error {
		_, consumer, err := m.state(stream)
		if err != nil || consumer == nil {
			return err
		}
		floor, delivered, err := consumerStored(filepath.Join(m.folder(stream), "obs", consumer.Name, "o.dat"))
		if err != nil || floor != consumer.AckFloor.Stream || delivered != consumer.Delivered.Stream {
			return fmt.Errorf("ack floor %d and delivered %d on the disk, want %d and %d: %w",
				floor, delivered, consumer.AckFloor.Stream, consumer.Delivered.Stream, err)
		}
		return nil
	})
	m.kill()
	messages := filepath.Join(m.folder(stream), "msgs")
	err := os.RemoveAll(messages)
	if err == nil {
		err = os.CopyFS(messages, os.DirFS(remembered))
	}
	if err != nil {
		m.t.Fatalf("put the stream back: %v", err)
	}
	m.start()
}

// lastStored reads the sequence of the last message in a folder of message blocks. A record is its length, of
// which one bit says that there are headers, a sequence, a time, the subject's length, and the rest; in the
// sequence a bit marks removals.
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

// consumerStored reads a consumer's state: two bytes, then the ack floor's and the last delivery's sequence,
// each in the consumer and in the stream.
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

// TestCrashSuite runs the checks that crash the server: on a server that has lost the end of the due queue, on
// one that was only killed, and on a cluster of which all servers were killed at once.
func TestCrashSuite(t *testing.T) {
	t.Run("loss", func(t *testing.T) {
		runCrashSuite(t, func(t bustest.T) crashable {
			root, err := os.MkdirTemp("", "timerbus-crash-")
			if err != nil {
				t.Fatalf("make a folder: %v", err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(root) })
			server, remembered := startMortal(t, filepath.Join(root, "server")), filepath.Join(root, "remembered")
			return crashable{
				opts:     natsbus.Options{URL: server.url(), Prefix: "crash"},
				remember: func() { server.remember("crash-due", remembered) },
				crash:    func() { server.crash("crash-due", remembered) },
			}
		})
	})
	for name, nodes := range map[string][]string{"nats": {"nats"}, "nats3": {"nats3-1", "nats3-2", "nats3-3"}} {
		t.Run(name, func(t *testing.T) {
			url := servers(t, name)
			runCrashSuite(t, func(check bustest.T) crashable {
				opts := natsbus.Options{URL: url, Prefix: prefix(), Replicas: len(nodes)}
				remove(check, url, opts.Prefix)
				return crashable{opts: opts, remember: func() {}, crash: func() {
					for _, node := range nodes {
						control(t, "kill/"+node)
					}
					var starting sync.WaitGroup
					for _, node := range nodes { // none is ready before most are
						starting.Go(func() { control(t, "start/"+node) })
					}
					starting.Wait()
				}}
			})
		})
	}
}

// crashable is a server, or a cluster, that a check may crash.
type crashable struct {
	opts            natsbus.Options
	remember, crash func()
}

func runCrashSuite(t *testing.T, start func(t bustest.T) crashable) {
	bustest.RunCrash(t, bustest.Options{}, func(t bustest.T, partitions int) bustest.CrashSystem {
		server := start(t)
		server.opts.Partitions, server.opts.Logger = partitions, testLog()
		return bustest.CrashSystem{
			System: bustest.System{
				Join:     func(t bustest.T) bustest.Member { return join(t, server.opts) },
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

// TestConsumerBeyondItsStreamIsMadeAgain has a consumer that takes what comes for delivered, as a crash leaves
// it on servers that do not look for that when they start.
func TestConsumerBeyondItsStreamIsMadeAgain(t *testing.T) {
	server := startServer(t, embedded.Options{})
	b := connect(t, server)
	_, js := raw(t, server)
	publish := func(body string) {
		t.Helper()
		if _, err := b.Publish(t.Context(), bus.Due, bus.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	in := make(inbox, 10)
	stop := consumeInto(t, b, bus.Due, bus.Queue, in)
	publish("1")
	in.next(t)
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
	t.Cleanup(consumeInto(t, b, bus.Due, bus.Queue, in))
	if d := in.next(t); string(d.Body) != "2" {
		t.Errorf("%s was delivered, want 2", d.Body)
	}
	publish("3")
	if d := in.next(t); string(d.Body) != "3" {
		t.Errorf("%s was delivered, want 3", d.Body)
	}
}

// TestLogThatLostItsEndIsReadOn: a log is written before it is acknowledged, but a machine that loses its power
// may forget the end of it, unless it syncs. What comes next is delivered to members that live on, and to those
// that come later, although it takes sequences that were delivered before.
func TestLogThatLostItsEndIsReadOn(t *testing.T) {
	server := startMortal(t, filepath.Join(t.TempDir(), "server"))
	b := connectTo(t, natsbus.Options{URL: server.url(), Partitions: 1, Logger: testLog()})
	in := make(inbox, 100)
	stop := consumeInto(t, b, bus.Commands, bus.Ordered, in)
	var last bus.Position
	say := func(bodies ...string) {
		t.Helper()
		for _, body := range bodies {
			eventually(t, "the bus takes a command", func() error {
				_, err := b.Publish(t.Context(), bus.Commands, bus.Message{Body: []byte(body)})
				return err
			})
			d := in.next(t)
			for string(d.Body) != body { // one whose commit was lost with the server may come again
				d = in.next(t)
			}
			if !last.Before(d.Position) {
				t.Fatalf("command %s was delivered at %+v, the one before it at %+v", body, d.Position, last)
			}
			last = d.Position
		}
	}
	remembered := filepath.Join(t.TempDir(), "remembered")
	say("1", "2")
	server.remember("timerbus-commands", remembered)
	say("3", "4", "5", "6")
	server.crash("timerbus-commands", remembered)
	say("7", "8")
	server.remember("timerbus-commands", remembered)
	say("9", "10")
	eventually(t, "the position is committed", func() error {
		floors, err := b.Floor(t.Context(), bus.Commands, "g")
		if err == nil && floors[0].Depth > 0 {
			err = fmt.Errorf("%d commands are left", floors[0].Depth)
		}
		return err
	})
	stop()
	server.crash("timerbus-commands", remembered)
	t.Cleanup(consumeInto(t, b, bus.Commands, bus.Ordered, in))
	say("11")
}
