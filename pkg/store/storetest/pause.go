package storetest

import (
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func pauseTests() []test {
	return []test{
		{"I20_APausedTimerIsNotReadAndHasANewRevision", pauseHolds},
		{"I20_TheSuccessOfARunningCallbackEndsAPausedTimer", pauseSuccess},
		{"I20_NothingButAResumeEndsAPause", pauseStays},
		{"I20_AResumedTimerIsReadAtItsTime", resumeReturns},
		{"I20_AnOverdueTimerIsDueWhenTheResumeSays", resumeOverdue},
		{"I20_ASecondResumeAssignsAnew", resumeTwice},
		{"I20_ARetryEndsTheTimeOfAResume", resumeRetried},
		{"I20_TheFollowUpOfAPausedTimerIsWritten", pauseFollowUp},
		{"Pause/DueKeysLeaveOutPausedTimers", pauseDueKeys},
		{"Pause/OnlyTheAskedGenerationOfALiveTimer", pauseRefused},
		{"Pause/ListsTellPausedFromParked", pauseLists},
		{"Pause/CountsTellPausedFromParked", pauseCounts},
	}
}

const pauseNote = `"Grüße", 100 %`

func (w *world) pause(id string) timer.Timer {
	w.t.Helper()
	return w.mustWrite(store.Pause{Ref: w.ref(id), Revision: w.next(), By: "ops", Note: pauseNote}).Timer
}

// wantRead checks whether polls and sweeps read a timer.
func (w *world) wantRead(t *timer.Timer, want bool) {
	w.t.Helper()
	c := w.claim(w.ref(t.ID).Shard)[0].Claim
	polled, swept := false, false
	for _, r := range w.due(c, store.MinKey(), timer.MaxMillis).Rows {
		polled = polled || r.Ref.UUID == t.UUID && r.Revision == t.Revision
	}
	for _, r := range w.overdue(c, timer.MaxMillis).Rows {
		swept = swept || r.Ref.UUID == t.UUID && r.Revision == t.Revision
	}
	if polled != want || swept != want {
		w.t.Errorf("timer %q: polled %t, swept %t, want %t", t.ID, polled, swept, want)
	}
}

func pauseHolds(w *world) {
	fresh := w.put("fresh", w.now+minute)
	used := w.used("used")
	leased := w.put("leased", w.now)
	leased = w.move(&leased, store.FinishLeased)
	w.now += second
	for _, was := range []timer.Timer{fresh, used, leased} {
		out := w.mustWrite(store.Pause{Ref: w.ref(was.ID), Revision: w.next(), By: "ops", Note: pauseNote})
		want := was
		want.Status, want.Pause = timer.StatusPaused, &timer.Pause{By: "ops", Note: pauseNote, At: w.now}
		want.Revision, want.DueAt, want.UpdatedAt = out.Timer.Revision, was.PlannedAt, w.now
		w.equal("the paused timer", out.Timer, want)
		w.wantPrior(out, &was)
		w.wantRow(w.ref(was.ID), &want)
		w.equal("get", w.mustGet(w.ref(was.ID)), want)
		w.wantRead(&want, false)
		again := w.mustWrite(store.Pause{Ref: w.ref(was.ID), Revision: w.next(), By: "other", Note: "other"})
		if !again.Kept || again.Prior != nil {
			w.t.Errorf("second pause: kept %t, prior %v", again.Kept, again.Prior)
		}
		w.equal("after a second pause", again.Timer, want)
		w.wantRow(w.ref(was.ID), &want)
	}
}

func pauseSuccess(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead, store.FinishRescheduled} {
		t := w.put("a", w.now)
		w.pause("a")
		stale := w.finishOp(&t, kind)
		stale.If = store.Guard{Revision: t.Revision}
		errs, err := w.store.Finish(w.ctx, w.now, []store.Finish{stale})
		w.check(err, "finish")
		w.wantErr(errs[0], store.ErrConflict, "outcome %d with the revision before the pause", kind)
		f := w.finishOp(&t, kind)
		f.If = store.Guard{Generation: t.Generation}
		errs, err = w.store.Finish(w.ctx, w.now, []store.Finish{f})
		w.check(err, "finish")
		w.check(errs[0], "outcome of the generation")
		if kind != store.FinishRescheduled {
			w.wantNoRow(w.ref("a"))
			end := w.mustGet(w.ref("a"))
			if !end.Status.Finished() || end.Pause != nil {
				w.t.Errorf("the finished timer: %s, pause %v", end.Status, end.Pause)
			}
			if kind == store.FinishDead {
				again, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: w.ref("a"), Revision: w.next(), ExecuteAt: w.now}})
				w.check(err, "rearm")
				w.check(again[0].Err, "rearm of a timer that was dead")
				w.wantRead(&again[0].Timer, true)
			}
			w.writeAll(store.Delete{Ref: w.ref("a")})
			continue
		}
		row, _ := w.row(w.ref("a"))
		if row.Status != timer.StatusPaused || row.ExecuteAt != f.NextAt || row.Generation != timer.Generation(f.Next) || row.Pause == nil {
			w.t.Errorf("rescheduled by its answer: %+v", row)
		}
		w.wantRead(&row, false)
	}
}

func pauseStays(w *world) {
	w.put("a", w.now+minute)
	paused := w.pause("a")
	check := func(what string, out store.Written) {
		w.t.Helper()
		w.check(out.Err, "%s", what)
		if out.Timer.Status != timer.StatusPaused || diff(out.Timer.Pause, paused.Pause) != "" {
			w.t.Errorf("%s: status %s, pause %+v", what, out.Timer.Status, out.Timer.Pause)
		}
		w.wantRow(w.ref("a"), &out.Timer)
		w.wantRead(&out.Timer, false)
	}
	at := w.now + hour
	out := w.write(store.Update{Ref: w.ref("a"), Revision: w.next(), Patch: timer.Patch{ExecuteAt: &at}})
	check("update of the time", out)
	if out.Timer.DueAt != at || out.Timer.PlannedAt != at {
		w.t.Errorf("due at %s, planned for %s, want %s", out.Timer.DueAt, out.Timer.PlannedAt, at)
	}
	refused := w.write(store.Update{Ref: w.ref("a"), Revision: w.next(), Patch: timer.Patch{ExecuteAt: &w.now}, UnlessPaused: true})
	w.wantErr(refused.Err, store.ErrConflict, "update that a paused timer refuses")
	w.equal("the state found", refused.Timer, out.Timer)
	w.wantRow(w.ref("a"), &out.Timer)
	check("update of the URL", w.write(store.Update{
		Ref: w.ref("a"), Revision: w.next(), Patch: timer.Patch{CallbackURL: new("https://example.com/other")},
	}))
	check("replacement", w.write(w.putOp("a", w.now+minute)))
	kept := w.putOp("a", w.now)
	kept.OnConflict = store.Keep
	check("create that keeps", w.write(kept))
	all, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: w.ref("a"), Revision: w.next(), ExecuteAt: w.now}})
	w.check(err, "rearm")
	w.wantErr(all[0].Err, store.ErrConflict, "rearm of a paused timer")
	row, _ := w.row(w.ref("a"))
	errs, err := w.store.Finish(w.ctx, w.now, []store.Finish{w.finishOp(&row, store.FinishParked)})
	w.check(err, "finish")
	w.wantErr(errs[0], store.ErrConflict, "parking of a paused timer")
	w.wantRow(w.ref("a"), &row)
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	w.wantNoRow(w.ref("a"))
	fresh := w.put("a", w.now)
	if fresh.Status != timer.StatusScheduled || fresh.Pause != nil {
		w.t.Errorf("a new timer with the id of a deleted paused one is %s", fresh.Status)
	}
	w.wantRead(&fresh, true)
}

func resumeReturns(w *world) {
	fresh := w.put("fresh", w.now+hour)
	retrying := w.put("retrying", w.now)
	retrying = w.move(&retrying, store.FinishRetry)
	for _, was := range []timer.Timer{fresh, retrying} {
		w.pause(was.ID)
		out := w.mustWrite(store.Resume{Ref: w.ref(was.ID), Revision: w.next(), At: w.now + 2*hour, Delay: time.Minute, Skip: true})
		want := was
		want.Revision, want.UpdatedAt = out.Timer.Revision, w.now
		w.equal("the resumed timer", out.Timer, want)
		w.wantRow(w.ref(was.ID), &want)
		w.wantRead(&want, true)
		again := w.mustWrite(store.Resume{Ref: w.ref(was.ID), Revision: w.next(), At: w.now})
		if !again.Kept || again.Prior != nil {
			w.t.Errorf("second resume: kept %t, prior %v", again.Kept, again.Prior)
		}
		w.wantRow(w.ref(was.ID), &want)
	}
}

func resumeOverdue(w *world) {
	for _, skip := range []bool{false, true} {
		for _, later := range []timer.Millis{0, 10 * second} {
			was := w.put("a", w.now+second)
			w.pause("a")
			w.now += minute
			out := w.mustWrite(store.Resume{Ref: w.ref("a"), Revision: w.next(), At: w.now - second + later, Delay: 1500 * time.Millisecond, Skip: skip})
			want := was
			want.Revision, want.UpdatedAt, want.Skip, want.ResumedFrom = out.Timer.Revision, w.now, skip, was.PlannedAt
			want.DueAt = max(w.now, w.now-second+later) + 1500
			want.PlannedAt = want.DueAt
			w.equal("the resumed timer", out.Timer, want)
			w.wantRow(w.ref("a"), &want)
			w.wantRead(&want, true)
			// A new generation is delivered.
			next := w.mustWrite(store.Update{Ref: w.ref("a"), Revision: w.next(), Patch: timer.Patch{ExecuteAt: &w.now}}).Timer
			if next.Skip || next.ResumedFrom != 0 {
				w.t.Errorf("after an update skip is %t, resumed from %s", next.Skip, next.ResumedFrom)
			}
		}
	}
}

func pauseRefused(w *world) {
	w.wantErr(w.write(store.Pause{Ref: w.ref("nobody"), Revision: w.next()}).Err, store.ErrNotFound, "pause of nothing")
	w.wantErr(w.write(store.Resume{Ref: w.ref("nobody"), Revision: w.next()}).Err, store.ErrNotFound, "resume of nothing")
	t := w.put("a", w.now)
	out := w.write(store.Pause{Ref: w.ref("a"), Revision: w.next(), IfGeneration: t.Generation + 1})
	w.wantErr(out.Err, store.ErrConflict, "pause of another generation")
	w.equal("the state found", out.Timer, t)
	w.wantRow(w.ref("a"), &t)
	paused := w.mustWrite(store.Pause{Ref: w.ref("a"), Revision: w.next(), IfGeneration: t.Generation}).Timer
	out = w.write(store.Resume{Ref: w.ref("a"), Revision: w.next(), IfGeneration: t.Generation + 1})
	w.wantErr(out.Err, store.ErrConflict, "resume of another generation")
	w.wantRow(w.ref("a"), &paused)
	parked := w.put("parked", w.now)
	parked = w.move(&parked, store.FinishParked)
	w.wantErr(w.write(store.Pause{Ref: w.ref("parked"), Revision: w.next()}).Err, store.ErrConflict, "pause of a parked timer")
	if out := w.mustWrite(store.Resume{Ref: w.ref("parked"), Revision: w.next(), At: w.now}); !out.Kept {
		w.t.Error("the resume of a parked timer changed it")
	}
	w.wantRow(w.ref("parked"), &parked)
}

// heldTimers makes two paused timers and one of each other live status.
func (w *world) heldTimers() {
	for _, id := range []string{"paused", "paused too"} {
		w.put(id, w.now+minute)
		w.pause(id)
	}
	w.put("scheduled", w.now+minute)
	for id, kind := range map[string]store.FinishKind{"parked": store.FinishParked, "retrying": store.FinishRetry} {
		t := w.put(id, w.now+minute)
		w.move(&t, kind)
	}
}

func pauseLists(w *world) {
	w.heldTimers()
	for status, want := range map[timer.Status]int{
		timer.StatusPaused: 2, timer.StatusParked: 1, timer.StatusScheduled: 1, timer.StatusRetrying: 1, "": 5,
	} {
		for _, from := range []timer.Millis{0, w.now - hour} {
			q := store.ListQuery{Namespace: w.ns, Status: status, DueFrom: from, Limit: 1}
			n := 0
			for {
				page, err := w.store.List(w.ctx, w.now, q)
				w.check(err, "list")
				for i := range page.Timers {
					if !q.Selects(&page.Timers[i]) {
						w.t.Errorf("the list of %q has a timer that is %s", status, page.Timers[i].Status)
					}
					n++
				}
				if q.After = page.Next; len(q.After) == 0 {
					break
				}
			}
			if n != want {
				w.t.Errorf("status %q, due from %d: %d timers, want %d", status, from, n, want)
			}
		}
	}
}

func pauseCounts(w *world) {
	census, ok := store.As[store.Census](w.store)
	w.need(AnyCensus, ok)
	w.heldTimers()
	counts, err := census.Count(w.ctx, w.now)
	w.check(err, "count")
	if counts.Paused != 2 || counts.Parked != 1 || counts.Pending != 2 {
		w.t.Errorf("%+v, want 2 paused, 1 parked, 2 pending", counts)
	}
}

// resumeTwice: a pause removes the time that a resume assigned, and what it says about the delivery. The next resume assigns anew.
func resumeTwice(w *world) {
	for _, skip := range []bool{false, true} {
		was := w.put("a", w.now)
		w.pause("a")
		w.now += second
		w.mustWrite(store.Resume{Ref: w.ref("a"), Revision: w.next(), At: w.now + hour, Skip: !skip})
		paused := w.pause("a")
		want := was
		want.Status, want.Pause, want.Revision, want.UpdatedAt = timer.StatusPaused, paused.Pause, paused.Revision, w.now
		w.equal("the timer that is paused again", paused, want)
		w.wantRow(w.ref("a"), &want)
		resumed := w.mustWrite(store.Resume{Ref: w.ref("a"), Revision: w.next(), At: w.now + minute, Skip: skip}).Timer
		if resumed.Skip != skip || resumed.DueAt != w.now+minute || resumed.ResumedFrom != was.PlannedAt {
			w.t.Errorf("skip %t, due at %s, resumed from %s; want %t, %s, %s",
				resumed.Skip, resumed.DueAt, resumed.ResumedFrom, skip, w.now+minute, was.PlannedAt)
		}
		w.wantRow(w.ref("a"), &resumed)
	}
}

// resumeRetried: the time of a retry is not one that a resume assigned.
func resumeRetried(w *world) {
	w.put("a", w.now)
	w.pause("a")
	w.now += second
	resumed := w.mustWrite(store.Resume{Ref: w.ref("a"), Revision: w.next(), At: w.now}).Timer
	retried := w.move(&resumed, store.FinishRetry)
	if retried.ResumedFrom != 0 {
		w.t.Errorf("resumed from %s after a retry", retried.ResumedFrom)
	}
	if paused := w.pause("a"); paused.PlannedAt != retried.PlannedAt {
		w.t.Errorf("planned at %s, want %s", paused.PlannedAt, retried.PlannedAt)
	}
}

// pauseFollowUp: the success of a callback that was running when its timer was paused.
func pauseFollowUp(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		t := w.put("a", w.now)
		w.pause("a")
		f := w.finishOp(&t, kind)
		f.If, f.FollowUp = store.Guard{Generation: t.Generation}, w.followUp(&t, f.Ref.UUID.String())
		w.check(w.finish(f), "finish")
		w.wantNoRow(f.Ref)
		next, found := w.row(f.FollowUp.Ref)
		if !found || next.Status != timer.StatusScheduled || next.Pause != nil {
			w.t.Fatalf("the follow-up of a paused timer: found %t, %+v", found, next)
		}
		w.wantRead(&next, true)
		w.mustWrite(store.Delete{Ref: f.FollowUp.Ref})
	}
}

// pauseDueKeys: keys, and with them lists in due order, counts and forecasts, contain the timers that schedulers read.
func pauseDueKeys(w *world) {
	for i, id := range []string{"a", "b", "c"} {
		w.put(id, w.now+timer.Millis(i)*minute)
	}
	want := func(what string, want ...string) {
		w.t.Helper()
		listed := []string{}
		for _, t := range w.list(store.ListQuery{InDueOrder: true, Limit: 2}) {
			listed = append(listed, t.ID)
		}
		w.equal("list in due order "+what, listed, want)
		uuids := []timer.UUID{}
		for _, id := range want {
			uuids = append(uuids, w.ref(id).UUID)
		}
		got := []timer.UUID{}
		for _, k := range w.dueKeys(store.DueKeysQuery{After: store.MinKey(), Limit: 2}) {
			got = append(got, k.UUID)
		}
		w.equal("keys "+what, got, uuids)
	}
	want("before", "a", "b", "c")
	w.pause("a")
	w.pause("b")
	want("of paused timers", "c")
	w.now += second
	for _, id := range []string{"a", "b"} { // only a is overdue
		w.mustWrite(store.Resume{Ref: w.ref(id), Revision: w.next(), At: w.now + hour})
	}
	want("after the resume", "b", "c", "a")
}
