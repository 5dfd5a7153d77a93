package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func listTests() []test {
	return []test{
		{"List/WithoutAStatusShowsLiveTimersWhole", listLive},
		{"List/ByStatus", listByStatus},
		{"List/FinishedTimersOnceForEachGeneration", listFinished},
		{"List/FinishedTimersUntilTheyExpire", listExpiry},
		{"List/ByCorrelation", listByCorrelation},
		{"List/ByDueTime", listByDue},
		{"List/AllFiltersMustHold", listByAll},
		{"List/EveryCombinationOfFilters", listEveryFilter},
		{"List/AFilterThatIsNotDeclaredIsErrInvalid", listUndeclared},
		{"List/AWalkSeesEveryTimerOnce", listWalk},
		{"List/AWalkIsStableWhileTimersComeAndGo", listStable},
		{"List/AWalkByDueTimeIsStableWhileTimersMove", listDueStable},
		{"List/AWalkThroughHistoryIsStable", listFinishedStable},
		{"List/APageIsBoundedInBytes", listBytes},
		{"List/WithoutPayloads", listWithoutPayloads},
		{"List/ForeignCursorsAreErrInvalid", listForeignCursor},
	}
}

// maxPages bounds a walk, in case an engine's list never ends.
const maxPages = 10_000

// list returns the timers of all pages. The default namespace is the world's.
func (w *world) list(q store.ListQuery) []timer.Timer {
	w.t.Helper()
	return w.listBetween(q, func() {})
}

// listUndeclared: a list that ignores a filter would show, and let a client delete, timers that it did not select.
func listUndeclared(w *world) {
	w.put("a", w.now)
	declared := store.ListFilters(w.store)
	for _, q := range []store.ListQuery{
		{},
		{Status: timer.StatusParked},
		{CorrelationID: "x"},
		{DueFrom: w.now + hour},
		{DueBefore: w.now - hour},
	} {
		q.Namespace, q.Limit = w.ns, 10
		page, err := w.store.List(w.ctx, w.now, q)
		refused := declared.Check(&q)
		if refused == nil {
			w.check(err, "list with %+v", q)
			continue
		}
		var invalid, want *timer.InvalidError
		errors.As(refused, &want)
		if !errors.Is(err, store.ErrInvalid) || !errors.As(err, &invalid) || invalid.Field != want.Field {
			w.t.Errorf("list with a filter by %s, which is not declared: %d timers, %v, want ErrInvalid", want.Field, len(page.Timers), err)
		}
	}
}

// listBetween returns the timers of all pages, and calls between after each page. If the engine does not declare a filter
// of the query, the subtest ends here.
func (w *world) listBetween(q store.ListQuery, between func()) []timer.Timer {
	w.t.Helper()
	if err := store.ListFilters(w.store).Check(&q); err != nil {
		w.t.Skip(err)
	}
	if q.Namespace.Name == "" {
		q.Namespace = w.ns
	}
	var out []timer.Timer
	for range maxPages {
		page, err := w.store.List(w.ctx, w.now, q)
		w.check(err, "list")
		if len(page.Timers) > q.Limit {
			w.t.Fatalf("a page of %d timers, the limit is %d", len(page.Timers), q.Limit)
		}
		out = append(out, page.Timers...)
		if len(page.Next) == 0 {
			return out
		}
		q.After = page.Next
		between()
	}
	w.t.Fatalf("the walk did not end within %d pages", maxPages)
	return nil
}

// ids returns the ids, sorted, because the order of a list is the engine's choice.
func ids(timers []timer.Timer) []string {
	out := make([]string, len(timers))
	for i := range timers {
		out[i] = timers[i].ID
	}
	slices.Sort(out)
	return out
}

func (w *world) wantListed(what string, q store.ListQuery, want ...string) {
	w.t.Helper()
	for _, limit := range []int{1, 3, 1000} {
		q.Limit = limit
		slices.Sort(want)
		if got := ids(w.list(q)); !slices.Equal(got, want) {
			w.t.Errorf("%s, %d a page: listed %q, want %q", what, limit, got, want)
		}
	}
}

func listLive(w *world) {
	w.wantListed("nothing", store.ListQuery{})
	states := map[string]timer.Timer{"a": w.put("a", w.now), "b": w.used("b")}
	c := w.put("c", w.now)
	states["c"] = w.move(&c, store.FinishParked)
	for id, kind := range map[string]store.FinishKind{"done": store.FinishDone, "dead": store.FinishDead} {
		t := w.put(id, w.now)
		w.end(&t, kind)
	}
	w.wantListed("live", store.ListQuery{}, "a", "b", "c")
	for _, got := range w.list(store.ListQuery{Limit: 10}) {
		w.equal(got.ID, got, states[got.ID])
	}
}

// oneOfEach creates a timer in every status, with the status as its id.
func (w *world) oneOfEach() {
	w.t.Helper()
	for _, s := range timer.Statuses() {
		t := w.put(string(s), w.now)
		switch s {
		case timer.StatusScheduled:
		case timer.StatusRetrying:
			w.move(&t, store.FinishRetry)
		case timer.StatusParked:
			w.move(&t, store.FinishParked)
		case timer.StatusPaused:
			w.pause(t.ID)
		case timer.StatusDone:
			w.end(&t, store.FinishDone)
		case timer.StatusDead:
			w.end(&t, store.FinishDead)
		}
	}
}

func listByStatus(w *world) {
	w.oneOfEach()
	for _, s := range timer.Statuses() {
		w.wantListed(string(s), store.ListQuery{Status: s}, string(s))
	}
}

func listFinished(w *world) {
	var dead, done []timer.Timer
	for i := range 3 {
		w.now += minute
		t := w.put("a", w.now)
		t = w.move(&t, store.FinishRetry) // failed attempts are not listed
		w.now += minute
		if i == 1 {
			t = w.move(&t, store.FinishRescheduled) // nor are rescheduled ones
		}
		w.now += minute
		w.end(&t, store.FinishDead)
		dead = append(dead, w.mustGet(w.ref("a")))
		t = w.put("a", w.now)
		w.now += minute
		w.end(&t, store.FinishDone)
		done = append(done, comparableTimer(w.mustGet(w.ref("a"))))
	}
	w.put("a", w.now) // the id is live again
	for status, want := range map[timer.Status][]timer.Timer{timer.StatusDead: dead, timer.StatusDone: done} {
		for _, limit := range []int{1, 2, 100} {
			got := w.list(store.ListQuery{Status: status, Limit: limit})
			for i := range got {
				got[i] = comparableTimer(got[i])
			}
			slices.SortFunc(got, func(a, b timer.Timer) int { return int(a.UpdatedAt - b.UpdatedAt) })
			w.equal(string(status), got, want)
		}
	}
}

func listExpiry(w *world) {
	a := w.put("a", w.now)
	f := w.end(&a, store.FinishDone)
	w.now += minute
	b := w.put("b", w.now)
	w.end(&b, store.FinishDone)
	w.now = f.Record.FinishedAt + millis(retention) - 1
	w.wantListed("before", store.ListQuery{Status: timer.StatusDone}, "a", "b")
	w.now++
	w.wantListed("at the expiry", store.ListQuery{Status: timer.StatusDone}, "b")
}

func listByCorrelation(w *world) {
	for id, correlation := range map[string]string{"a": "x", "b": "x", "c": "y", "d": "", "e": "X", "f": "x "} {
		op := w.putOp(id, w.now)
		op.Spec.CorrelationID = correlation
		w.mustWrite(op)
	}
	w.wantListed("x", store.ListQuery{CorrelationID: "x"}, "a", "b")
	w.wantListed("none has it", store.ListQuery{CorrelationID: "z"})
	// A correlation id that was not set is the uuid.
	w.wantListed("made", store.ListQuery{CorrelationID: w.ref("d").UUID.String()}, "d")
	w.wantListed("given", store.ListQuery{CorrelationID: w.ref("a").UUID.String()})
	// Other timers may have that uuid as a given correlation id.
	same := []string{"d"}
	for i := range 8 {
		op := w.putOp(fmt.Sprint("like d ", i), w.now)
		op.Spec.CorrelationID = w.ref("d").UUID.String()
		w.mustWrite(op)
		same = append(same, op.ID)
	}
	w.wantListed("made and given", store.ListQuery{CorrelationID: w.ref("d").UUID.String()}, same...)
	for _, id := range []string{"b", "d"} {
		t, _ := w.row(w.ref(id))
		w.end(&t, store.FinishDead)
	}
	w.wantListed("live x", store.ListQuery{CorrelationID: "x"}, "a")
	w.wantListed("dead x", store.ListQuery{CorrelationID: "x", Status: timer.StatusDead}, "b")
	w.wantListed("dead made", store.ListQuery{CorrelationID: w.ref("d").UUID.String(), Status: timer.StatusDead}, "d")
}

func listByDue(w *world) {
	for i := range 5 {
		at := w.now + timer.Millis(i)*minute
		w.put(fmt.Sprint(i), at)
		dead := w.put(fmt.Sprint("dead ", i), at)
		w.end(&dead, store.FinishDead)
	}
	moved := w.put("moved", w.now)
	moved = w.move(&moved, store.FinishRetry) // due a minute after executeAt
	if moved.DueAt != w.now+minute {
		w.t.Fatalf("due at %s", moved.DueAt)
	}
	from, before := w.now+minute, w.now+3*minute
	w.wantListed("from", store.ListQuery{DueFrom: from}, "1", "2", "3", "4", "moved")
	w.wantListed("before", store.ListQuery{DueBefore: before}, "0", "1", "2", "moved")
	w.wantListed("between", store.ListQuery{DueFrom: from, DueBefore: before}, "1", "2", "moved")
	w.wantListed("dead between", store.ListQuery{Status: timer.StatusDead, DueFrom: from, DueBefore: before}, "dead 1", "dead 2")
	// Finished timers are selected by executeAt.
	w.end(&moved, store.FinishDead)
	w.wantListed("dead, due later", store.ListQuery{Status: timer.StatusDead, DueFrom: w.now, DueBefore: w.now + 1}, "dead 0", "moved")
}

func listByAll(w *world) {
	w.oneOfEach()
	match := w.putOp("match", w.now+minute)
	match.Spec.CorrelationID = "x"
	w.mustWrite(match)
	late := w.putOp("late", w.now+hour)
	late.Spec.CorrelationID = "x"
	w.mustWrite(late)
	w.wantListed("all", store.ListQuery{
		Status: timer.StatusScheduled, CorrelationID: "x", DueFrom: w.now + minute, DueBefore: w.now + minute + 1,
	}, "match")
}

// listEveryFilter compares walks under every combination of filters with ListQuery.Selects.
func listEveryFilter(w *world) {
	const n = 120
	var ops []store.Op
	var ends []store.Finish
	for i := range n {
		op := w.putOp(fmt.Sprint("timer ", i), w.now+timer.Millis(i%30)*minute)
		if i%3 == 0 {
			op.Spec.CorrelationID = fmt.Sprint("correlation ", i%2)
		}
		ops = append(ops, op)
	}
	for i, written := range w.writeAll(ops...) {
		kinds := []store.FinishKind{store.FinishRetry, store.FinishParked, store.FinishDone, store.FinishDead}
		if i%8 < len(kinds) {
			ends = append(ends, w.finishOp(&written.Timer, kinds[i%8]))
		}
	}
	errs, err := w.store.Finish(w.ctx, w.now, ends)
	w.check(err, "finish")
	w.check(errors.Join(errs...), "finish")
	var all []timer.Timer
	for _, status := range []timer.Status{"", timer.StatusDone, timer.StatusDead} {
		all = append(all, w.list(store.ListQuery{Status: status, Limit: 1000})...)
	}
	if len(all) != n {
		w.t.Fatalf("%d timers listed without filters, want %d", len(all), n)
	}
	at := func(minutes timer.Millis) timer.Millis { return w.now + minutes*minute }
	for _, status := range append(timer.Statuses(), "") {
		for _, correlation := range []string{"", "correlation 0", w.ref("timer 2").UUID.String(), w.ref("timer 4").UUID.String()} {
			for _, due := range [][2]timer.Millis{{}, {at(3), 0}, {0, at(20)}, {at(3), at(4)}} {
				q := store.ListQuery{Status: status, CorrelationID: correlation, DueFrom: due[0], DueBefore: due[1]}
				var want []timer.Timer
				for i := range all {
					if q.Selects(&all[i]) {
						want = append(want, all[i])
					}
				}
				for _, q.Limit = range []int{7, 1000} {
					if got := ids(w.list(q)); !slices.Equal(got, ids(want)) {
						w.t.Errorf("status %q, correlation %q, due %v, %d a page: listed %q, want %q", status, correlation, due, q.Limit, got, ids(want))
					}
				}
			}
		}
	}
}

func listWalk(w *world) {
	const n = 300
	var want []string
	ops := make([]store.Op, n)
	for i := range ops {
		id := fmt.Sprint("timer ", i)
		ops[i] = w.putOp(id, w.now)
		want = append(want, id)
	}
	w.writeAll(ops...)
	slices.Sort(want)
	var order []string
	for _, limit := range []int{7, 100, n, 1000} {
		got := w.list(store.ListQuery{Limit: limit})
		if !slices.Equal(ids(got), want) {
			w.t.Errorf("%d a page: %d timers listed, want each of %d once", limit, len(got), n)
		}
		var now []string
		for i := range got {
			now = append(now, got[i].ID)
		}
		if order != nil && !slices.Equal(now, order) {
			w.t.Errorf("%d a page: another order than before", limit)
		}
		order = now
	}
}

func listStable(w *world) {
	// These timers exist during the whole walk, but change all the time: due times, revisions, statuses.
	const staying = 40
	var want []string
	for i := range staying {
		id := fmt.Sprint("stays ", i)
		w.put(id, w.now+timer.Millis(i))
		want = append(want, id)
	}
	slices.Sort(want)
	step := 0
	seen := w.listBetween(store.ListQuery{Limit: 3}, func() {
		step++
		w.now += second
		w.put(fmt.Sprint("comes ", step), w.now)
		w.put(fmt.Sprint("goes ", step), w.now)
		if step > 1 {
			w.mustWrite(store.Delete{Ref: w.ref(fmt.Sprint("goes ", step-1))})
		}
		ref := w.ref(fmt.Sprint("stays ", step%staying))
		at := w.now + timer.Millis(step%7)*hour - 3*hour
		w.check(w.update(ref, timer.Patch{ExecuteAt: &at}).Err, "update")
		if t, _ := w.row(ref); step%5 == 0 {
			w.move(&t, store.FinishParked)
		}
	})
	var stayed []string
	for _, id := range ids(seen) {
		if id[0] == 's' {
			stayed = append(stayed, id)
		}
	}
	if !slices.Equal(stayed, want) {
		w.t.Errorf("a walk saw %d of the timers that were there all the time, want each of %d once: %q", len(stayed), staying, stayed)
	}
}

// listDueStable moves timers within the listed range during the walk. A walk in the order of due times would miss some
// and repeat others.
func listDueStable(w *world) {
	const staying = 40
	var want []string
	for i := range staying {
		id := fmt.Sprint("stays ", i)
		w.put(id, w.now+hour+timer.Millis(i)*minute)
		want = append(want, id)
	}
	slices.Sort(want)
	// Parked timers are not in the index of polls, but keep their due time.
	parked, _ := w.row(w.ref("stays 7"))
	w.move(&parked, store.FinishParked)
	q := store.ListQuery{Limit: 3, DueFrom: w.now + hour, DueBefore: w.now + 3*hour}
	step := 0
	seen := w.listBetween(q, func() {
		for range 5 {
			step++
			if step%staying == 7 {
				continue
			}
			// The first timers move to the end and the last ones to the beginning.
			at := w.now + hour + timer.Millis((staying-step)%staying+staying)%staying*minute
			w.check(w.update(w.ref(fmt.Sprint("stays ", step%staying)), timer.Patch{ExecuteAt: &at}).Err, "update")
		}
	})
	if got := ids(seen); !slices.Equal(got, want) {
		w.t.Errorf("a walk saw %d timers, want each of %d once: %q", len(got), staying, got)
	}
}

// listBytes lists timers whose payloads together exceed the limit of a page.
func listBytes(w *world) {
	const n, size = 90, timer.MaxPayload
	payload := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, size-2)...), '"')
	var ops []store.Op
	var want []string
	for i := range n {
		op := w.putOp(fmt.Sprint("large ", i), w.now+hour)
		op.Spec.Payload = payload
		ops = append(ops, op)
		want = append(want, op.ID)
	}
	for some := range slices.Chunk(ops, 30) {
		w.writeAll(some...)
	}
	slices.Sort(want)
	for what, q := range map[string]store.ListQuery{
		"all": {}, "by status": {Status: timer.StatusScheduled}, "by due time": {DueFrom: w.now, DueBefore: w.now + 2*hour},
	} {
		if store.ListFilters(w.store).Check(&q) != nil {
			continue
		}
		q.Namespace, q.Limit = w.ns, 1000
		var all []timer.Timer
		for range n {
			page, err := w.store.List(w.ctx, w.now, q)
			w.check(err, "list")
			sum := 0
			for i := range page.Timers {
				sum += len(page.Timers[i].Payload)
			}
			if sum > store.MaxPageBytes {
				w.t.Errorf("%s: a page has %d bytes of payload, at most %d are allowed", what, sum, store.MaxPageBytes)
			}
			all = append(all, page.Timers...)
			if q.After = page.Next; len(page.Next) == 0 {
				break
			}
		}
		if got := ids(all); !slices.Equal(got, want) {
			w.t.Errorf("%s: %d timers listed in %d pages at most, want each of %d once", what, len(got), n, n)
		}
	}
}

func listFinishedStable(w *world) {
	const staying = 20
	var want []string
	for i := range staying {
		id := fmt.Sprint("stays ", i)
		t := w.put(id, w.now)
		w.end(&t, store.FinishDone)
		want = append(want, id)
	}
	slices.Sort(want)
	step := 0
	seen := w.listBetween(store.ListQuery{Status: timer.StatusDone, Limit: 2}, func() {
		step++
		w.now += second
		id := fmt.Sprint("comes ", step)
		t := w.put(id, w.now)
		f := w.finishOp(&t, store.FinishDone)
		f.Record.FinishedAt = w.now - timer.Millis(step%3)*hour/2
		w.check(w.finish(f), "finish")
	})
	var stayed []string
	for _, id := range ids(seen) {
		if id[0] == 's' {
			stayed = append(stayed, id)
		}
	}
	if !slices.Equal(stayed, want) {
		w.t.Errorf("a walk saw %q, want each of %d once", stayed, staying)
	}
}

func listForeignCursor(w *world) {
	for i := range 10 {
		w.put(fmt.Sprint(i), w.now)
	}
	page, err := w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 2})
	w.check(err, "list")
	if len(page.Next) == 0 {
		w.t.Fatal("ten timers fit a page of two")
	}
	for what, cursor := range map[string]store.Cursor{
		"garbage":   store.Cursor("no cursor of anybody's"),
		"one byte":  {0},
		"zeroes":    make(store.Cursor, 200),
		"cut off":   page.Next[:len(page.Next)-1],
		"continued": append(slices.Clone(page.Next), 0x7f),
	} {
		_, err := w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 2, After: cursor})
		w.wantErr(err, store.ErrInvalid, "list after a cursor that is %s", what)
	}
	// After the refusals the walk continues.
	rest := w.list(store.ListQuery{Limit: 2, After: page.Next})
	if len(rest) != 8 {
		w.t.Errorf("%d timers behind the first page, want 8", len(rest))
	}
}

// listWithoutPayloads: the listed timers have no payloads and are otherwise equal, and payloads do not count for the
// limit of a page.
func listWithoutPayloads(w *world) {
	const n = 100
	large := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, timer.MaxPayload-2)...), '"')
	for i := range n {
		op := w.putOp(fmt.Sprint(i), w.now)
		op.Spec.Payload = large
		dead := w.mustWrite(op).Timer
		if i%10 == 0 {
			w.end(&dead, store.FinishDead)
		}
	}
	for _, q := range []store.ListQuery{{}, {Status: timer.StatusDead}, {CorrelationID: "trace-1"}, {DueFrom: 1}} {
		q.Namespace, q.Limit = w.ns, 1000
		with := w.list(q)
		q.WithoutPayloads = true
		without := w.list(q)
		if len(with) == 0 || len(with) != len(without) {
			w.t.Fatalf("%d timers with payloads, %d without", len(with), len(without))
		}
		for i := range with {
			if len(with[i].Payload) != len(large) || without[i].Payload != nil {
				w.t.Fatalf("payloads of %d and %d bytes", len(with[i].Payload), len(without[i].Payload))
			}
			with[i].Payload = nil
		}
		w.equal("timers", without, with)
	}
}
