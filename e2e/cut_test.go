package e2e_test

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire forwards the connections of a process to a server, or makes them hang.
type wire struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	cut   chan struct{} // not nil: bytes wait until it is closed
}

// newWire forwards connections to address to server.
func newWire(t *testing.T, address, server string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, server: server}
	w.running.Go(w.accept)
	t.Cleanup(func() {
		w.heal()
		_ = listener.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.running.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		from, err := w.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.server)
		if err != nil {
			_ = from.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, from, to)
		w.mu.Unlock()
		w.running.Go(func() { w.pass(from, to) })
		w.running.Go(func() { w.pass(to, from) })
	}
}

func (w *wire) pass(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		cut := w.cut
		w.mu.Unlock()
		if cut != nil {
			<-cut
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// isolate forwards no byte until heal. Neither side notices.
func (w *wire) isolate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = make(chan struct{})
}

func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut != nil {
		close(w.cut)
		w.cut = nil
	}
}

// over returns the URL of a store or bus with another server address.
func over(t *testing.T, direct, server, address string) string {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	for _, values := range query {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], server, address)
		}
	}
	u.Host, u.RawQuery = strings.ReplaceAll(u.Host, server, address), query.Encode()
	if u.String() == direct {
		t.Fatalf("%s does not name the server %s", direct, server)
	}
	return u.String()
}

// TestAProcessThatDoesNotReachTheDatabaseHandsItsWorkOver: one of two schedulers and one of two dispatchers are cut off
// for 15 s, without a closed connection.
func TestAProcessThatDoesNotReachTheDatabaseHandsItsWorkOver(t *testing.T) {
	limits := map[string]time.Duration{"nats": 8 * time.Second, "kafka": 15 * time.Second}
	onEachBus(t, lone, func(t *testing.T, name string) { cutOffFromDatabase(t, needBus(t, name), limits[name]) })
}

func cutOffFromDatabase(t *testing.T, bus *messageBus, limit time.Duration) {
	t.Helper()
	c := startClusterOn(t, bus, 1, 1, 1)
	cutOff := []*member{c.launchWired(t, "scheduler", 2), c.launchWired(t, "dispatcher", 2)}
	c.ready(t)
	c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
	const ahead, length, cutAt, healAt = 3 * time.Second, 30 * time.Second, 5 * time.Second, 20 * time.Second
	began := time.Now()
	var ids []string
	cut, healed := false, false
	for time.Since(began) < length {
		switch now := time.Since(began); {
		case now >= healAt && !healed:
			for _, m := range cutOff {
				m.store.heal()
			}
			healed = true
		case now >= cutAt && !cut:
			for _, m := range cutOff {
				m.store.isolate()
			}
			cut = true
		case now >= healAt-time.Second && now < healAt:
			for _, m := range cutOff {
				r := (&world{Service: m.Service}).do(t, "GET", "/readyz", "")
				if r.status != 503 || !strings.Contains(r.body, "left to other processes until the store answers") {
					t.Fatalf("%s is cut off, and answers %d %s", m.name, r.status, r.body)
				}
			}
		}
		ids = append(ids, fmt.Sprint("cut/", len(ids)))
		c.create(t, ids[len(ids)-1], ahead)
		pause(t.Context(), 50*time.Millisecond)
	}
	var latest time.Duration
	repeated := 0
	for _, id := range ids {
		calls := c.calls(t, id, 1)
		latest = max(latest, calls[0].At.Sub(calls[0].ExecuteAt.Time()))
		repeated += len(calls) - 1
	}
	t.Logf("%d timers, the latest by %v, %d repeated", len(ids), latest, repeated)
	if latest > limit {
		t.Errorf("a timer was delivered %v late, want %v at most", latest, limit)
	}
	for _, m := range cutOff {
		if err := m.Ready(within(t, patience)); err != nil {
			t.Errorf("%s does not take part again: %v", m.name, err)
		}
	}
	c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
}

// TestARollingRestartOfSchedulersDelaysTimersLittle stops and starts schedulers in an orderly way, one after another,
// and prints the lateness of timers.
func TestARollingRestartOfSchedulersDelaysTimersLittle(t *testing.T) {
	c := startCluster(t, 1, 2, 1)
	c.heldBy(t, time.Now(), "scheduler-1", "scheduler-2")
	const restarts, ahead, every = 5, 3 * time.Second, 4 * time.Second
	var restarting sync.WaitGroup
	defer restarting.Wait()
	restarting.Go(func() {
		for i := range restarts {
			pause(t.Context(), every)
			m := c.member(fmt.Sprint("scheduler-", i%2+1))
			if code, err := m.Stop(within(t, patience)); err != nil || code != 0 {
				t.Errorf("%s stopped with %d, %v", m.name, code, err)
			}
			if err := m.Start(within(t, patience)); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
	})
	var ids []string
	for began := time.Now(); time.Since(began) < (restarts+1)*every; pause(t.Context(), 20*time.Millisecond) {
		ids = append(ids, fmt.Sprint("rolling/", len(ids)))
		c.create(t, ids[len(ids)-1], ahead)
	}
	var late []time.Duration
	for _, id := range ids {
		calls := c.calls(t, id, 1)
		late = append(late, calls[0].At.Sub(calls[0].ExecuteAt.Time()))
		if len(calls) > 1 {
			t.Errorf("%s fired %d times over handovers in good order", id, len(calls))
		}
	}
	slices.Sort(late)
	latest := late[len(late)-1]
	t.Logf("%d timers, %d restarts: p99 %v, latest %v", len(late), restarts, late[len(late)*99/100], latest)
	// A generous limit, since machines are busy. It is shorter than the lease of a killed scheduler plus the take-over.
	if latest > 2*time.Second {
		t.Errorf("a timer was delivered %v late, want 2s at most", latest)
	}
}
