// Package outboxtest is the conformance suite of the databases of an outbox. It runs on a real server.
//
// It imports the contract only. Read outboxtest.go.
package outboxtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/outbox"
)

// Server is a database server under test.
type Server struct {
	// Open returns the outbox of a database.
	Open func(url string) (outbox.Outbox, error)
	// NewDatabase creates a database, which is dropped at the end of the test. db is for the statements of an application; one
	// call of Exec may contain several statements.
	NewDatabase func(tb testing.TB) (url string, db *sql.DB)
	// SQL creates the outbox.
	SQL string
	// User is a statement that creates a user with the password "secret" and the right to connect only; Drop removes it.
	User, Drop func(name string) string
	// Full is a statement after which removing rows fails as on a full disk.
	Full string
	// Lock locks the table timerbus_outbox until the transaction ends.
	Lock string
	// Strange are statements that insert rows that Timerbus must refuse, in spite of the constraints. They are optional.
	Strange string
	// Notifies: Wait returns when rows are committed.
	Notifies bool
}

const (
	limit   = 1000
	patient = 30 * time.Second
)

// Run runs the suite.
func Run(t *testing.T, s *Server) {
	for name, test := range map[string]func(*testing.T, *Server){
		"Advance": testAdvance, "LateCommit": testLateCommit, "Rollback": testRollback, "Stale": testStale, "Bounds": testBounds,
		"Rows": testRows, "Strange": testStrange, "Election": testElection, "Oldest": testOldest, "Wait": testWait,
		"Locked": testLocked, "Full": testFull, "Missing": testMissing, "ForeignContent": testForeignContent,
		"Denied": testDenied, "Away": testAway,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

type world struct {
	*testing.T

	server *Server
	url    string
	db     *sql.DB
	outbox outbox.Outbox
}

// begin creates a database with an outbox.
func begin(t *testing.T, s *Server) *world {
	t.Helper()
	w := empty(t, s)
	w.exec(s.SQL)
	return w
}

func empty(t *testing.T, s *Server) *world {
	t.Helper()
	w := &world{T: t, server: s}
	w.url, w.db = s.NewDatabase(t)
	w.outbox = w.open(w.url)
	return w
}

func (w *world) open(url string) outbox.Outbox {
	w.Helper()
	o, err := w.server.Open(url)
	if err != nil {
		w.Fatal(err)
	}
	return o
}

func (w *world) exec(statement string) {
	w.Helper()
	if _, err := w.db.ExecContext(w.Context(), statement); err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
}

// connect returns a reader that is closed at the end of the test.
func (w *world) connect() outbox.Reader {
	w.Helper()
	r, err := w.outbox.Connect(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(r.Close)
	return r
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// insert inserts a create of each timer.
func (w *world) insert(on execer, timers ...string) {
	w.Helper()
	for _, id := range timers {
		if _, err := on.ExecContext(w.Context(), "INSERT INTO timerbus_outbox (verb, body) VALUES ('create', '"+body(id)+"')"); err != nil {
			w.Fatal(err)
		}
	}
}

func body(id string) string { return fmt.Sprintf(`{"id":%q, "payload":1.000}`, id) }

func (w *world) advance(r outbox.Reader, done outbox.Batch, next outbox.Next) outbox.Batch {
	w.Helper()
	b, err := r.Advance(w.Context(), done, next)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func (w *world) pending(r outbox.Reader) outbox.Batch {
	w.Helper()
	b, err := r.Pending(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return b
}

// bodies returns the bodies of a batch's rows.
func (w *world) bodies(r outbox.Reader, b outbox.Batch) []string {
	w.Helper()
	rows, err := r.Rows(w.Context(), b, limit)
	if err != nil {
		w.Fatal(err)
	}
	var list []string
	for _, row := range rows {
		list = append(list, string(row.Body))
	}
	return list
}

func (w *world) want(what string, got []string, ids ...string) {
	w.Helper()
	var want []string
	for _, id := range ids {
		want = append(want, body(id))
	}
	if !slices.Equal(got, want) {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

// count is the number of rows that exist.
func (w *world) count() (n int) {
	w.Helper()
	if err := w.db.QueryRowContext(w.Context(), "SELECT count(*) FROM timerbus_outbox").Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

func next(number int64) outbox.Next {
	return outbox.Next{Number: number, Rows: 100, Bytes: 1 << 20, BodyLimit: limit}
}

func testAdvance(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	first := w.pending(r)
	if first.Outbox == "" || first.Number != 0 || len(first.IDs) != 0 {
		t.Errorf("a new outbox has the batch %+v", first)
	}
	if b := w.advance(r, first, next(1)); b.Number != 0 || len(b.IDs) != 0 {
		t.Errorf("without rows the batch %+v was recorded", b)
	}
	w.insert(w.db, "a", "b")
	b := w.advance(r, first, next(7))
	w.want("first batch", w.bodies(r, b), "a", "b")
	if b.Number != 7 || b.Outbox != first.Outbox || w.count() != 2 {
		t.Errorf("batch %+v of %d rows, want number 7 of outbox %s", b, w.count(), first.Outbox)
	}
	if other := w.connect(); !reflect.DeepEqual(w.pending(other), b) {
		t.Errorf("another connection finds the batch %+v, want %+v", w.pending(other), b)
	}
	w.insert(w.db, "c")
	last := w.advance(r, b, next(8))
	w.want("second batch", w.bodies(r, last), "c")
	if w.count() != 1 {
		t.Errorf("%d rows, want 1", w.count())
	}
	w.insert(w.db, "d")
	if b := w.advance(r, last, outbox.Next{Number: 9}); len(b.IDs) != 0 || b.Number != 8 || w.count() != 1 {
		t.Errorf("the last batch was followed by %+v, with %d rows; want none, with 1 row", b, w.count())
	}
}

// testLateCommit: a row with a lower id than the applied ones becomes visible, and is in the next batch.
func testLateCommit(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	w.insert(tx, "early")
	w.insert(w.db, "late")
	b := w.advance(r, w.pending(r), next(1))
	w.want("batch during the transaction", w.bodies(r, b), "late")
	late := b.IDs
	b = w.advance(r, b, next(2))
	w.want("batch before the commit", w.bodies(r, b))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	w.insert(w.db, "last")
	b = w.advance(r, b, next(3))
	w.want("batch after the commit", w.bodies(r, b), "early", "last")
	if len(b.IDs) == 0 || b.IDs[0] >= late[0] {
		t.Errorf("the late row has the id %v, the earlier one %v: the test proves nothing", b.IDs, late)
	}
}

func testRollback(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.insert(tx, "gone")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.insert(w.db, "there")
	w.want("batch", w.bodies(r, w.advance(r, w.pending(r), next(1))), "there")
}

// testStale: a reader whose batch was applied by another reader neither removes rows nor records a batch.
func testStale(t *testing.T, s *Server) {
	w := begin(t, s)
	slow, quick := w.connect(), w.connect()
	w.insert(w.db, "a")
	first := w.advance(slow, w.pending(slow), next(1))
	w.insert(w.db, "b")
	second := w.advance(quick, w.pending(quick), next(2))
	w.want("second batch", w.bodies(quick, second), "b")
	if b := w.advance(slow, first, next(3)); !reflect.DeepEqual(b, second) {
		t.Errorf("the slow reader recorded %+v, want to find %+v", b, second)
	}
	if b := w.pending(quick); !reflect.DeepEqual(b, second) || w.count() != 1 {
		t.Errorf("recorded is %+v with %d rows, want %+v with 1", b, w.count(), second)
	}
}

func testBounds(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	w.insert(w.db, "a", "b", "c", strings.Repeat("d", 500), strings.Repeat("e", 500), strings.Repeat("f", 500))
	at := next(1)
	at.Rows = 2
	b := w.advance(r, w.pending(r), at)
	w.want("bound of rows", w.bodies(r, b), "a", "b")
	at = next(2)
	at.Bytes = 800
	b = w.advance(r, b, at)
	w.want("bound of bytes", w.bodies(r, b), "c", strings.Repeat("d", 500))
	at = next(3)
	at.Bytes = 100
	w.want("a row above the bound", w.bodies(r, w.advance(r, b, at)), strings.Repeat("e", 500))
}

func testRows(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	w.exec("INSERT INTO timerbus_outbox (verb, body, traceparent, created_at) VALUES " +
		"('update', '{}', '" + trace + "', '2030-01-02 03:04:05.678')")
	w.exec("INSERT INTO timerbus_outbox (verb, body) VALUES ('delete', '\"" + strings.Repeat("ü", 2*limit) + "\"')")
	w.insert(w.db, "removed")
	before := time.Now()
	w.insert(w.db, "now")
	b := w.advance(r, w.pending(r), next(1))
	w.exec(fmt.Sprintf("DELETE FROM timerbus_outbox WHERE id = %d", b.IDs[2]))
	rows, err := r.Rows(t.Context(), b, limit)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	want := outbox.Row{
		ID: b.IDs[0], Verb: "update", Body: []byte("{}"), Traceparent: trace,
		CreatedAt: time.UnixMilli(time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC).UnixMilli()),
	}
	if !reflect.DeepEqual(rows[0], want) {
		t.Errorf("row %+v, want %+v", rows[0], want)
	}
	if n := len(rows[1].Body); rows[1].Verb != "delete" || n <= limit || n > 4*(limit+1) {
		t.Errorf("of a long body of a %s %d bytes were read, want a little more than %d", rows[1].Verb, n, limit)
	}
	// The servers of the tests have the clock of this machine.
	if d := rows[2].CreatedAt.Sub(before); d < -time.Second || d > patient {
		t.Errorf("a row was created %v after the present", d)
	}
}

// testStrange: no row makes reading fail.
func testStrange(t *testing.T, s *Server) {
	if s.Strange == "" {
		t.Fatal("there are no strange rows")
	}
	w := begin(t, s)
	r := w.connect()
	w.exec(s.Strange)
	w.insert(w.db, "a")
	if _, _, err := r.Oldest(t.Context()); err != nil {
		t.Error(err)
	}
	b := w.advance(r, w.pending(r), next(1))
	rows, err := r.Rows(t.Context(), b, limit)
	if err != nil || len(rows) != w.count() || len(rows) < 3 {
		t.Errorf("%d of %d rows were read: %v", len(rows), w.count(), err)
	}
}

func testElection(t *testing.T, s *Server) {
	w := begin(t, s)
	elect := func(r outbox.Reader, want bool) {
		t.Helper()
		if got, err := r.Elect(t.Context()); err != nil || got != want {
			t.Fatalf("elected: %v, %v; want %v", got, err, want)
		}
	}
	first, second := w.connect(), w.connect()
	elect(first, true)
	elect(second, false)
	// Another outbox on the same server has its own reader.
	elect(begin(t, s).connect(), true)
	first.Close()
	deadline := time.Now().Add(patient)
	for {
		// The server may end the connection after Close has returned.
		elected, err := second.Elect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if elected {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the second reader was never elected")
		}
		if err := second.Wait(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	elect(w.connect(), false)
}

func testOldest(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	if _, found, err := r.Oldest(t.Context()); err != nil || found {
		t.Errorf("an empty outbox has a row: %v, %v", found, err)
	}
	for _, c := range []struct {
		age         time.Duration
		least, most time.Duration
	}{{time.Hour, time.Hour - time.Minute, time.Hour + time.Minute}, {-time.Hour, 0, 0}} {
		w.exec("DELETE FROM timerbus_outbox")
		w.exec("INSERT INTO timerbus_outbox (verb, body, created_at) VALUES ('create', '{}', '" +
			time.Now().UTC().Add(-c.age).Format("2006-01-02 15:04:05.000") + "')")
		w.insert(w.db, "younger")
		age, found, err := r.Oldest(t.Context())
		if err != nil || !found || age < c.least || age > c.most {
			t.Errorf("a row of age %v has the age %v, %v, %v", c.age, age, found, err)
		}
	}
}

func testWait(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	wait := func(most time.Duration) time.Duration {
		t.Helper()
		start := time.Now()
		if err := r.Wait(t.Context(), most); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	wait(time.Millisecond)
	// The connection is usable after a timeout, and after the end of a context.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ended, time.Hour); err != nil {
		t.Error(err)
	}
	w.pending(r)
	w.insert(w.db, "a")
	if took := wait(patient); took > patient/2 {
		t.Errorf("Wait took %v after an insert", took)
	}
	if !s.Notifies {
		return
	}
	inserted := make(chan error, 1)
	go func() {
		_, err := w.db.ExecContext(t.Context(), "INSERT INTO timerbus_outbox (verb, body) VALUES ('create', '{}')")
		inserted <- err
	}()
	if took := wait(patient); took > patient/2 {
		t.Errorf("Wait took %v during an insert", took)
	}
	if err := <-inserted; err != nil {
		t.Fatal(err)
	}
	// A notification that arrives with the answer of another call is not lost.
	w.insert(w.db, "c")
	w.pending(r)
	if took := wait(patient); took > patient/2 {
		t.Errorf("Wait took %v after an insert and a read", took)
	}
}

// reason checks an error, and that its text contains no password.
func (w *world) reason(err error, want string) {
	w.Helper()
	failure, ok := errors.AsType[*outbox.Error](err)
	if !ok || failure.ReadyReason() != want {
		w.Errorf("error %v, want the reason %q", err, want)
	}
}

// testLocked: a transaction that locks a row or the table delays the reader, and nothing is lost.
func testLocked(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	w.insert(w.db, "a", "b")
	b := w.advance(r, w.pending(r), next(1))
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), s.Lock); err != nil {
		t.Fatal(err)
	}
	_, err = r.Advance(t.Context(), b, next(2))
	w.reason(err, outbox.ReasonLocked)
	r.Close()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	r = w.connect()
	if found := w.pending(r); !reflect.DeepEqual(found, b) {
		t.Errorf("recorded is %+v, want %+v", found, b)
	}
	w.advance(r, b, next(2))
	if w.count() != 0 {
		t.Errorf("%d rows are left", w.count())
	}
}

func testFull(t *testing.T, s *Server) {
	w := begin(t, s)
	r := w.connect()
	w.insert(w.db, "a")
	b := w.advance(r, w.pending(r), next(1))
	w.exec(s.Full)
	_, err := r.Advance(t.Context(), b, next(2))
	w.reason(err, outbox.ReasonFull)
	r.Close()
	if found := w.pending(w.connect()); !reflect.DeepEqual(found, b) || w.count() != 1 {
		t.Errorf("recorded is %+v with %d rows, want %+v with 1", found, w.count(), b)
	}
}

// testForeignContent: another program wrote to the recorded batch.
func testForeignContent(t *testing.T, s *Server) {
	w := empty(t, s)
	w.exec(s.SQL)
	r := w.connect()
	w.exec("UPDATE timerbus_outbox_reader SET row_ids = '1, 2'")
	_, err := r.Pending(t.Context())
	w.reason(err, outbox.ReasonColumns)
}

func testMissing(t *testing.T, s *Server) {
	w := empty(t, s)
	_, err := w.connect().Elect(t.Context())
	w.reason(err, outbox.ReasonMissing)
	w.exec(s.SQL)
	r := w.connect()
	w.exec("DELETE FROM timerbus_outbox_reader")
	_, err = r.Elect(t.Context())
	w.reason(err, outbox.ReasonMissing)
	w.exec("DROP TABLE timerbus_outbox")
	_, _, err = w.connect().Oldest(t.Context())
	w.reason(err, outbox.ReasonMissing)
}

// testDenied: without a permission the error says so, and the documented permissions suffice.
func testDenied(t *testing.T, s *Server) {
	w := begin(t, s)
	name := fmt.Sprintf("outbox_%d", time.Now().UnixNano()%1e9)
	w.exec(s.User(name))
	t.Cleanup(func() {
		if _, err := w.db.ExecContext(context.WithoutCancel(t.Context()), s.Drop(name)); err != nil {
			t.Error(err)
		}
	})
	w.insert(w.db, "a")
	at, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(name, "secret")
	w.outbox = w.open(at.String())
	if r, err := w.outbox.Connect(t.Context()); err == nil { // MySQL refuses a database without a right in it
		_, err = r.Elect(t.Context())
		w.reason(err, outbox.ReasonDenied)
		r.Close()
	} else {
		w.reason(err, outbox.ReasonDenied)
	}
	// The rights of Timerbus, as documented.
	w.exec("GRANT SELECT, DELETE ON timerbus_outbox TO " + name + "; GRANT SELECT, UPDATE ON timerbus_outbox_reader TO " + name)
	r := w.connect()
	if elected, err := r.Elect(t.Context()); err != nil || !elected {
		t.Fatalf("elected: %v, %v", elected, err)
	}
	b := w.advance(r, w.pending(r), next(1))
	w.want("batch", w.bodies(r, b), "a")
	if _, found, err := r.Oldest(t.Context()); err != nil || !found {
		t.Errorf("oldest row: %v, %v", found, err)
	}
	w.advance(r, b, outbox.Next{})
	if w.count() != 0 {
		t.Errorf("%d rows are left", w.count())
	}
	r.Close() // before the user is dropped
}

func testAway(t *testing.T, s *Server) {
	w := begin(t, s)
	at, _, _ := strings.Cut(w.url, "://")
	w.outbox = w.open(at + "://user:password@127.0.0.1:1/shop")
	_, err := w.outbox.Connect(t.Context())
	w.reason(err, outbox.ReasonAway)
	if err != nil && strings.Contains(err.Error(), "password") {
		t.Errorf("the error contains the password: %v", err)
	}
}
