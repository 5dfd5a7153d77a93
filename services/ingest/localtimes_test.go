package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

const (
	// inBerlin is 10:00 in Berlin, two weeks after noon, and atTen its instant.
	inBerlin = `"executeAtLocal":"2030-03-31T10:00","timeZone":"Europe/Berlin"`
	atTen    = "2030-03-31T08:00:00.000Z"
)

// TestLocalTime creates, reads, changes and lists timers with a local time.
func TestLocalTime(t *testing.T) {
	w := newWorld(t)
	created := w.post("timers/create", `{"id":"a",`+inBerlin+`,"payload":1}`).must(t, http.StatusOK)
	want := func(what string, got reply, fields map[string]any) {
		t.Helper()
		for _, name := range []string{"executeAt", "executeAtLocal", "timeZone", "gap", "repeated"} {
			if got.field(name) != fields[name] {
				t.Errorf("%s: %s is %v, want %v", what, name, got.field(name), fields[name])
			}
		}
	}
	ten := map[string]any{"executeAt": atTen, "executeAtLocal": "2030-03-31T10:00", "timeZone": "Europe/Berlin"}
	want("create", created, ten)
	want("get", w.post("timers/get", `{"id":"a"}`).must(t, http.StatusOK), ten)
	want("another field", w.post("timers/update", `{"id":"a","payload":2}`).must(t, http.StatusOK), ten)

	late := w.post("timers/update", `{"id":"a","executeAtLocal":"2030-10-27T02:30:00","timeZone":"Europe/Berlin","gap":"skip","repeated":"second"}`)
	want("update", late.must(t, http.StatusOK), map[string]any{
		"executeAt": "2030-10-27T01:30:00.000Z", "executeAtLocal": "2030-10-27T02:30:00", "timeZone": "Europe/Berlin", "gap": "skip", "repeated": "second",
	})
	for path, body := range map[string]string{
		"timers/update":              `{"id":"a","executeAt":"2030-10-27T01:30:00Z"}`,
		"timers/run-now":             `{"id":"a"}`,
		"timers/reschedule-matching": `{"namespace":"default","correlationId":"c","shiftBy":"1h"}`,
	} {
		w.post("timers/delete", `{"id":"a"}`)
		w.post("timers/create", `{"id":"a",`+inBerlin+`,"correlationId":"c"}`).must(t, http.StatusOK)
		w.post(path, body).must(t, http.StatusOK)
		if row, err := w.row("a"); err != nil || row.Local != nil {
			t.Errorf("%s keeps the local time: %+v, %v", path, row.Local, err)
		}
	}

	for body, field := range map[string]string{
		`{"id":"b","executeAtLocal":"2030-03-31T02:30:00","timeZone":"Europe/Berlin","gap":"skip"}`: "executeAtLocal",
		`{"id":"b","executeAtLocal":"2030-03-31T10:00:00","timeZone":"Mars/Olympus"}`:               "timeZone",
		`{"id":"b","executeAtLocal":"2030-03-31T10:00:00"}`:                                         "timeZone",
		`{"id":"b","executeIn":"1s",` + inBerlin + `}`:                                              "executeAtLocal",
		`{"id":"b","executeIn":"1s","repeated":"first"}`:                                            "repeated",
	} {
		got := w.post("timers/create", body).must(t, http.StatusBadRequest).field("details", "field")
		if got != field {
			t.Errorf("%s: refused because of %v, want %s", body, got, field)
		}
	}
	for _, name := range []string{"executeAtLocal", "timeZone", "gap", "repeated"} {
		got := w.post("schedules/create", `{"id":"s","specs":[{"every":"1h"}],"timer":{"`+name+`":"UTC"}}`).must(t, http.StatusBadRequest)
		if field := got.field("details", "field"); field != "timer."+name {
			t.Errorf("template with %s: refused because of %v", name, field)
		}
	}
	got := w.post("timers/batch-create", `{"timers":[{"id":"c",`+inBerlin+`},{"id":"d","timeZone":"UTC","executeIn":"1s"}]}`).must(t, http.StatusOK)
	if row, err := w.row("c"); err != nil || row.Local == nil || row.ExecuteAt.String() != atTen || got.field("failed") != 1.0 {
		t.Errorf("batch: %s; %+v, %v", got.text, row, err)
	}
}

// TestLocalTimeFromTheTopic: commands have the same decoder.
func TestLocalTimeFromTheTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		w.command("1", event.TypeCreate, `{"id":"a",`+inBerlin+`}`)
		if a := results.next(t); !a.InTime || a.timerField(t, "executeAt") != atTen || a.timerField(t, "executeAtLocal") != "2030-03-31T10:00" {
			t.Errorf("create answered %s", a.event.Data)
		}
		w.command("2", event.TypeUpdate, `{"id":"a","executeAtLocal":"2030-03-31T10:00"}`)
		if a := dead.next(t); !strings.Contains(string(a.event.Data), "timeZone: nothing") {
			t.Errorf("update answered %s", a.event.Data)
		}
	})
}

// shifted is a database in which Berlin is as far from UTC as Athens, and in which Europe/Paris does not exist.
func shifted(version string) ingest.Zones {
	return ingest.Zones{Version: version, Load: func(name string) (*time.Location, error) {
		switch name {
		case "Europe/Berlin":
			name = "Europe/Athens"
		case "Europe/Paris":
			return nil, errors.New("no such zone")
		}
		return zone.Load(name)
	}}
}

// journal is a log that tests read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) has(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.text.String(), text)
}

// with returns the configuration of a process with a database, and its log.
func with(z ingest.Zones) (func(*ingest.Config), *journal) {
	j := &journal{}
	return func(c *ingest.Config) {
		c.Zones, c.ZonesRetry, c.ZonesSettle = z, time.Millisecond, time.Millisecond
		c.Logger = slog.New(slog.NewTextHandler(j, nil))
	}, j
}

// awaitZones waits until namespace default has been checked with a database.
func (w *world) awaitZones(version string) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		ns, err := w.store.GetNamespace(w.t.Context(), "default")
		if err == nil && ns.Settings.ZoneVersion == version {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%+v, %v", ns, err)
		}
	}
}

// updates counts the updates that reach the store.
func (w *world) updates() *atomic.Int32 {
	n := new(atomic.Int32)
	w.store.set(func(_ context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		for _, op := range ops {
			if _, ok := op.(store.Update); ok {
				n.Add(1)
			}
		}
		return do()
	})
	return n
}

// TestLocalTimesFollowTheDatabase: after a start with another database, timers and schedules have the instants of their local times in it,
// and what does not change is not written.
func TestLocalTimesFollowTheDatabase(t *testing.T) {
	w := newWorld(t)
	for id, fields := range map[string]string{
		"moves":    inBerlin,
		"paused":   inBerlin,
		"spread":   inBerlin + `,"window":"1h","expiresAt":"2030-03-31T09:30:00Z"`,
		"no zone":  `"executeAtLocal":"2030-03-31T10:00","timeZone":"Europe/Paris"`,
		"other":    `"executeAtLocal":"2030-03-31T10:00","timeZone":"Asia/Tokyo"`,
		"instant":  `"executeAt":"` + atTen + `"`,
		"passed":   `"executeAtLocal":"2030-03-18T08:00","timeZone":"Europe/Berlin"`,
		"gap":      `"executeAtLocal":"2030-03-31T03:30","timeZone":"Europe/Berlin","gap":"skip"`, // Athens skips 03:00 to 04:00
		"gap next": `"executeAtLocal":"2030-03-31T03:30","timeZone":"Europe/Berlin"`,
	} {
		w.post("timers/create", `{"id":"`+id+`",`+fields+`}`).must(t, http.StatusOK)
	}
	w.post("timers/pause", `{"id":"paused"}`).must(t, http.StatusOK)
	for id, zone := range map[string]string{"daily": "Europe/Berlin", "tokyo": "Asia/Tokyo", "answered": "Europe/Berlin", "held": "Europe/Berlin"} {
		w.post("schedules/create", `{"id":"`+id+`","specs":[{"cron":"0 8 31 3 *"}],"timeZone":"`+zone+`"}`).must(t, http.StatusOK)
	}
	w.post("schedules/pause", `{"id":"held"}`).must(t, http.StatusOK)
	// An answer has moved the next occurrence of a schedule.
	row, err := w.row(shard.ScheduleIDPrefix + "answered")
	if err != nil {
		t.Fatal(err)
	}
	moved := store.Finish{
		Ref: w.ref(row.ID), DueAt: row.DueAt, Kind: store.FinishRescheduled, If: store.Guard{Revision: row.Revision}, Next: row.Revision + 1,
		NextAt: row.ExecuteAt + 60_000, ScheduleState: (&schedule.State{Replaced: row.ExecuteAt, ReplacedIn: 1}).Text(),
		Record: store.Record{Attempt: 1, StartedAt: noon, FinishedAt: noon, KeepFor: time.Hour},
	}
	if answers, err := w.store.Finish(t.Context(), noon, []store.Finish{moved}); err != nil || answers[0] != nil {
		t.Fatal(answers, err)
	}
	w.stop()
	w.now.Store(int64(timer.Millis(1_900_052_100_000))) // 2030-03-18T08:15:00Z: "passed" is overdue

	before := map[string]timer.Timer{}
	all := []string{"moves", "paused", "spread", "no zone", "other", "instant", "passed", "gap", "gap next"}
	for _, id := range []string{"daily", "tokyo", "answered", "held"} {
		all = append(all, shard.ScheduleIDPrefix+id)
	}
	read := func(id string) timer.Timer {
		t.Helper()
		row, err := w.row(id)
		if err != nil {
			t.Fatal(id, err)
		}
		return row
	}
	for _, id := range all {
		before[id] = read(id)
	}
	updates := w.updates()
	tune, log := with(shifted("2026a"))
	w.restart(tune)
	w.awaitZones("2026a")
	earlier := map[string]time.Duration{
		"moves": time.Hour, "paused": time.Hour, "spread": time.Hour, "gap next": 30 * time.Minute,
		shard.ScheduleIDPrefix + "daily": time.Hour, shard.ScheduleIDPrefix + "held": time.Hour,
	}
	for _, id := range all {
		was, is := before[id], read(id)
		if d := was.ExecuteAt.Sub(is.ExecuteAt); d != earlier[id] {
			t.Errorf("%s moved from %s to %s, want %s earlier", id, was.ExecuteAt, is.ExecuteAt, earlier[id])
		}
		if (is.Revision == was.Revision) != (earlier[id] == 0) {
			t.Errorf("%s: written %t", id, is.Revision != was.Revision)
		}
		if is.Status != was.Status || is.Window != was.Window || is.ExpireAfter != was.ExpireAfter || (is.Local == nil) != (was.Local == nil) {
			t.Errorf("%s: was %+v, is %+v", id, was, is)
		}
		if earlier[id] != 0 && is.DueAt != is.ExecuteAt {
			t.Errorf("%s: due at %s, and its time is %s", id, is.DueAt, is.ExecuteAt)
		}
	}
	if n := updates.Load(); n != int32(len(earlier)) {
		t.Errorf("%d updates, want %d", n, len(earlier))
	}
	w.stop()
	for _, text := range []string{"checked=12 moved=6 kept=2", "from=" + zone.Version + " to=2026a", `timer=gap error=`, `timer="no zone" error=`} {
		if !log.has(text) {
			t.Errorf("the log has no %q:\n%s", text, log.text.String())
		}
	}

	// A second start finds the recorded version.
	tune, log = with(shifted("2026a"))
	w.restart(tune)
	w.awaitReady()
	w.stop()
	if updates.Load() != int32(len(earlier)) || log.has("time zone database") {
		t.Errorf("%d updates after a second start; its log:\n%s", updates.Load(), log.text.String())
	}
}

// TestLateMovesAreFound: a write of a process that was killed during its check is applied after another process, with the earlier database, has
// checked the timer.
func TestLateMovesAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post("timers/create", `{"id":"a",`+inBerlin+`}`).must(t, http.StatusOK)
		w.stop()
		var late []store.Op
		w.store.set(func(_ context.Context, ops []store.Op, _ func() ([]store.Written, error)) ([]store.Written, error) {
			late = ops
			return nil, store.ErrOutcomeUnknown
		})
		tune, _ := with(shifted("2026a"))
		w.restart(tune, func(c *ingest.Config) { c.ZonesRetry = time.Hour })
		synctest.Wait()
		w.stop()
		w.store.set(nil)
		w.restart(func(c *ingest.Config) { c.ZonesSettle = 30 * time.Second })
		synctest.Wait()
		if _, err := w.store.Store.Write(t.Context(), w.clock(), late); err != nil {
			t.Fatal(err)
		}
		if row, err := w.row("a"); err != nil || row.ExecuteAt.String() == atTen {
			t.Fatalf("the late write had no effect: %s, %v", row.ExecuteAt, err)
		}
		time.Sleep(31 * time.Second) // in the bubble
		synctest.Wait()
		ns, err := w.store.GetNamespace(t.Context(), "default")
		if row, rowErr := w.row("a"); rowErr != nil || row.ExecuteAt.String() != atTen || err != nil || ns.Settings.ZoneVersion != zone.Version {
			t.Errorf("the timer is due at %s, want %s, and the database is recorded as %q: %v, %v", row.ExecuteAt, atTen, ns.Settings.ZoneVersion, rowErr, err)
		}
		w.stop()
	})
}

// TestLocalTimesAreCheckedAgain: a process that stops in the middle of a check, or cannot write, leaves nothing out.
func TestLocalTimesAreCheckedAgain(t *testing.T) {
	w := newWorld(t)
	const timers = 1200 // three pages
	for from := 0; from < timers; from += 400 {
		items := make([]string, 400)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":"%d",%s}`, from+i, inBerlin)
		}
		w.post("timers/batch-create", `{"timers":[`+strings.Join(items, ",")+`]}`).must(t, http.StatusOK)
	}
	w.stop()

	// The first process ends after its first writes.
	wrote := make(chan struct{})
	var once sync.Once
	w.store.set(func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		select {
		case <-wrote:
			<-ctx.Done()
			return nil, ctx.Err()
		default:
			once.Do(func() { close(wrote) })
			return do()
		}
	})
	tune, _ := with(shifted("2026a"))
	short := func(c *ingest.Config) { c.StoreTimeout = 20 * time.Millisecond }
	w.restart(tune, short)
	<-wrote
	w.stop()
	if ns, err := w.store.GetNamespace(t.Context(), "default"); err != nil || ns.Settings.ZoneVersion != "" {
		t.Fatalf("the check did not end, but its database is recorded: %+v, %v", ns.Settings, err)
	}

	// The second one gets errors first, and unknown outcomes.
	calls := 0
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		switch calls++; calls {
		case 1:
			return nil, fmt.Errorf("write: %w", store.ErrUnavailable)
		case 2:
			if _, err := do(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("write: %w", store.ErrOutcomeUnknown)
		default:
			return do()
		}
	})
	tune, log := with(shifted("2026a"))
	w.restart(tune, func(c *ingest.Config) { c.Writers = 1 })
	w.awaitZones("2026a")
	for i := range timers {
		if row, err := w.row(fmt.Sprint(i)); err != nil || row.ExecuteAt.String() != "2030-03-31T07:00:00.000Z" {
			t.Fatalf("timer %d: %s, %v", i, row.ExecuteAt, err)
		}
	}
	w.stop()
	if !log.has(fmt.Sprintf("checked=%d", timers)) {
		t.Errorf("the log:\n%s", log.text.String())
	}
}

// TestLocalTimesAfterAnInterruptedUpgrade: a process with another database moves timers, and stops before it has recorded the database. The
// next one has the earlier database.
func TestLocalTimesAfterAnInterruptedUpgrade(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a",`+inBerlin+`}`).must(t, http.StatusOK)
	w.stop()
	wrote := make(chan struct{})
	w.store.set(func(_ context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		defer close(wrote)
		if _, err := do(); err != nil {
			return nil, err
		}
		return nil, store.ErrOutcomeUnknown
	})
	tune, _ := with(shifted("2026a"))
	w.restart(tune, func(c *ingest.Config) { c.ZonesRetry = time.Hour }) // it does not repeat the page before it stops
	<-wrote
	w.stop()
	w.store.set(nil)
	if row, err := w.row("a"); err != nil || row.ExecuteAt.String() != "2030-03-31T07:00:00.000Z" {
		t.Fatalf("the timer was not moved: %s, %v", row.ExecuteAt, err)
	}
	tune, _ = with(ingest.Zones{Version: zone.Version, Load: zone.Load})
	w.restart(tune)
	w.awaitZones(zone.Version)
	w.stop()
	if row, err := w.row("a"); err != nil || row.ExecuteAt.String() != atTen {
		t.Errorf("the timer is due at %s, want %s; %v", row.ExecuteAt, atTen, err)
	}
}

// TestLocalTimesOfTwoDatabases: while a process checks a namespace, one with another database moves a timer and records its database.
func TestLocalTimesOfTwoDatabases(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a",`+inBerlin+`}`).must(t, http.StatusOK)
	w.stop()
	inner := w.store.Store
	var once sync.Once
	w.store.set(func(ctx context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		written, err := do()
		once.Do(func() {
			row, err := w.row("a")
			at := row.ExecuteAt + 1000
			if err == nil {
				_, err = inner.Write(ctx, noon, []store.Op{store.Update{
					Ref: w.ref("a"), Revision: row.Revision + 1, Patch: timer.Patch{ExecuteAt: &at, Local: row.Local},
				}})
			}
			ns, read := inner.GetNamespace(ctx, "default")
			ns.Settings.ZoneVersion, ns.UpdatedAt = "2026b", ns.UpdatedAt+1
			_, recorded := inner.UpdateNamespace(ctx, ns)
			if err := errors.Join(err, read, recorded); err != nil {
				t.Error(err)
			}
		})
		return written, err
	})
	tune, _ := with(shifted("2026a"))
	w.restart(tune)
	w.awaitZones("2026a")
	w.stop()
	if row, err := w.row("a"); err != nil || row.ExecuteAt.String() != "2030-03-31T07:00:00.000Z" {
		t.Errorf("the timer is due at %s; %v", row.ExecuteAt, err)
	}
}

// TestLocalTimesAreCheckedAgainAfterAForeignRecord: between two pages of a check, a process with another database moves a timer of the
// first page and records its database. The mark before the moves of the second page must not hide this.
func TestLocalTimesAreCheckedAgainAfterAForeignRecord(t *testing.T) {
	w := newWorld(t)
	timers := make([]string, localTimesInAPage+1)
	for i := range timers {
		timers[i] = fmt.Sprintf(`{"id":"t%d",%s}`, i, inBerlin)
	}
	for batch := range slices.Chunk(timers, 500) {
		w.post("timers/batch-create", `{"timers":[`+strings.Join(batch, ",")+`]}`).must(t, http.StatusOK)
	}
	w.stop()
	inner := w.store.Store
	var mu sync.Mutex
	var moved store.Ref
	n := 0
	w.store.set(func(ctx context.Context, ops []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		written, err := do()
		mu.Lock()
		defer mu.Unlock()
		before := n
		if n += len(ops); err != nil || before >= localTimesInAPage || n < localTimesInAPage {
			return written, err
		}
		row := written[0].Timer
		moved = w.ref(row.ID)
		at := row.ExecuteAt + 1000
		_, wrote := inner.Write(ctx, noon, []store.Op{store.Update{
			Ref: moved, Revision: row.Revision + 1, Patch: timer.Patch{ExecuteAt: &at, Local: row.Local},
		}})
		ns, read := inner.GetNamespace(ctx, "default")
		ns.Settings.ZoneVersion, ns.UpdatedAt = "2026b", ns.UpdatedAt+1
		_, recorded := inner.UpdateNamespace(ctx, ns)
		if err := errors.Join(wrote, read, recorded); err != nil {
			t.Error(err)
		}
		return written, nil
	})
	tune, log := with(shifted("2026a"))
	w.restart(tune)
	w.awaitZones("2026a")
	w.stop()
	row, err := inner.Get(t.Context(), noon, moved)
	if err != nil || row.ExecuteAt.String() != "2030-03-31T07:00:00.000Z" {
		t.Errorf("the timer is due at %s; %v", row.ExecuteAt, err)
	}
	if want := fmt.Sprintf("checked=%d moved=%d kept=0", len(timers), len(timers)+1); !log.has(want) {
		t.Errorf("the log lacks %q:\n%s", want, log.text.String())
	}
}

// localTimesInAPage is how many timers a page of the check has.
const localTimesInAPage = 500

// TestARefusedMoveDoesNotStopTheCheck: the store refuses the move of one timer, which keeps its time.
func TestARefusedMoveDoesNotStopTheCheck(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"refused", "moved"} {
		w.post("timers/create", `{"id":"`+id+`",`+inBerlin+`}`).must(t, http.StatusOK)
	}
	w.stop()
	refused := w.ref("refused")
	w.store.set(func(_ context.Context, ops []store.Op, _ func() ([]store.Written, error)) ([]store.Written, error) {
		written := make([]store.Written, len(ops))
		for i, op := range ops {
			if update, ok := op.(store.Update); ok && update.Ref == refused {
				written[i].Err = store.ErrInvalid
				continue
			}
			one, err := w.store.Store.Write(t.Context(), w.clock(), ops[i:i+1])
			if err != nil {
				return nil, err
			}
			written[i] = one[0]
		}
		return written, nil
	})
	tune, log := with(shifted("2026a"))
	w.restart(tune)
	w.awaitZones("2026a")
	w.stop()
	for id, want := range map[string]string{"refused": atTen, "moved": "2030-03-31T07:00:00.000Z"} {
		if row, err := w.row(id); err != nil || row.ExecuteAt.String() != want {
			t.Errorf("timer %s is due at %s, want %s; %v", id, row.ExecuteAt, want, err)
		}
	}
	if !log.has("uuid="+refused.UUID.String()) || !log.has("checked=2 moved=1 kept=1") {
		t.Errorf("the log:\n%s", log.text.String())
	}
}

// TestLocalTimesDoNotOverwriteClients: a timer that a client changes during the check has the client's time.
func TestLocalTimesDoNotOverwriteClients(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b", "c"} {
		w.post("timers/create", `{"id":"`+id+`",`+inBerlin+`}`).must(t, http.StatusOK)
	}
	w.stop()
	client := w.store.Store
	var once sync.Once
	w.store.set(func(ctx context.Context, _ []store.Op, do func() ([]store.Written, error)) ([]store.Written, error) {
		once.Do(func() {
			at := noon + 7
			_, err := client.Write(ctx, noon, []store.Op{
				store.Update{Ref: w.ref("a"), Revision: 11, Patch: timer.Patch{ExecuteAt: &at}},
				store.Update{Ref: w.ref("b"), Revision: 12, Patch: timer.Patch{FlowKey: new("")}},
				store.Delete{Ref: w.ref("c")},
			})
			if err != nil {
				t.Error(err)
			}
		})
		return do()
	})
	tune, _ := with(shifted("2026a"))
	w.restart(tune)
	w.awaitZones("2026a")
	if row, err := w.row("a"); err != nil || row.ExecuteAt != noon+7 || row.Revision != 11 {
		t.Errorf("a: %+v, %v", row, err)
	}
	if row, err := w.row("b"); err != nil || row.ExecuteAt.String() != "2030-03-31T07:00:00.000Z" {
		t.Errorf("b: %+v, %v", row, err)
	}
	if _, err := w.row("c"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("c: %v", err)
	}
}

// TestNamespacesRecordTheirDatabase: a new namespace has the present database, and an update of its settings keeps it.
func TestNamespacesRecordTheirDatabase(t *testing.T) {
	w := newWorld(t)
	w.post("namespaces/create", `{"name":"n","preset":"small"}`).must(t, http.StatusOK)
	updated := w.post("namespaces/update", `{"name":"n","settings":{"historyRetention":"2h"}}`).must(t, http.StatusOK)
	ns, err := w.store.GetNamespace(t.Context(), "n")
	if err != nil || ns.Settings.ZoneVersion != zone.Version || strings.Contains(updated.text, zone.Version) {
		t.Errorf("%+v, %v; %s", ns.Settings, err, updated.text)
	}
}
