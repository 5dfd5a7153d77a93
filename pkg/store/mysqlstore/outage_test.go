package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const now = timer.Millis(1_800_000_000_000)

func putOf(id string) store.Put {
	block := shard.Block{Count: 16}
	return store.Put{
		Ref:       store.Ref{Shard: block.Place(id), UUID: timer.UUIDOf("default", id)},
		Namespace: "default", ID: id, Revision: 1,
		Spec: timer.Spec{
			ExecuteAt: now + 1000, CallbackURL: "http://127.0.0.1:9000/", CallbackTimeout: timer.DefaultCallbackTimeout,
			Retry: timer.DefaultRetryPolicy(), Payload: []byte(`{"n":1}`),
		},
	}
}

func write(ctx context.Context, s *Store, ops ...store.Op) error {
	written, err := s.Write(ctx, now, ops)
	if err != nil {
		return err
	}
	for _, w := range written {
		err = errors.Join(err, w.Err)
	}
	return err
}

func updateOf(p store.Put, revision timer.Revision) store.Update {
	return store.Update{Ref: p.Ref, Revision: revision}
}

// outage is a store behind a line that tests cut, and a second one with direct connections that reads the database.
type outage struct {
	line           *testserver.Line
	inside         string // the database's URL, without the line
	behind, beside *Store
}

func newOutage(t *testing.T, address string) *outage {
	t.Helper()
	o := &outage{line: testserver.NewLine(), inside: migrated(t, address)}
	at, err := url.Parse(o.inside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.line.Close)
	if at.Host, err = o.line.Listen(t.Context(), at.Host); err != nil {
		t.Fatal(err)
	}
	o.beside, o.behind = openStore(t, o.inside), openStore(t, at.String())
	return o
}

// revision returns the row's revision; 0 if there is no row.
func (o *outage) revision(t *testing.T, p store.Put) timer.Revision {
	t.Helper()
	row, err := o.beside.Get(t.Context(), now, p.Ref)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return row.Revision
}

// TestALostConnectionIsReportedCorrectly: ErrOutcomeUnknown if the commit may have happened, else ErrUnavailable.
func TestALostConnectionIsReportedCorrectly(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		there := putOf("there")
		if err := write(t.Context(), o.behind, there); err != nil {
			t.Fatal(err)
		}
		get := func(p store.Put) error {
			_, err := o.behind.Get(t.Context(), now, p.Ref)
			return err
		}
		create := func(p store.Put) error { return write(t.Context(), o.behind, p) }
		updateTo := func(revision timer.Revision) func(p store.Put) error {
			return func(p store.Put) error { return write(t.Context(), o.behind, updateOf(p, revision)) }
		}
		const lost, answered = false, true
		for _, c := range []struct {
			name, text string
			answer     bool
			call       func(p store.Put) error
			put        store.Put
			want       error
			applied    timer.Revision
		}{
			{"answer to a create", "INSERT INTO timers", answered, create, putOf("a"), store.ErrOutcomeUnknown, 1},
			{"create", "INSERT INTO timers", lost, create, putOf("b"), store.ErrOutcomeUnknown, 0},
			{"begin of a transaction", "START TRANSACTION", lost, updateTo(7), there, store.ErrUnavailable, 1},
			{"answer to a lock", "FOR UPDATE", answered, updateTo(7), there, store.ErrUnavailable, 1},
			{"answer to an update", "INSERT INTO timers", answered, updateTo(7), there, store.ErrUnavailable, 1},
			{"commit", "COMMIT", lost, updateTo(7), there, store.ErrOutcomeUnknown, 1},
			{"answer to a commit", "COMMIT", answered, updateTo(8), there, store.ErrOutcomeUnknown, 8},
			{"answer to a read", "SELECT", answered, get, there, nil, 8},
		} {
			o.line.Lose(c.text, c.answer)
			err := c.call(c.put)
			if !errors.Is(err, c.want) || errors.Is(err, store.ErrUnavailable) && errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s lost: got %v, want %v", c.name, err, c.want)
			}
			if got := o.revision(t, c.put); got != c.applied {
				t.Errorf("%s lost: the row has revision %d, want %d", c.name, got, c.applied)
			}
			if err := write(t.Context(), o.behind, putOf("after "+c.name)); err != nil {
				t.Errorf("after %s was lost: %v", c.name, err)
			}
		}
	})
}

func TestAServerThatIsGoneIsUnavailableUntilItIsBack(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		p := putOf("a")
		o.line.Kill()
		for name, call := range map[string]func() error{
			"create": func() error { return write(t.Context(), o.behind, p) },
			"update": func() error { return write(t.Context(), o.behind, updateOf(p, 2)) },
			"get":    func() error { _, err := o.behind.Get(t.Context(), now, p.Ref); return err },
			"time":   func() error { _, err := o.behind.Time(t.Context()); return err },
			"ping":   func() error { return o.behind.Ping(t.Context()) },
		} {
			if err := call(); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s: got %v, want ErrUnavailable", name, err)
			}
		}
		o.line.Revive()
		if err := errors.Join(o.behind.Ping(t.Context()), write(t.Context(), o.behind, p)); err != nil || o.revision(t, p) != p.Revision {
			t.Errorf("when the server is back: %v", err)
		}
	})
}

func TestAContextThatEndsDuringACall(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		o := newOutage(t, address)
		there := putOf("there")
		if err := write(t.Context(), o.behind, there); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			call func(ctx context.Context) error
			want error
		}{
			"create": {func(ctx context.Context) error { return write(ctx, o.behind, putOf("a")) }, store.ErrOutcomeUnknown},
			"update": {func(ctx context.Context) error { return write(ctx, o.behind, updateOf(there, 2)) }, store.ErrUnavailable},
			"read": {func(ctx context.Context) error {
				_, err := o.behind.Get(ctx, now, there.Ref)
				return err
			}, store.ErrUnavailable},
		} {
			if err := o.behind.Ping(t.Context()); err != nil { // which leaves an open connection in the pool
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			o.line.Isolate()
			err := c.call(ctx)
			cancel()
			o.line.Heal()
			if !errors.Is(err, c.want) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want %v and the context's error", name, err, c.want)
			}
		}
		if err := write(t.Context(), o.behind, putOf("b")); err != nil {
			t.Errorf("a create after that: %v", err)
		}
	})
}

// TestADeadlockRunsAgain: another transaction locks two rows in the opposite order, and the server rolls back the one that has
// changed less, which is the store's.
func TestADeadlockRunsAgain(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		first, second := putOf("a"), putOf("b")
		if compareRefs(first.Ref, second.Ref) > 0 {
			first, second = second, first
		}
		if err := write(t.Context(), s, first, second); err != nil {
			t.Fatal(err)
		}
		other, watcher := connection(t, inside), connection(t, inside)
		defer other.Close()
		defer watcher.Close()
		run := func(statement string, args ...any) {
			t.Helper()
			if _, err := other.ExecContext(t.Context(), statement, args...); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		lock := func(p store.Put) {
			t.Helper()
			run("SELECT 1 FROM timers WHERE shard_id = ? AND uuid = ? FOR UPDATE", int64(p.Ref.Shard), p.Ref.UUID[:])
		}
		run("CREATE TABLE scratch (n INT PRIMARY KEY)")
		run("START TRANSACTION")
		run("INSERT INTO scratch VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16)")
		lock(second)
		done := make(chan error, 1)
		go func() { done <- write(t.Context(), s, updateOf(first, 8), updateOf(second, 9)) }()
		for lockable(t, watcher, first) { // until the store has locked the first row; then it waits for the second
			time.Sleep(time.Millisecond)
		}
		lock(first) // the deadlock
		run("COMMIT")
		if err := <-done; err != nil {
			t.Errorf("the write in a deadlock: %v", err)
		}
		for want, p := range map[timer.Revision]store.Put{8: first, 9: second} {
			if row, err := s.Get(t.Context(), now, p.Ref); err != nil || row.Revision != want {
				t.Errorf("%s has revision %d, %v; want %d", p.ID, row.Revision, err, want)
			}
		}
	})
}

// lockable reports whether no transaction has locked a row.
func lockable(t *testing.T, db *sql.DB, p store.Put) bool {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT 1 FROM timers WHERE shard_id = ? AND uuid = ? FOR UPDATE SKIP LOCKED",
		int64(p.Ref.Shard), p.Ref.UUID[:])
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := rows.Next()
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestConcurrentBatchesAreAllAnswered: several writers update, delete and create the same timers, in different orders.
func TestConcurrentBatchesAreAllAnswered(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		s := openStore(t, migrated(t, address))
		const timers, writers, each = 40, 4, 25
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range each {
					var batch []store.Op
					for j := range timers {
						p := putOf(string(rune('A' + (j*(2*w+1))%timers)))
						p.Revision = timer.Revision(1 + w*each + i)
						switch (i + j + w) % 4 {
						case 0:
							batch = append(batch, p)
						case 1:
							batch = append(batch, updateOf(p, p.Revision))
						case 2:
							batch = append(batch, store.Delete{Ref: p.Ref})
						}
					}
					written, err := s.Write(t.Context(), now, batch)
					if err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
					for _, answer := range written {
						if answer.Err != nil && !errors.Is(answer.Err, store.ErrNotFound) {
							t.Errorf("writer %d: %v", w, answer.Err)
						}
					}
				}
			})
		}
		group.Wait()
	})
}

// TestConflictsRunAgain: which errors of the server a transaction is repeated for, and which commits are known not to have
// happened.
func TestConflictsRunAgain(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint16]bool{deadlock: true, lockWaitTimeout: true, duplicateKey: true, recordChanged: true, dataTooLong: false} {
		if got := again(serverError(n)); got != want {
			t.Errorf("error %d: run again: %t, want %t", n, got, want)
		}
	}
	if err := failed(t.Context(), serverError(tableFull), false); !errors.Is(err, store.ErrFull) || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a full disk: %v", err)
	}
	if err := failed(t.Context(), serverError(dataTooLong), false); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a value that is too long: %v", err)
	}
}

func serverError(number uint16) error { return &mysql.MySQLError{Number: number} }
