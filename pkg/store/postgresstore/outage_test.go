package postgresstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// wire is a proxy between the store and the server that can drop data.
type wire struct {
	address string // the database's URL, through the proxy
	listen  net.Listener
	server  string
	mode    atomic.Int32
	// rewrite, a func([]byte) []byte, changes the data in both directions, if it is set.
	rewrite atomic.Value
	group   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
}

// How a wire handles the next data.
const (
	pass        int32 = iota
	loseRequest       // the server does not receive the request
	loseAnswer        // the server receives the request, and the client does not receive the answer
	keepAnswer        // the answer is delayed
	loseCommit        // the client receives the answers before the commit of a transaction, but not that of the commit
)

func newWire(t *testing.T, inside string) *wire {
	t.Helper()
	at, err := url.Parse(inside)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	w := &wire{server: at.Host, conns: map[net.Conn]bool{}}
	if w.listen, err = config.Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	at.Host = w.listen.Addr().String()
	w.address = at.String()
	w.group.Go(w.accept)
	t.Cleanup(func() {
		w.listen.Close()
		w.cut()
		w.group.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		client, err := w.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.server)
		if err != nil || !w.keep(client, server) {
			client.Close()
			continue
		}
		w.group.Go(func() { w.copy(server, client, loseRequest) })
		w.group.Go(func() { w.copy(client, server, loseAnswer) })
	}
}

// keep records the ends of a connection. It returns false while the wire is down.
func (w *wire) keep(ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range ends {
		if w.down {
			end.Close()
		} else {
			w.conns[end] = true
		}
	}
	return !w.down
}

// copy forwards data until the mode is to drop it, and then closes the connection.
func (w *wire) copy(to, from net.Conn, losing int32) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		for losing == loseAnswer && w.mode.Load() == keepAnswer {
			time.Sleep(time.Millisecond) // until the test changes the mode
		}
		if err != nil || w.mode.Load() == losing {
			return
		}
		if w.mode.Load() == loseCommit && losing == loseAnswer && bytes.Contains(buffer[:n], []byte("COMMIT\x00")) {
			return
		}
		said := buffer[:n]
		if rewrite, ok := w.rewrite.Load().(func([]byte) []byte); ok {
			said = rewrite(said)
		}
		if _, err := to.Write(said); err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// cut closes all connections and refuses new ones.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

// outage is a store behind a wire, and a second one with a direct connection that checks the database.
type outage struct {
	*wire

	inside         string // the database's URL, without the wire
	behind, beside *Store
}

// newOutage adds settings to the URL of the store behind the wire.
func newOutage(t *testing.T, address string, settings ...string) *outage {
	t.Helper()
	inside := migrated(t, address)
	w := newWire(t, inside)
	o := &outage{wire: w, inside: inside, beside: openStore(t, inside), behind: openStore(t, w.address)}
	// Only one connection at a time, so that it is the one in which warm has prepared the statements.
	config, err := (&Options{URL: strings.Join(append([]string{w.address}, settings...), "&")}).pool()
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns, config.MinConns = 1, 0
	o.behind.pool.Close()
	if o.behind.pool, err = pgxpool.NewWithConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	o.warm(t)
	return o
}

// warm prepares all statements of these tests, so that the wire next drops the data that the test intends to drop.
func (o *outage) warm(t *testing.T) {
	t.Helper()
	p := putOf("warm", now+1000)
	for _, err := range []error{o.put(t, p), o.update(t, p), o.get(t, p)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (o *outage) put(t *testing.T, p store.Put) error {
	t.Helper()
	_, err := o.behind.Write(t.Context(), now, []store.Op{p})
	return err
}

func (o *outage) update(t *testing.T, p store.Put) error {
	t.Helper()
	at := now + 5000
	_, err := o.behind.Write(t.Context(), now, []store.Op{store.Update{Ref: p.Ref, Revision: p.Revision + 1, Patch: timer.Patch{ExecuteAt: &at}}})
	return err
}

func (o *outage) get(t *testing.T, p store.Put) error {
	t.Helper()
	_, err := o.behind.Get(t.Context(), now, p.Ref)
	return err
}

// truth returns the row's revision; 0 if there is no row.
func (o *outage) truth(t *testing.T, p store.Put) timer.Revision {
	t.Helper()
	row, err := o.beside.Get(t.Context(), now, p.Ref)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return row.Revision
}

func TestWhatIsLostIsToldTruthfully(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		there := putOf("there", now+1000)
		if err := o.put(t, there); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			mode    int32
			call    func(p store.Put) error
			put     store.Put
			want    error
			applied timer.Revision
		}{
			// A create is its own commit, so after it was sent its outcome is unknown.
			{"the answer to a create", loseAnswer, func(p store.Put) error { return o.put(t, p) }, putOf("a", now), store.ErrOutcomeUnknown, putOf("a", now).Revision},
			{"a create", loseRequest, func(p store.Put) error { return o.put(t, p) }, putOf("b", now), store.ErrOutcomeUnknown, 0},
			// An update first locks its row. The commit was never sent.
			{"the answer to a lock", loseAnswer, func(p store.Put) error { return o.update(t, p) }, there, store.ErrUnavailable, there.Revision},
			{"a lock", loseRequest, func(p store.Put) error { return o.update(t, p) }, there, store.ErrUnavailable, there.Revision},
			{"the answer to a commit", loseCommit, func(p store.Put) error { return o.update(t, p) }, there, store.ErrOutcomeUnknown, there.Revision + 1},
			{"the answer to a read", loseAnswer, func(p store.Put) error { return o.get(t, p) }, there, store.ErrUnavailable, there.Revision + 1},
		} {
			o.warm(t)
			o.mode.Store(c.mode)
			err := c.call(c.put)
			o.mode.Store(pass)
			if !errors.Is(err, c.want) || errors.Is(err, store.ErrUnavailable) && errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s was lost: got %v, want %v", c.name, err, c.want)
			}
			if got := o.truth(t, c.put); got != c.applied {
				t.Errorf("%s was lost: the row has revision %s, want %s", c.name, got, c.applied)
			}
			if err := o.put(t, putOf("after "+c.name, now)); err != nil {
				t.Errorf("after %s was lost: %v", c.name, err)
			}
		}
	})
}

// TestAStatementEndsWithItsClient: a create that waits for a lock when its process dies is never applied.
func TestAStatementEndsWithItsClient(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		// Without the limit on waiting for locks, only the check of the client ends the statement.
		o := newOutage(t, address, "lock_timeout=0")
		holder, err := pgx.Connect(t.Context(), o.inside)
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close(t.Context())
		for _, statement := range []string{"BEGIN", "LOCK TABLE timers IN EXCLUSIVE MODE"} {
			if _, err := holder.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		watcher, err := pgx.Connect(t.Context(), o.inside)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close(t.Context())
		await := func(waiting int) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for got := -1; got != waiting; {
				err := watcher.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity, pg_sleep(0.01)
					WHERE datname = current_database() AND application_name = 'timerbus' AND wait_event_type = 'Lock'`).Scan(&got)
				if err != nil {
					t.Fatalf("while awaiting %d statements that wait for a lock: %v", waiting, err)
				}
			}
		}
		p := putOf("late", now+1000)
		ended := make(chan error)
		go func() { ended <- o.put(t, p) }()
		await(1)
		o.cut()
		if err := <-ended; !errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("write: %v", err)
		}
		await(0)
		if _, err := holder.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if got := o.truth(t, p); got != 0 {
			t.Errorf("the create of a dead client was applied: the row has revision %s", got)
		}
	})
}

func TestAServerThatIsGoneIsUnavailableUntilItIsBack(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		o.cut()
		p := putOf("a", now)
		// The first call may use a connection that is dead but not yet known to be dead.
		if err := o.put(t, p); !store.IsTransient(err) {
			t.Errorf("put: %v", err)
		}
		for what, err := range map[string]error{"put": o.put(t, p), "update": o.update(t, p), "get": o.get(t, p)} {
			if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s: got %v, want ErrUnavailable", what, err)
			}
		}
		if err := o.behind.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("ping: got %v, want ErrUnavailable", err)
		}
		o.mend()
		if err := o.behind.Ping(t.Context()); err != nil {
			t.Errorf("ping when it is back: %v", err)
		}
		if err := o.put(t, p); err != nil || o.truth(t, p) != p.Revision {
			t.Errorf("put when it is back: %v", err)
		}
	})
}

func TestAContextThatEndsMeanwhile(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		for name, c := range map[string]struct {
			call func(ctx context.Context) error
			want error
		}{
			"a create": {func(ctx context.Context) error {
				_, err := o.behind.Write(ctx, now, []store.Op{putOf("a", now)})
				return err
			}, store.ErrOutcomeUnknown},
			"a read": {func(ctx context.Context) error {
				_, err := o.behind.Get(ctx, now, putOf("a", now).Ref)
				return err
			}, store.ErrUnavailable},
		} {
			o.warm(t)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			o.mode.Store(keepAnswer)
			err := c.call(ctx)
			o.mode.Store(pass)
			cancel()
			if !errors.Is(err, c.want) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want %v and the context's error", name, err, c.want)
			}
		}
		if err := o.put(t, putOf("b", now)); err != nil {
			t.Errorf("a put after that: %v", err)
		}
	})
}

// TestBatchesThatMeetAreAllAnswered: several writers update the same timers all the time.
func TestBatchesThatMeetAreAllAnswered(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		s := openStore(t, migrated(t, address))
		var ops []store.Op
		for i := range 40 {
			ops = append(ops, putOf(string(rune('A'+i)), now+1000))
		}
		if _, err := s.Write(t.Context(), now, ops); err != nil {
			t.Fatal(err)
		}
		const writers, each = 4, 25
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range each {
					var batch []store.Op
					for j, op := range ops {
						put, _ := op.(store.Put)
						if (i+j+w)%3 == 0 {
							batch = append(batch, store.Update{Ref: put.Ref, Revision: put.Revision + timer.Revision(1+w*each+i), Patch: timer.Patch{}})
						}
					}
					written, err := s.Write(t.Context(), now, batch)
					if err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
					for _, answer := range written {
						if answer.Err != nil {
							t.Errorf("writer %d: %v", w, answer.Err)
						}
					}
				}
			})
		}
		group.Wait()
	})
}

// TestADeadlockRunsAgain makes a deadlock with another transaction, in which the server aborts the store's transaction.
func TestADeadlockRunsAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		first, second := putOf("a", now+1000), putOf("b", now+1000)
		if byRef(first.Ref, second.Ref) > 0 {
			first, second = second, first
		}
		if _, err := s.Write(t.Context(), now, []store.Op{first, second}); err != nil {
			t.Fatal(err)
		}
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		lock := func(p store.Put) {
			t.Helper()
			_, err := other.Exec(t.Context(), "SELECT FROM timers WHERE timer_uuid = $1 FOR UPDATE", [16]byte(p.Ref.UUID))
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, statement := range []string{"SET deadlock_timeout = '1h'", "BEGIN"} {
			if _, err := other.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		lock(second)
		done := make(chan error, 1)
		ctx := t.Context()
		go func() {
			_, err := s.Write(ctx, now, []store.Op{
				store.Update{Ref: first.Ref, Revision: 8}, store.Update{Ref: second.Ref, Revision: 9},
			})
			done <- err
		}()
		for waiting := false; !waiting; {
			err := other.QueryRow(t.Context(),
				"SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
			if err != nil {
				t.Fatal(err)
			}
		}
		lock(first)
		if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("the write that met a deadlock: %v", err)
		}
		for _, p := range []store.Put{first, second} {
			if row, err := s.Get(t.Context(), now, p.Ref); err != nil || row.Revision > 9 {
				t.Errorf("%s is at revision %s, %v", p.ID, row.Revision, err)
			}
		}
	})
}
