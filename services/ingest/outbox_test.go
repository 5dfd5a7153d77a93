package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// table is an outbox in memory.
type table struct {
	mu      sync.Mutex
	rows    []outbox.Row
	batch   outbox.Batch
	elected *tableReader
	// everyone: all readers are elected, as those whose connections died without notice.
	everyone bool
	failure  error // of every call
	// beforeAdvance is called with the lock held; an error is the answer of Advance.
	beforeAdvance func() error
	inserted      chan struct{}
	advances      int
}

func newTable() *table {
	return &table{batch: outbox.Batch{Outbox: "id"}, inserted: make(chan struct{}, 1)}
}

// insert is a committed transaction. An id may be lower than earlier ones.
func (o *table) insert(id int64, verb, body string) {
	o.insertRow(outbox.Row{ID: id, Verb: verb, Body: []byte(body), CreatedAt: noon.Time()})
}

func (o *table) insertRow(r outbox.Row) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows = append(o.rows, r)
	slices.SortFunc(o.rows, func(a, b outbox.Row) int { return cmp.Compare(a.ID, b.ID) })
	select {
	case o.inserted <- struct{}{}:
	default:
	}
}

func (o *table) set(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

func (o *table) left() []int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	var ids []int64
	for _, r := range o.rows {
		ids = append(ids, r.ID)
	}
	return ids
}

func (o *table) Connect(context.Context) (outbox.Reader, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure != nil {
		return nil, o.failure
	}
	return &tableReader{o}, nil
}

type tableReader struct{ o *table }

// lock locks the table, and returns its failure.
func (r *tableReader) lock() (unlock func(), err error) {
	r.o.mu.Lock()
	return r.o.mu.Unlock, r.o.failure
}

func (r *tableReader) Elect(context.Context) (bool, error) {
	unlock, err := r.lock()
	defer unlock()
	if err != nil || r.o.elected != nil && !r.o.everyone {
		return false, err
	}
	r.o.elected = r
	return true, nil
}

func (r *tableReader) Oldest(context.Context) (time.Duration, bool, error) {
	unlock, err := r.lock()
	defer unlock()
	if err != nil || len(r.o.rows) == 0 {
		return 0, false, err
	}
	return time.Minute, true, nil
}

func (r *tableReader) Pending(context.Context) (outbox.Batch, error) {
	unlock, err := r.lock()
	defer unlock()
	return r.o.batch, err
}

func (r *tableReader) Advance(_ context.Context, done outbox.Batch, next outbox.Next) (outbox.Batch, error) {
	unlock, err := r.lock()
	defer unlock()
	o := r.o
	if err == nil && o.beforeAdvance != nil {
		err = o.beforeAdvance()
	}
	if err != nil || o.batch.Number != done.Number {
		return o.batch, err
	}
	if next.Number <= done.Number {
		return o.batch, fmt.Errorf("number %d after %d", next.Number, done.Number)
	}
	o.advances++
	o.rows = slices.DeleteFunc(o.rows, func(row outbox.Row) bool { return slices.Contains(done.IDs, row.ID) })
	o.batch.IDs = nil
	for _, row := range o.rows[:min(len(o.rows), next.Rows)] {
		o.batch.IDs = append(o.batch.IDs, row.ID)
		o.batch.Number = next.Number
	}
	return o.batch, nil
}

func (r *tableReader) Rows(_ context.Context, b outbox.Batch, _ int) ([]outbox.Row, error) {
	unlock, err := r.lock()
	defer unlock()
	var rows []outbox.Row
	for _, row := range r.o.rows {
		if slices.Contains(b.IDs, row.ID) {
			rows = append(rows, row)
		}
	}
	return rows, err
}

func (r *tableReader) Wait(ctx context.Context, most time.Duration) error {
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-r.o.inserted:
	case <-limit.C:
	case <-ctx.Done():
	}
	return nil
}

func (r *tableReader) Close() {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	if r.o.elected == r {
		r.o.elected = nil
	}
}

func withOutbox(o *table) func(*ingest.Config) {
	return func(c *ingest.Config) { c.Outbox = o }
}

// wantEmpty checks that all rows were removed.
func (o *table) wantEmpty(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if left := o.left(); len(left) > 0 {
		t.Errorf("rows %v are left", left)
	}
}

func TestOutboxAppliesRowsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		o.insert(1, "create", `{"id":"a","executeIn":"1h","payload":1,"correlationId":"c"}`)
		o.insert(2, "update", `{"id":"a","payload":2}`)
		o.insert(3, "create", `{"id":"b","executeIn":"1h"}`)
		o.insert(4, "delete", `{"id":"b"}`)
		o.insert(5, "create", `{"id":"p","executeIn":"1h"}`)
		o.insert(6, "pause", `{"id":"p","note":"n"}`)
		o.insert(7, "pause", `{"id":"a"}`)
		o.insert(8, "resume", `{"id":"a"}`)
		w := newWorld(t, withOutbox(o), func(c *ingest.Config) { c.BatchOps = 3 })
		results := w.listen(bus.Results)
		o.wantEmpty(t)
		if row, err := w.row("a"); err != nil || string(row.Payload) != "2" || row.Correlation() != "c" {
			t.Errorf("row %+v, %v", row, err)
		}
		if _, err := w.row("b"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the deleted timer: %v", err)
		}
		if row, err := w.row("a"); err != nil || row.Status != timer.StatusScheduled {
			t.Errorf("the resumed timer: %s, %v", row.Status, err)
		}
		if row, err := w.row("p"); err != nil || row.Pause == nil || row.Pause.By != "outbox" || row.Pause.Note != "n" {
			t.Errorf("the paused timer: %+v, %v", row.Pause, err)
		}
		// The tap came later than the first answers, or not.
		o.insert(9, "create", `{"id":"c","executeIn":"1h"}`)
		o.wantEmpty(t)
		for a := results.next(t); a.CommandID != "outbox/id/9"; a = results.next(t) {
			if !strings.HasPrefix(a.CommandID, "outbox/id/") || !a.InTime || a.Earlier {
				t.Errorf("answer %s", a.event.Data)
			}
		}
		if n := w.counter("timerbus_ingest_outbox_rows_total", "applied"); n != 9 {
			t.Errorf("%v rows counted, want 9", n)
		}
		if n := w.counter("timerbus_ingest_commands_total", "applied"); n != 0 {
			t.Errorf("%v topic commands counted, want 0", n)
		}
	})
}

// TestOutboxTakesLateRows: a row that becomes visible after rows with higher ids is applied, too.
func TestOutboxTakesLateRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o))
		o.insert(10, "create", `{"id":"high","executeIn":"1h"}`)
		o.wantEmpty(t)
		o.insert(3, "create", `{"id":"low","executeIn":"1h"}`)
		o.wantEmpty(t)
		for _, id := range []string{"high", "low"} {
			if _, err := w.row(id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// TestOutboxCountsFromCreatedAt: a delay counts from the time of the row, not from when it is applied.
func TestOutboxCountsFromCreatedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		o.insertRow(outbox.Row{ID: 1, Verb: "create", Body: []byte(`{"id":"a","executeIn":"1h"}`), CreatedAt: noon.Add(-20 * time.Minute).Time()})
		o.insertRow(outbox.Row{ID: 2, Verb: "create", Body: []byte(`{"id":"b","executeIn":"1h"}`)})
		w := newWorld(t, withOutbox(o))
		o.wantEmpty(t)
		for id, want := range map[string]time.Duration{"a": 40 * time.Minute, "b": time.Hour} {
			if row, err := w.row(id); err != nil || row.ExecuteAt != noon.Add(want) {
				t.Errorf("%s is due %v after noon, want %v: %v", id, row.ExecuteAt.Sub(noon), want, err)
			}
		}
	})
}

// TestOutboxRefusesRows: a row that cannot be applied is answered like a topic command, and blocks no other row.
func TestOutboxRefusesRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o))
		dead := w.listen(bus.Dead)
		far := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		for i, c := range []struct {
			verb, body, code, text string
			at                     time.Time
		}{
			{verb: "merge", body: `{"id":"a"}`, code: "INVALID_INPUT", text: `verb: "merge" is not accepted: want one of create, delete, pause, resume, schedule.backfill,`},
			{verb: "", body: `{"id":"a"}`, code: "INVALID_INPUT", text: "verb: "},
			{verb: "create", body: `nonsense`, code: "INVALID_INPUT", text: "body: "},
			{verb: "create", body: `[]`, code: "INVALID_INPUT", text: "body: "},
			{verb: "create", body: "{\"id\":\"\xff\"}", code: "INVALID_INPUT", text: "body: "},
			{verb: "create", body: `{"id":"a","executeIn":"1h","colour":"red"}`, code: "INVALID_INPUT", text: "colour: "},
			{verb: "create", body: `{"id":"a","executeIn":"1h","namespace":"none"}`, code: "NAMESPACE_NOT_FOUND", text: "there is no namespace"},
			{verb: "create", body: `{"id":"a","executeIn":"48h"}`, code: "INVALID_INPUT", text: "executeAt: ", at: far},
			{verb: "create", body: strings.Repeat(" ", 200_000), code: "PAYLOAD_TOO_LARGE", text: "body: more than 131072 bytes"},
			{verb: "update", body: `{"id":"a","payload":1}`, code: "TIMER_NOT_FOUND", text: "there is no timer"},
			{verb: "delete", body: `{"id":"a"}`, code: "TIMER_NOT_FOUND", text: "there is no timer"},
		} {
			at := c.at
			if at.IsZero() {
				at = noon.Time()
			}
			good := fmt.Sprintf("good-%d", i)
			o.set(func() {
				o.rows = append(o.rows, outbox.Row{ID: int64(2*i + 1), Verb: c.verb, Body: []byte(c.body), CreatedAt: at})
			})
			o.insert(int64(2*i+2), "create", `{"id":"`+good+`","executeIn":"1h"}`)
			o.wantEmpty(t)
			a := dead.next(t)
			if a.Error != c.code || !strings.HasPrefix(a.Message, c.text) || a.CommandID != fmt.Sprintf("outbox/id/%d", 2*i+1) {
				t.Errorf("%s %.50s: %s: %s (%s), want %s: %s", c.verb, c.body, a.Error, a.Message, a.CommandID, c.code, c.text)
			}
			if _, err := w.row(good); err != nil {
				t.Errorf("after %s %.50s: %v", c.verb, c.body, err)
			}
		}
		dead.empty(t)
		if n := w.counter("timerbus_ingest_outbox_rows_total", "refused"); n != 11 {
			t.Errorf("%v rows counted as refused, want 11", n)
		}
	})
}

// TestOutboxAppliesOnce: between the commit in the store and the removal of the rows, the process dies, or another reader
// takes over. No row is applied twice.
func TestOutboxAppliesOnce(t *testing.T) {
	for name, c := range map[string]func(w *world, o *table){
		"failure of the removal": func(_ *world, o *table) {
			failures := 3
			o.set(func() {
				o.beforeAdvance = func() error {
					if len(o.batch.IDs) > 0 && failures > 0 {
						failures--
						return &outbox.Error{Reason: outbox.ReasonLocked, Err: errors.New("locked")}
					}
					return nil
				}
			})
		},
		"death after the commit": func(w *world, _ *table) { w.killAfterWrite() },
		"lost answer of the store": func(w *world, _ *table) {
			lost := false
			w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
				written, err := do()
				if !lost && len(ops) > 0 {
					lost = true
					return nil, store.ErrOutcomeUnknown
				}
				return written, err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newTable()
				w := newWorld(t, withOutbox(o))
				results, dead := w.listen(bus.Results), w.listen(bus.Dead)
				c(w, o)
				o.insert(1, "create", `{"id":"once","executeIn":"1h","onConflict":"fail"}`)
				o.insert(2, "create", `{"id":"a","executeIn":"1h"}`)
				o.insert(3, "delete", `{"id":"a"}`)
				synctest.Wait()
				if w.doomed {
					w.stop()
					w.store.set(nil)
					if len(o.left()) == 0 {
						t.Fatal("the rows were removed before the death: the test proves nothing")
					}
					w.restart(withOutbox(o))
				}
				time.Sleep(time.Minute)
				o.insert(4, "create", `{"id":"last","executeIn":"1h"}`)
				o.wantEmpty(t)
				dead.empty(t)
				if _, err := w.row("once"); err != nil {
					t.Error(err)
				}
				if _, err := w.row("a"); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the deleted timer: %v", err)
				}
				earlier := 0
				for range len(results.got) {
					if a := results.next(t); a.Earlier {
						earlier++
					}
				}
				if earlier == 0 {
					t.Error("no row was replayed: the test proves nothing")
				}
			})
		})
	}
}

// TestOutboxWithTwoReaders: both consider themselves elected, and each row is applied once.
func TestOutboxWithTwoReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		o.everyone = true
		w := newWorld(t, withOutbox(o), func(c *ingest.Config) { c.BatchOps = 3 })
		first := w.svc
		dead := w.listen(bus.Dead)
		firstStop := w.stop
		w.restart(withOutbox(o), func(c *ingest.Config) { c.BatchOps = 2 })
		second := w.svc
		for i := range 60 {
			id := fmt.Sprint(i / 3)
			o.insert(int64(3*i+1), "create", `{"id":"`+id+`","executeIn":"1h","onConflict":"fail"}`)
			o.insert(int64(3*i+2), "update", fmt.Sprintf(`{"id":%q,"payload":%d}`, id, i))
			o.insert(int64(3*i+3), "delete", `{"id":"`+id+`"}`)
		}
		time.Sleep(time.Second)
		o.wantEmpty(t)
		dead.empty(t)
		if first == second || o.advances < 60 {
			t.Errorf("%d batches", o.advances)
		}
		firstStop()
	})
}

// TestOutboxFailover: the elected process stops, and the other process takes over.
func TestOutboxFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o))
		synctest.Wait()
		before, stop := w.metrics, w.stop
		w.restart(withOutbox(o))
		time.Sleep(5 * time.Second)
		if a, b := gauge(t, before, "timerbus_ingest_outbox_elected"), gauge(t, w.metrics, "timerbus_ingest_outbox_elected"); a != 1 || b != 0 {
			t.Errorf("elected are %v and %v, want 1 and 0", a, b)
		}
		stop()
		time.Sleep(5 * time.Second)
		if b := gauge(t, w.metrics, "timerbus_ingest_outbox_elected"); b != 1 {
			t.Errorf("elected is %v, want 1", b)
		}
		o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
		o.wantEmpty(t)
		if _, err := w.row("a"); err != nil {
			t.Error(err)
		}
	})
}

// TestOutboxStopsGracefully: the running batch is finished, answered and removed; no further one begins.
func TestOutboxStopsGracefully(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o), func(c *ingest.Config) { c.BatchOps = 1 })
		thaw := w.frozen()
		o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
		o.insert(2, "create", `{"id":"b","executeIn":"1h"}`)
		synctest.Wait()
		stopped := make(chan struct{})
		go func() { w.stop(); close(stopped) }()
		synctest.Wait()
		thaw()
		<-stopped
		if left := o.left(); !slices.Equal(left, []int64{2}) {
			t.Errorf("rows %v are left, want 2", left)
		}
		w.restart(withOutbox(o))
		o.wantEmpty(t)
	})
}

// TestOutboxAway: the process is degraded with the reason while the database fails, and recovers.
func TestOutboxAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o))
		time.Sleep(5 * time.Second)
		degraded := func() string {
			t.Helper()
			time.Sleep(10 * time.Second) // longer than every backoff, and than answers of /readyz are cached
			got := w.send(t.Context(), "GET", "/readyz", "").must(t, 200)
			if got.field("degraded") == nil {
				return ""
			}
			return got.text
		}
		age := func() float64 { return gauge(t, w.metrics, "timerbus_ingest_outbox_oldest_seconds") }
		if text := degraded(); text != "" || age() != 0 {
			t.Errorf("degraded: %s, oldest %v", text, age())
		}
		o.set(func() {
			o.failure = &outbox.Error{Reason: outbox.ReasonMissing, Err: errors.New("no such table on host.internal")}
		})
		o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
		if text := degraded(); !strings.Contains(text, outbox.ReasonMissing) || strings.Contains(text, "host.internal") || !math.IsNaN(age()) {
			t.Errorf("degraded: %s, oldest %v", text, age())
		}
		w.post("timers/create", `{"id":"b","executeIn":"1h"}`).must(t, 200)
		o.set(func() { o.failure = nil })
		if text := degraded(); text != "" {
			t.Errorf("degraded: %s", text)
		}
		o.wantEmpty(t)
		// While the store is away, the age of the oldest row grows.
		thaw := w.frozen()
		o.insert(2, "create", `{"id":"c","executeIn":"1h"}`)
		synctest.Wait()
		w.now.Add(time.Hour.Milliseconds())
		if age() != 3660 { // a row is a minute old when it is read
			t.Errorf("the oldest row has the age %v, want 3660", age())
		}
		thaw()
		o.wantEmpty(t)
	})
}

// TestOutboxBacksOffFromAFailureAfterReads: the database answers reads and refuses to remove rows, as it does without the right
// to delete. The process shows the reason, and repeats the batch after growing pauses.
func TestOutboxBacksOffFromAFailureAfterReads(t *testing.T) {
	for name, positions := range map[string]bool{"with positions": true, "without positions": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newTable()
				w := newWorld(t, withOutbox(o), func(c *ingest.Config) {
					if !positions {
						c.Positions = nil
					}
				})
				tries := 0
				refuse := func() error {
					if len(o.batch.IDs) == 0 {
						return nil
					}
					tries++
					return &outbox.Error{Reason: outbox.ReasonDenied, Err: errors.New("no right to delete")}
				}
				o.set(func() { o.beforeAdvance = refuse })
				o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
				time.Sleep(10 * time.Minute)
				o.set(func() {
					// The longest pause is 5 s with a deviation of half, and the first pauses are shorter.
					if tries < 60 || tries > 300 {
						t.Errorf("%d tries in 10 minutes, want between 60 and 300", tries)
					}
				})
				for range 20 {
					time.Sleep(time.Second)
					if text := w.send(t.Context(), "GET", "/readyz", "").must(t, 200).text; !strings.Contains(text, outbox.ReasonDenied) {
						t.Fatalf("/readyz does not name the refusal: %s", text)
					}
				}
				o.set(func() { o.beforeAdvance = nil })
				time.Sleep(20 * time.Second)
				o.wantEmpty(t)
				if text := w.send(t.Context(), "GET", "/readyz", "").must(t, 200).text; strings.Contains(text, outbox.ReasonDenied) {
					t.Errorf("/readyz names a failure that has ended: %s", text)
				}
			})
		})
	}
}

// TestOutboxOfABackup: the user's database was restored, so that its recorded batch is older than the position of the store.
func TestOutboxOfABackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o))
		o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
		o.wantEmpty(t)
		w.stop()
		w.now.Add(-time.Hour.Milliseconds()) // and the clock is no help
		o.set(func() { o.batch.Number = 5 })
		o.insert(2, "create", `{"id":"b","executeIn":"1h"}`)
		w.restart(withOutbox(o))
		o.wantEmpty(t)
		if _, err := w.row("b"); err != nil {
			t.Error(err)
		}
	})
}

// TestOutboxWithoutPositions: a store without positions applies rows at least once.
func TestOutboxWithoutPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newTable()
		w := newWorld(t, withOutbox(o), func(c *ingest.Config) { c.Positions = nil })
		failed := false
		o.set(func() {
			o.beforeAdvance = func() error {
				if len(o.batch.IDs) > 0 && !failed {
					failed = true
					return errors.New("lost connection")
				}
				return nil
			}
		})
		o.insert(1, "create", `{"id":"a","executeIn":"1h"}`)
		time.Sleep(time.Minute)
		o.wantEmpty(t)
		if n := w.counter("timerbus_ingest_outbox_rows_total", "applied"); n != 2 {
			t.Errorf("%v rows applied, want 2", n)
		}
	})
}

// gauge reads a metric without labels.
func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
