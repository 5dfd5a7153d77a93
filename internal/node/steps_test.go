package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

// pipes is a listener with in-memory connections, so that a whole node runs in virtual time.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// whole is a node with all roles, with store and bus in memory, and with a wall clock that the test sets. As with
// SQLite, it is also the store's clock.
type whole struct {
	t       *testing.T
	client  *http.Client
	machine store.Machine
	store   store.Store

	mu    sync.Mutex
	ahead time.Duration
}

func (w *whole) set(ahead time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead = ahead
}

// clocks returns the machine's wall clock and monotonic clock.
func (w *whole) clocks() (time.Time, time.Duration) {
	wall, elapsed := w.machine()
	w.mu.Lock()
	defer w.mu.Unlock()
	return wall.Add(w.ahead).Round(0), elapsed
}

func (w *whole) wall() time.Time { wall, _ := w.clocks(); return wall }

func inWhole(t *testing.T, test func(w *whole)) {
	t.Helper()
	inWholeOn(t, nil, test)
}

// inWholeOn is inWhole with other options, which change sets. after runs when the node has stopped.
func inWholeOn(t *testing.T, change func(*Options), test func(w *whole), after ...func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &whole{t: t, machine: store.ThisMachine()}
		listener := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
		w.client = &http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
		o := &Options{
			Bus: membus.New(membus.Options{Partitions: 4}).Join("test"), Listener: listener, Drain: 5 * time.Second,
			Version: "test", Logger: slog.New(slog.DiscardHandler), machine: w.clocks,
		}
		if change != nil {
			change(o)
		}
		w.store = memstore.NewDatabaseAt(o.wallClock).Open()
		o.Store = w.store
		o.Close = func() error { return errors.Join(o.Bus.Close(), o.Store.Close()) }
		n, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		test(w)
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, f := range after {
			f()
		}
	})
}

func (w *whole) post(path, body string) (status int, answer map[string]any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://127.0.0.1:8080/api/v1/"+path, bytes.NewBufferString(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// create creates a timer that fires an event.
func (w *whole) create(id string, at time.Time) {
	w.t.Helper()
	body := fmt.Sprintf(`{"id":%q,"executeAt":%q,"deliver":"event"}`, id, at.UTC().Format(time.RFC3339Nano))
	if status, answer := w.post("timers/create", body); status != http.StatusOK {
		w.t.Fatalf("create %s: %d %v", id, status, answer)
	}
}

// fired reports whether a timer is done.
func (w *whole) fired(id string) bool {
	w.t.Helper()
	status, answer := w.post("timers/get", fmt.Sprintf(`{"id":%q}`, id))
	if status != http.StatusOK {
		w.t.Fatalf("get %s: %d %v", id, status, answer)
	}
	return answer["status"] == "done"
}

// TestI15_AWholeNodeFollowsAStepOfItsWallClockWithinASecond: with an embedded store, due times are times of the
// machine's wall clock. A timer that is due by the new time fires within a second, and none fires before its time by
// that clock.
func TestI15_AWholeNodeFollowsAStepOfItsWallClockWithinASecond(t *testing.T) {
	for name, steps := range map[string][]time.Duration{
		"back":                {time.Hour, 0},
		"forward":             {0, time.Hour},
		"forward, a bit":      {0, 3 * time.Second},
		"forward, then back":  {0, time.Hour, 0},
		"back, then forward":  {time.Hour, 0, time.Hour},
		"forward, again, far": {0, time.Hour, 24 * time.Hour},
	} {
		for phase := time.Duration(0); phase < 2*time.Second; phase += 270 * time.Millisecond {
			t.Run(fmt.Sprint(name, " after ", phase), func(t *testing.T) {
				inWhole(t, func(w *whole) {
					w.set(steps[0])
					for i, step := range steps[1:] {
						time.Sleep(10*time.Second + phase)
						passed := fmt.Sprint("passed-", i)    // due between the old and the new time, if the new time is later
						coming := fmt.Sprint("coming-", i)    // due soon by the new time
						tooSoon := fmt.Sprint("tomorrow-", i) // due by neither
						was, is := w.wall(), w.wall().Add(step-steps[i])
						w.create(passed, was.Add((step-steps[i])/2+100*time.Millisecond))
						w.set(step)
						w.create(coming, is.Add(1500*time.Millisecond))
						w.create(tooSoon, is.Add(48*time.Hour))
						time.Sleep(time.Second)
						if step > steps[i] && !w.fired(passed) {
							t.Errorf("step %d: a timer whose time the step passed has not fired within a second", i)
						}
						if step > steps[i] && w.fired(coming) {
							t.Errorf("step %d: a timer has fired 500 ms early", i)
						}
						time.Sleep(600 * time.Millisecond)
						if !w.fired(coming) {
							t.Errorf("step %d: a timer has not fired 100 ms after its time", i)
						}
						if w.fired(tooSoon) {
							t.Errorf("step %d: a timer has fired two days early", i)
						}
					}
				})
			})
		}
	}
}

// TestI8_AWholeNodeFiresNothingEarlyAfterItsWallClockWasSetBack: timers that were about to fire wait for the new time.
func TestI8_AWholeNodeFiresNothingEarlyAfterItsWallClockWasSetBack(t *testing.T) {
	inWhole(t, func(w *whole) {
		time.Sleep(10 * time.Second)
		for i := range 20 {
			w.create(fmt.Sprint(i), w.wall().Add(time.Duration(i+1)*50*time.Millisecond))
		}
		w.set(-10 * time.Second)
		time.Sleep(10 * time.Second)
		for i := range 20 {
			if w.fired(fmt.Sprint(i)) {
				t.Errorf("timer %d has fired before its time", i)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		for i := range 20 {
			if !w.fired(fmt.Sprint(i)) {
				t.Errorf("timer %d has not fired 500 ms after its time", i)
			}
		}
	})
}
