package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

// gate is a request that keeps the writer in its transaction until it is released.
type gate struct {
	entered, open chan struct{}
	done          chan error
}

func shut(t *testing.T, s *Store) *gate {
	t.Helper()
	g := &gate{entered: make(chan struct{}), open: make(chan struct{}), done: make(chan error, 1)}
	ctx := t.Context()
	go func() {
		g.done <- s.write(ctx, "gate", 1, 0, func(*conn) error {
			close(g.entered)
			<-g.open
			return nil
		})
	}()
	return g
}

func (g *gate) release(t *testing.T) {
	t.Helper()
	close(g.open)
	if err := <-g.done; err != nil {
		t.Errorf("gate: %v", err)
	}
}

// send starts a write and returns when it is the n-th in the queue.
func send(ctx context.Context, s *Store, n int, apply func(*conn) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- s.write(ctx, "send", 1, 0, apply) }()
	for len(s.writer.queue) < n {
		time.Sleep(time.Millisecond) // there is no signal for a channel's length
	}
	return done
}

func putting(p store.Put) func(*conn) error {
	return func(c *conn) error {
		_, err := c.put(now, &p)
		return err
	}
}

func exists(t *testing.T, s *Store, p store.Put) bool {
	t.Helper()
	_, err := s.Get(t.Context(), now, p.Ref)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestWhatGathersIsOneTransaction(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	g := shut(t, s)
	<-g.entered
	a, b := putOf("a", now), putOf("b", now)
	var together bool
	first := send(t.Context(), s, 1, putting(a))
	second := send(t.Context(), s, 2, func(c *conn) error {
		// Only this transaction can see the first put now.
		_, inside, err := c.timer(selectLive, a.Ref.Shard, a.Ref.UUID[:])
		together = inside && !exists(t, s, a)
		return errors.Join(err, putting(b)(c))
	})
	g.release(t)
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatal(err)
	}
	if !together {
		t.Error("the two requests were committed apart")
	}
	if !exists(t, s, a) || !exists(t, s, b) {
		t.Error("an answered put is not there")
	}
}

func TestOneFailureDoesNotTakeTheOthersWithIt(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	g := shut(t, s)
	<-g.entered
	a, b := putOf("a", now), putOf("b", now)
	first := send(t.Context(), s, 1, putting(a))
	bad := send(t.Context(), s, 2, func(c *conn) error {
		if err := putting(b)(c); err != nil {
			return err
		}
		_, err := c.exec("INSERT INTO positions (topic) VALUES (NULL)")
		return err
	})
	g.release(t)
	if err := <-first; err != nil {
		t.Errorf("the good request: %v", err)
	}
	if err := <-bad; !errors.Is(err, store.ErrInvalid) {
		t.Errorf("the bad request: got %v, want ErrInvalid", err)
	}
	if !exists(t, s, a) {
		t.Error("the good request is lost")
	}
	if exists(t, s, b) {
		t.Error("half of the bad request is there")
	}
}

func TestGivenUpBeforeItIsTaken(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	g := shut(t, s)
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	p := putOf("a", now)
	done := send(ctx, s, 1, putting(p))
	cancel()
	err := <-done
	if !errors.Is(err, context.Canceled) || !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("got %v, want context.Canceled and ErrUnavailable", err)
	}
	g.release(t)
	mustWrite(t, s, putOf("b", now)) // the writer has already processed the queue before it
	if exists(t, s, p) {
		t.Error("it was written all the same")
	}
}

func TestGivenUpAfterItIsTaken(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	g := shut(t, s)
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	p := putOf("a", now)
	applied, open := make(chan struct{}), make(chan struct{})
	given := send(ctx, s, 1, putting(p))
	last := send(t.Context(), s, 2, func(*conn) error {
		close(applied) // the first one has been applied, in the same transaction
		<-open
		return nil
	})
	g.release(t)
	<-applied
	cancel()
	if err := <-given; !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrOutcomeUnknown and context.Canceled", err)
	}
	close(open)
	if err := <-last; err != nil {
		t.Fatal(err)
	}
	if !exists(t, s, p) {
		t.Error("the transaction that went on is not there")
	}
}

func TestGatherStopsAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		name             string
		rows, bytes, got int
	}{
		{"rows", 40, 1, 2},
		{"bytes", 1, 400, 2},
		{"neither", 10, 10, 5},
		{"one alone may be larger", 1000, 1000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &writer{queue: make(chan *request, 8), groupRows: 100, groupBytes: 1000}
			for range 4 {
				w.queue <- &request{rows: c.rows, bytes: c.bytes}
			}
			group, held := w.gather(&request{rows: c.rows, bytes: c.bytes})
			if len(group) != c.got {
				t.Errorf("gathered %d, want %d", len(group), c.got)
			}
			if (held != nil) != (c.got < 5) || len(group)+len(w.queue)+btoi(held != nil) != 5 {
				t.Errorf("of 5, %d gathered, %d left, held: %t", len(group), len(w.queue), held != nil)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCommitOfUnknownOutcome makes COMMIT fail with an error after which the state of the disk is unknown: it violates
// a constraint that SQLite checks at COMMIT.
func TestCommitOfUnknownOutcome(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	execute(t, s, "CREATE TABLE parent (id INTEGER PRIMARY KEY)")
	execute(t, s, "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
	if _, err := s.writer.conn.exec("PRAGMA foreign_keys = 1"); err != nil { // the writer is idle
		t.Fatal(err)
	}
	err := s.write(t.Context(), "orphan", 1, 0, func(c *conn) error {
		_, err := c.exec("INSERT INTO child VALUES (1)")
		return err
	})
	if !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("got %v, want ErrOutcomeUnknown", err)
	}
	p := putOf("a", now)
	mustWrite(t, s, p)
	if !exists(t, s, p) {
		t.Error("the write after it is not there")
	}
}

// outsider is a connection of another program that has a snapshot.
func outsider(t *testing.T, folder string) (leave func()) {
	t.Helper()
	db, err := openDB(filepath.Join(folder, databaseName), 1, "query_only(1)")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM timers").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestAnOutsideReaderDoesNotBlockTheStore: the sqlite3 shell has a transaction open, so that the log cannot be
// truncated. The log grows, and neither writes nor reads wait.
func TestAnOutsideReaderDoesNotBlockTheStore(t *testing.T) {
	const limit = 17 << 20
	folder := NewFolder(t)
	log := &lines{}
	s := openFolder(t, Options{Folder: folder, WALMiB: limit >> 20, Logger: slog.New(slog.NewTextHandler(log, nil))})
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, databaseName+"-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	written := 0
	write := func() {
		written++
		p := putOf(fmt.Sprint("big-", written), now)
		p.Spec.Payload = []byte(`"` + strings.Repeat("x", 90<<10) + `"`)
		mustWrite(t, s, p)
	}
	mustWrite(t, s, putOf("first", now))
	leave := outsider(t, folder)
	defer leave()
	for size() <= limit {
		write()
	}
	longest := time.Duration(0)
	for range 200 { // enough for a second attempt to truncate the log
		began := time.Now()
		write()
		longest = max(longest, time.Since(began))
		if !exists(t, s, putOf("first", now)) {
			t.Fatal("a timer is gone")
		}
	}
	// A single attempt that waits would take the busy timeout of 5 s.
	if longest > 4*time.Second {
		t.Errorf("a write beside an outside reader took %v", longest)
	}
	if n := log.count("write-ahead log cannot be emptied"); n != 1 {
		t.Errorf("%d warnings of one outage, want 1:\n%s", n, log)
	}
	leave()
	for i := 0; size() > limit && i < 1000; i++ {
		write()
	}
	if got := size(); got > limit {
		t.Errorf("the reader has left, and the log still has %d bytes", got)
	}
	write()
	if n := log.count("write-ahead log emptied"); n != 1 {
		t.Errorf("the end of the outage is logged %d times, want once:\n%s", n, log)
	}
}

// lines collects the log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) count(message string) int { return strings.Count(l.String(), message) }

func TestTheLogIsEmptiedUnderReadersThatNeverLeaveAGap(t *testing.T) {
	const limit = 17 << 20
	folder := NewFolder(t)
	s := openFolder(t, Options{Folder: folder, WALMiB: limit >> 20})
	wal := filepath.Join(folder, databaseName+"-wal")
	size := func() int64 {
		info, err := os.Stat(wal)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	// One read has a snapshot from the beginning of the log.
	mustWrite(t, s, putOf("first", now))
	reading, finish, read := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := t.Context()
	go func() {
		read <- s.read(ctx, "long read", func(c *conn) error {
			return c.snapshot(func() error {
				if _, _, err := c.timer(selectLive, 0, []byte{}); err != nil {
					return err
				}
				close(reading)
				<-finish
				return nil
			})
		})
	}()
	<-reading
	body := append(append([]byte{'"'}, make([]byte, 90<<10)...), '"')
	for i := range body[1 : len(body)-1] {
		body[1+i] = 'x'
	}
	for i := 0; size() <= limit; i++ {
		p := putOf(fmt.Sprint("big-", i), now)
		p.Spec.Payload = body
		mustWrite(t, s, p)
	}
	close(finish) // the writer is waiting for the readers
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	mustWrite(t, s, putOf("last", now))
	if got := size(); got > limit {
		t.Errorf("the log still has %d bytes", got)
	}
}

func TestClosed(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	g := shut(t, s)
	<-g.entered
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	g.release(t) // Close is waiting for this request
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), now, []store.Op{putOf("a", now)}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write: got %v, want ErrClosed", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("ping: got %v, want ErrClosed", err)
	}
}
