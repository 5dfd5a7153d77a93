package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func putTests() []test {
	return []test{
		{"Put/MakesTheRow", putMakesTheRow},
		{"Put/APastExecuteAtIsKeptAndDueNow", putInThePast},
		{"Put/ReplaceKeepsCreatedAtAndNothingElse", putReplaces},
		{"Put/ReplaceOfAParkedRow", putReplacesParked},
		{"Put/PriorIsTheLiveStateReplaced", putPrior},
		{"Put/KeepLeavesTheTimerAsItIs", putKeeps},
		{"Put/KeepCountsFinishedTimersUntilTheyExpire", putKeepsFinished},
		{"Put/KeepDoesNotCountWhatIsNotFinished", putKeepAfterDelete},
		{"Put/FailAnswersErrExists", putFails},
		{"Put/FailCountsFinishedTimersUntilTheyExpire", putFailsOnFinished},
		{"Put/EveryAcceptedValueSurvives", putExtremes},
		{"Put/TextIsKeptByteForByte", putTexts},
		{"Put/PayloadIsKeptByteForByte", putPayloads},
		{"Write/OperationsOnOneTimerApplyInTheirOrder", writeInOrder},
		{"Write/ALargeBatch", writeLargeBatch},
	}
}

func putMakesTheRow(w *world) {
	op := w.putOp("order-1", w.now+minute)
	out := w.mustWrite(op)
	want := timer.Timer{
		Namespace:  w.ns.Name,
		ID:         "order-1",
		UUID:       op.Ref.UUID,
		Spec:       w.spec(w.now + minute),
		Status:     timer.StatusScheduled,
		DueAt:      w.now + minute,
		PlannedAt:  w.now + minute,
		Revision:   op.Revision,
		Generation: timer.Generation(op.Revision),
		CreatedAt:  w.now,
		UpdatedAt:  w.now,
	}
	w.equal("answer", out.Timer, want)
	if out.Kept || out.Prior != nil {
		w.t.Errorf("a new timer is answered with kept %t, prior %+v", out.Kept, out.Prior)
	}
	w.wantRow(op.Ref, &want)
	w.equal("get", w.mustGet(op.Ref), want)
	if got := w.history(op.Ref); len(got) != 0 {
		w.t.Errorf("a new timer has history: %+v", got)
	}
}

func putInThePast(w *world) {
	for _, ago := range []timer.Millis{0, 1, 365 * 24 * hour} {
		got := w.put(ago.String(), w.now-ago)
		if got.ExecuteAt != w.now-ago || got.DueAt != w.now || got.PlannedAt != w.now {
			w.t.Errorf("asked for %s at %s: executeAt %s, due %s", w.now-ago, w.now, got.ExecuteAt, got.DueAt)
		}
	}
}

func putReplaces(w *world) {
	old := w.put("a", w.now+minute)
	old = w.move(&old, store.FinishRetry) // attempts, executedAt and last error are set now
	leased := w.finishOp(&old, store.FinishLeased)
	leased.CountStart = true
	w.check(w.finish(leased), "lease")
	created := w.now
	w.now += hour
	op := w.putOp("a", w.now+2*minute)
	op.Spec = timer.Spec{
		ExecuteAt: w.now + 2*minute, CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy(),
	}
	got := w.mustWrite(op).Timer
	want := timer.Timer{
		Namespace: w.ns.Name, ID: "a", UUID: op.Ref.UUID, Spec: op.Spec,
		Status: timer.StatusScheduled, DueAt: w.now + 2*minute, PlannedAt: w.now + 2*minute,
		Revision: op.Revision, Generation: timer.Generation(op.Revision),
		CreatedAt: created, UpdatedAt: w.now,
	}
	w.equal("answer", got, want)
	w.wantRow(op.Ref, &want)
}

func putReplacesParked(w *world) {
	parked := w.put("a", w.now+minute)
	parked = w.move(&parked, store.FinishParked)
	op := w.putOp("a", w.now+minute)
	got := w.mustWrite(op).Timer
	if got.Status != timer.StatusScheduled {
		w.t.Errorf("status is %s", got.Status)
	}
	rows := w.due(w.claim(op.Ref.Shard)[0].Claim, store.MinKey(), w.now+minute).Rows
	if len(rows) != 1 || rows[0].Revision != op.Revision {
		w.t.Errorf("Due shows %+v, want the timer that replaced a parked one", rows)
	}
	if got := w.outbox(); len(got) != 0 {
		w.t.Errorf("the parked row's mark outlived it: %+v", got)
	}
}

func putPrior(w *world) {
	old := w.put("a", w.now+minute)
	old = w.move(&old, store.FinishRetry)
	out := w.mustWrite(w.putOp("a", w.now+hour))
	w.wantPrior(out, &old)
	// A finished timer is not a live state.
	w.end(&out.Timer, store.FinishDone)
	if out = w.mustWrite(w.putOp("a", w.now+hour)); out.Prior != nil {
		w.t.Errorf("prior of a put over history is %+v, want none", out.Prior)
	}
}

// wantPrior compares an answer's Prior. Its payload may be missing.
func (w *world) wantPrior(out store.Written, want *timer.Timer) {
	w.t.Helper()
	if out.Prior == nil {
		w.t.Fatalf("no prior, want %+v", want)
	}
	got := *out.Prior
	if got.Payload == nil {
		got.Payload = want.Payload
	}
	w.equal("prior", got, *want)
}

func putKeeps(w *world) {
	old := w.put("a", w.now+minute)
	old = w.move(&old, store.FinishRetry)
	for _, state := range []string{"retrying", "parked"} {
		op := w.putOp("a", w.now+hour)
		op.OnConflict = store.Keep
		out := w.mustWrite(op)
		w.equal(state+": answer", out.Timer, old)
		if !out.Kept || out.Prior != nil {
			w.t.Errorf("%s: kept %t, prior %+v; want kept and no prior", state, out.Kept, out.Prior)
		}
		w.wantRow(op.Ref, &old)
		if state == "retrying" {
			old = w.move(&old, store.FinishParked)
		}
	}
	op := w.putOp("b", w.now+hour)
	op.OnConflict = store.Keep
	out := w.mustWrite(op)
	if out.Kept || out.Timer.Revision != op.Revision {
		w.t.Errorf("keep of a new id: %+v, want it made", out)
	}
	w.wantRow(op.Ref, &out.Timer)
}

func putKeepsFinished(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		id := fmt.Sprint(kind)
		old := w.put(id, w.now+minute)
		f := w.end(&old, kind)
		finished := w.mustGet(f.Ref)
		op := w.putOp(id, w.now+hour)
		op.OnConflict = store.Keep

		present := w.now
		w.now = f.Record.FinishedAt + millis(retention) - 1
		out := w.mustWrite(op)
		if !out.Kept || out.Prior != nil {
			w.t.Errorf("kind %d: kept %t, prior %+v; want kept and no prior", kind, out.Kept, out.Prior)
		}
		w.equal("answer", comparableTimer(out.Timer), comparableTimer(finished))
		w.wantNoRow(f.Ref)

		w.now++
		out = w.mustWrite(op)
		if out.Kept || out.Timer.Revision != op.Revision || out.Timer.CreatedAt != w.now {
			w.t.Errorf("kind %d: a put after the expiry is answered %+v, want a new timer", kind, out)
		}
		w.wantRow(f.Ref, &out.Timer)
		w.now = present
	}
}

func putKeepAfterDelete(w *world) {
	a := w.put("a", w.now+minute)
	a = w.move(&a, store.FinishRetry)
	a = w.move(&a, store.FinishRescheduled)
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	for _, how := range []store.OnConflict{store.Keep, store.Fail} {
		op := w.putOp("a", w.now+minute)
		op.OnConflict = how
		if out := w.mustWrite(op); out.Kept || out.Timer.Revision != op.Revision {
			w.t.Errorf("put after a delete is answered %+v, want a new timer", out)
		}
		w.mustWrite(store.Delete{Ref: w.ref("a")})
	}
}

func putFails(w *world) {
	old := w.put("a", w.now+minute)
	op := w.putOp("a", w.now+hour)
	op.OnConflict = store.Fail
	out := w.write(op)
	w.wantErr(out.Err, store.ErrExists, "put of a taken id")
	w.equal("answer", out.Timer, old)
	if out.Kept || out.Prior != nil {
		w.t.Errorf("kept %t, prior %+v; want neither", out.Kept, out.Prior)
	}
	w.wantRow(op.Ref, &old)

	op = w.putOp("b", w.now+hour)
	op.OnConflict = store.Fail
	made := w.mustWrite(op).Timer
	w.wantRow(op.Ref, &made)
}

func putFailsOnFinished(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		id := fmt.Sprint(kind)
		old := w.put(id, w.now+minute)
		f := w.end(&old, kind)
		finished := w.mustGet(f.Ref)
		op := w.putOp(id, w.now+hour)
		op.OnConflict = store.Fail
		present := w.now

		w.now = f.Record.FinishedAt + millis(retention) - 1
		out := w.write(op)
		w.wantErr(out.Err, store.ErrExists, "put over a finished timer")
		w.equal("answer", comparableTimer(out.Timer), comparableTimer(finished))
		w.wantNoRow(f.Ref)

		w.now++
		made := w.mustWrite(op).Timer
		w.wantRow(f.Ref, &made)
		w.now = present
	}
}

func putExtremes(w *world) {
	largest := w.spec(timer.MaxMillis)
	largest.CallbackURL = "https://example.com/" + strings.Repeat("x", timer.MaxCallbackURL-20)
	largest.CallbackTimeout = timer.MaxCallbackTimeout
	largest.Payload = bytes.Repeat([]byte("7"), timer.MaxPayload)
	largest.CorrelationID = strings.Repeat("é", timer.MaxCorrelationID/2)
	largest.Headers = largestHeaders()
	largest.Topic = strings.Repeat("t", timer.MaxTopic)
	largest.EventKey = strings.Repeat("é", timer.MaxEventKey/2)
	largest.Window, largest.ExpireAfter = timer.MaxWindow, timer.MaxExpireAfter
	largest.OnDone, largest.OnDead = largest.CallbackURL, "http"+largest.CallbackURL[5:]
	largest.Local = &timer.LocalTime{At: "9999-12-31T23:59:59.999", Zone: strings.Repeat("z", 64)}
	largest.FlowKey = strings.Repeat("é", timer.MaxFlowKey/2)
	largest.Retry = timer.RetryPolicy{
		MaxAttempts: timer.MaxMaxAttempts, MaxAttemptsDuration: timer.MaxMaxAttemptsDuration,
		InitialInterval: timer.MaxInitialInterval, BackoffMultiplier: timer.MaxBackoffMultiplier,
		MaxInterval: timer.MaxMaxInterval,
	}
	smallest := timer.Spec{
		ExecuteAt: timer.MinMillis, CallbackTimeout: timer.MinCallbackTimeout,
		Retry: timer.RetryPolicy{
			MaxAttempts: 1, InitialInterval: timer.MinInitialInterval, BackoffMultiplier: 1,
			MaxInterval: timer.MinInitialInterval,
		},
	}
	request := largest
	request.Deliver, request.Topic, request.EventKey = timer.DeliverCallback, "", ""
	request.Request = timer.Request{
		Method: "DELETE", ContentType: "text/x; p=" + strings.Repeat("p", timer.MaxContentType-10), Reschedule: true,
	}
	request.Payload = bytes.Repeat([]byte{0, 0xff}, timer.MaxPayload/2)
	bare := smallest
	bare.CallbackURL, bare.Request = "http://a", timer.Request{Method: "GET"}
	odd := w.spec(-1) // just before 1970
	odd.Retry.BackoffMultiplier = 1.1
	for id, spec := range map[string]timer.Spec{
		strings.Repeat("界", timer.MaxID/3): largest, "1": smallest, "odd": odd, "request": request, "bare": bare,
	} {
		w.check(spec.Check(), "the suite's own spec")
		op := w.putOp(id, 0)
		op.Spec = spec
		got := w.mustWrite(op).Timer
		w.equal("spec in the answer", got.Spec, spec)
		row, _ := w.row(op.Ref)
		w.equal("row", row, got)
		w.equal("get", w.mustGet(op.Ref), got)
		w.end(&got, store.FinishDead)
		w.equal("spec of the dead timer", w.mustGet(op.Ref).Spec, spec)
	}
}

// largestHeaders returns as many headers as a timer may have, with the largest total size.
func largestHeaders() timer.Headers {
	var text strings.Builder
	for i := range timer.MaxHeaders {
		fmt.Fprintf(&text, "X-%02d: %s\n", i, strings.Repeat("~", timer.MaxHeaderBytes/timer.MaxHeaders-4))
	}
	return timer.Headers(text.String())
}

// oddTexts returns valid ids that engines have been known to fold, trim, truncate or misread.
func oddTexts() []string {
	return []string{
		"a", "A", " a", "a ", "a%", "a_", `a\`, `a"'`, "a/b", "a:b", "a#", "$1", "?", "NULL", "0", "00", "1e3",
		"ä", "a\u0308", "\u00e4", "İ", "ß", "ss", "日本", "🕰", "\u200b", "\ufeffa", "\u202ea", "a\u00a0", "--", ";",
	}
}

func putTexts(w *world) {
	states := map[string]timer.Timer{}
	for _, id := range oddTexts() {
		op := w.putOp(id, w.now+minute)
		op.Spec.CorrelationID = id
		op.Spec.CallbackURL = "https://example.com/" + strings.Trim(id, " ")
		states[id] = w.mustWrite(op).Timer
	}
	for id, want := range states {
		if want.ID != id || want.CorrelationID != id {
			w.t.Errorf("id %q came back as %q, correlation id as %q", id, want.ID, want.CorrelationID)
		}
		w.wantRow(w.ref(id), &want)
	}
	if got := w.list(store.ListQuery{Limit: 100}); len(got) != len(states) {
		w.t.Errorf("%d timers are listed, want %d: some ids were taken for the same", len(got), len(states))
	}
}

func putPayloads(w *world) {
	for _, payload := range []string{
		"null", `""`, "0", " [ 1 , 2 ] ", `{"a":1,"a":2}`, `{"b":1,"a":2}`, "123456789012345678901234567890.10",
		"\"\\u0000\"", `"` + "\u2028" + `"`, "\t{}\n",
	} {
		op := w.putOp("a", w.now+minute)
		op.Spec.Payload = []byte(payload)
		w.check(op.Spec.Check(), "the suite's own payload %q", payload)
		w.mustWrite(op)
		if got, _ := w.row(op.Ref); string(got.Payload) != payload {
			w.t.Errorf("payload %q came back as %q", payload, got.Payload)
		}
	}
	op := w.putOp("a", w.now+minute)
	op.Spec.Payload = nil
	w.mustWrite(op)
	if got, _ := w.row(op.Ref); got.Payload != nil {
		w.t.Errorf("no payload came back as %q", got.Payload)
	}
}

func writeInOrder(w *world) {
	ref := w.ref("a")
	put := func(how store.OnConflict) store.Put {
		op := w.putOp("a", w.now+minute)
		op.OnConflict = how
		return op
	}
	first, last := put(store.Fail), put(store.Keep)
	later := w.now + hour
	ops := []store.Op{
		store.Delete{Ref: ref}, // no timer yet
		first,
		put(store.Fail),
		w.putOp("b", w.now+minute), // another timer in between
		store.Update{Ref: ref, Revision: w.next(), Patch: timer.Patch{ExecuteAt: &later}, IfGeneration: timer.Generation(first.Revision)},
		store.Update{Ref: ref, Revision: w.next(), Patch: timer.Patch{}, IfGeneration: timer.Generation(first.Revision)},
		put(store.Replace),
		store.Delete{Ref: ref},
		store.Update{Ref: ref, Revision: w.next(), Patch: timer.Patch{}},
		last,
		put(store.Keep),
	}
	out := w.writeAll(ops...)
	for i, want := range []error{
		store.ErrNotFound, nil, store.ErrExists, nil, nil, store.ErrConflict, nil, nil, store.ErrNotFound, nil, nil,
	} {
		w.wantErr(out[i].Err, want, "operation %d (%T)", i, ops[i])
	}
	if out[1].Prior != nil || out[9].Prior != nil || out[4].Prior == nil || out[6].Prior == nil || out[7].Prior == nil {
		w.t.Error("priors do not tell what each operation found")
	}
	w.wantPrior(out[6], &out[4].Timer)
	w.wantPrior(out[7], &out[6].Timer)
	if out[4].Timer.DueAt != later || !out[10].Kept {
		w.t.Errorf("update: due %s; last put: kept %t", out[4].Timer.DueAt, out[10].Kept)
	}
	w.wantRow(ref, &out[9].Timer)
	if out[9].Timer.Revision != last.Revision {
		w.t.Errorf("the row has revision %s, want %s", out[9].Timer.Revision, last.Revision)
	}
}

func writeLargeBatch(w *world) {
	n := w.factory.largeBatch()
	ops := make([]store.Op, n)
	for i := range ops {
		ops[i] = w.putOp(fmt.Sprint(i), w.now+timer.Millis(i))
	}
	w.writeAll(ops...)
	for i := range ops {
		if i%2 == 0 {
			ops[i] = store.Delete{Ref: w.ref(fmt.Sprint(i))}
		} else {
			ops[i] = store.Update{Ref: w.ref(fmt.Sprint(i)), Revision: w.next()}
		}
	}
	for i, out := range w.writeAll(ops...) {
		w.check(out.Err, "operation %d", i)
	}
	seen := 0
	for _, c := range w.claim(w.allShards()...) {
		seen += len(w.due(c.Claim, store.MinKey(), w.now+hour).Rows)
	}
	if seen != n/2 {
		w.t.Errorf("%d timers are left, want %d", seen, n/2)
	}
}
