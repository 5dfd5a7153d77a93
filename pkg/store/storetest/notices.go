package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func noticeTests() []test {
	return []test{
		{"I14_DeadAndParkedTimersAreMarkedUntilAnnounced", noticesUntilAnnounced},
		{"I14_OtherOutcomesLeaveNoMark", noticesOfOthers},
		{"I14_PutRearmAndPurgeLeaveADeadMark", deadMarkStays},
		{"I14_AParkedMarkGoesWithItsRow", parkedMarkGoes},
		{"I14_AParkedMarkStaysWhileTheRowIsParked", parkedMarkStays},
		{"Unannounced/OldestFirstWithinTheLimit", noticesOrder},
		{"Unannounced/MarkedBeforeTheInstant", noticesBefore},
		{"Unannounced/OnlyTheShardsAsked", noticesOfShards},
		{"Unannounced/EachLifeHasItsOwnMark", noticesOfLives},
		{"Announced/MarksAlreadyGoneArePassedOver", announcedTwice},
		{"Announced/TakesOffOnlyTheMark", announcedOnly},
	}
}

func (w *world) announced(marks ...store.Mark) {
	w.t.Helper()
	w.check(w.store.Announced(w.ctx, marks), "announced")
}

func (w *world) wantNotices(what string, n int) []store.Notice {
	w.t.Helper()
	got := w.notices()
	if len(got) != n {
		w.t.Fatalf("%s: %d notices, want %d: %+v", what, len(got), n, got)
	}
	return got
}

func noticesUntilAnnounced(w *world) {
	for kind, status := range map[store.FinishKind]timer.Status{
		store.FinishDead: timer.StatusDead, store.FinishParked: timer.StatusParked,
	} {
		row := w.used(string(status))
		w.now += minute
		f := w.end(&row, kind)
		want := w.mustGet(f.Ref)
		if status == timer.StatusDead {
			w.equal("the dead timer", want, ended(row, w.now, status, &f.Record))
		}
		for range 2 {
			n := w.wantNotices(string(status), 1)[0]
			w.equal("notice", n.Timer, want)
			if n.Mark.Status != status || n.Mark.Ref != f.Ref || n.MarkedAt != w.now || n.Timer.LastError != f.Record.Error {
				w.t.Errorf("notice is %+v", n)
			}
			if status == timer.StatusDead && (n.Mark.Generation != row.Generation || n.Mark.Attempt != f.Record.Attempt) {
				w.t.Errorf("mark of a dead timer is %+v", n.Mark)
			}
			if status == timer.StatusParked && n.Mark.Revision != f.Next {
				w.t.Errorf("mark of a parked timer is %+v", n.Mark)
			}
		}
		w.announced(w.notices()[0].Mark)
		w.wantNotices("announced", 0)
		w.equal("timer", w.mustGet(f.Ref), want)
	}
}

func noticesOfOthers(w *world) {
	for _, kind := range []store.FinishKind{
		store.FinishDone, store.FinishRescheduled, store.FinishRetry, store.FinishLeased, store.FinishPostponed,
	} {
		t := w.put(fmt.Sprint(kind), w.now)
		w.end(&t, kind)
	}
	w.wantNotices("no one died", 0)
}

func deadMarkStays(w *world) {
	t := w.put("a", w.now)
	f := w.end(&t, store.FinishDead)
	mark := w.wantNotices("dead", 1)[0]

	same := func(what string) {
		w.t.Helper()
		w.equal(what, w.wantNotices(what, 1)[0], mark)
	}
	out, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: f.Ref, Revision: w.next(), ExecuteAt: w.now + hour}})
	w.check(err, "rearm")
	w.check(out[0].Err, "rearm")
	same("rearmed")
	w.put("a", w.now+hour)
	same("replaced")
	w.mustWrite(store.Delete{Ref: f.Ref})
	same("deleted")
	w.put("a", w.now+hour)
	same("made again")
	present := w.now
	w.now = f.Record.FinishedAt + millis(retention) + hour
	_, err = w.store.Purge(w.ctx, w.now, 100)
	w.check(err, "purge")
	same("purged")
	w.now = present
	w.announced(mark.Mark)
	w.wantNotices("announced", 0)
}

func parkedMarkGoes(w *world) {
	for what, leave := range map[string]func(parked *timer.Timer){
		"put":    func(p *timer.Timer) { w.put(p.ID, w.now) },
		"update": func(p *timer.Timer) { w.check(w.update(w.ref(p.ID), timer.Patch{}).Err, "update") },
		"delete": func(p *timer.Timer) { w.mustWrite(store.Delete{Ref: w.ref(p.ID)}) },
		"rearm": func(p *timer.Timer) {
			_, err := w.store.Rearm(w.ctx, w.now, []store.Rearm{{Ref: w.ref(p.ID), Revision: w.next(), ExecuteAt: w.now}})
			w.check(err, "rearm")
		},
		// A slow dispatcher that started before the parking and uses a guard by generation.
		"done": func(p *timer.Timer) {
			f := w.finishOp(p, store.FinishDone)
			f.If = store.Guard{Generation: p.Generation}
			w.check(w.finish(f), "finish")
		},
		"rescheduled": func(p *timer.Timer) {
			f := w.finishOp(p, store.FinishRescheduled)
			f.If = store.Guard{Generation: p.Generation}
			w.check(w.finish(f), "finish")
		},
	} {
		t := w.put(what, w.now)
		t = w.move(&t, store.FinishParked)
		w.wantNotices(what+": parked", 1)
		leave(&t)
		w.wantNotices(what, 0)
	}
}

func parkedMarkStays(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishParked)
	before := w.wantNotices("parked", 1)[0]
	// Refused operations and reads do not change the entry.
	keep := w.putOp("a", w.now)
	keep.OnConflict = store.Keep
	w.mustWrite(keep)
	w.write(store.Delete{Ref: w.ref("a"), IfGeneration: t.Generation + 1})
	w.update(w.ref("a"), timer.Patch{CallbackURL: new("x")})
	miss := w.finishOp(&t, store.FinishDone)
	miss.If.Revision++
	w.wantErr(w.finish(miss), store.ErrConflict, "finish")
	w.equal("notice", w.wantNotices("still parked", 1)[0], before)
}

// marked creates dead and parked timers alternately, one a minute, the first a minute from now.
func (w *world) marked(n int) []string {
	w.t.Helper()
	var made []string
	for i := range n {
		w.now += minute
		id := fmt.Sprint("marked ", n-i)
		t := w.put(id, w.now)
		kind := store.FinishDead
		if i%2 == 1 {
			kind = store.FinishParked
		}
		w.end(&t, kind)
		made = append(made, id)
	}
	return made
}

func noticesOrder(w *world) {
	want := w.marked(9)
	for limit := 1; limit <= 10; limit++ {
		got, err := w.store.Unannounced(w.ctx, w.allShards(), timer.MaxMillis, limit)
		w.check(err, "unannounced")
		var names []string
		for _, n := range got {
			names = append(names, n.Timer.ID)
		}
		w.equal(fmt.Sprintf("limit %d", limit), names, want[:min(limit, len(want))])
	}
}

func noticesBefore(w *world) {
	first := w.now
	w.marked(4)
	for before, n := range map[timer.Millis]int{
		first: 0, first + minute: 0, first + minute + 1: 1, first + 2*minute: 1, first + 2*minute + 1: 2, w.now + 1: 4,
	} {
		got, err := w.store.Unannounced(w.ctx, w.allShards(), before, 100)
		w.check(err, "unannounced")
		if len(got) != n {
			w.t.Errorf("marked before %s: %d notices, want %d", before, len(got), n)
		}
	}
}

func noticesOfShards(w *world) {
	w.marked(12)
	seen := 0
	for _, id := range w.allShards() {
		got, err := w.store.Unannounced(w.ctx, []shard.ID{id}, timer.MaxMillis, 100)
		w.check(err, "unannounced")
		for _, n := range got {
			seen++
			if n.Mark.Ref.Shard != id || w.ref(n.Timer.ID) != n.Mark.Ref {
				w.t.Errorf("shard %s shows %+v", id, n.Mark)
			}
		}
	}
	if seen != 12 {
		w.t.Errorf("%d notices in all shards, want 12", seen)
	}
}

func noticesOfLives(w *world) {
	for range 3 {
		w.now += minute
		t := w.put("a", w.now)
		w.end(&t, store.FinishDead)
	}
	t := w.put("a", w.now)
	w.now += minute
	w.move(&t, store.FinishParked)
	all := w.wantNotices("four lives", 4)
	w.announced(all[1].Mark)
	rest := w.wantNotices("three are left", 3)
	w.equal("first", rest[0], all[0])
	w.equal("third", rest[1], all[2])
	w.equal("parked", rest[2], all[3])
	w.announced(all[3].Mark, all[0].Mark)
	w.equal("last", w.wantNotices("one is left", 1)[0], all[2])
}

func announcedTwice(w *world) {
	w.marked(4)
	all := w.wantNotices("marked", 4)
	w.announced(all[0].Mark, all[1].Mark)
	w.announced(all[1].Mark, all[2].Mark, all[0].Mark)
	left := w.wantNotices("one is left", 1)
	w.equal("the last", left[0], all[3])
	// Ids of timers that never existed, of other attempts, and of other states.
	strange := all[3].Mark
	strange.Generation++
	strange.Revision++
	strange.Attempt++
	w.announced(strange, store.Mark{Ref: w.ref("nobody"), Status: timer.StatusDead, Generation: 1, Attempt: 1},
		store.Mark{Ref: w.ref("nobody"), Status: timer.StatusParked, Revision: 1})
	w.equal("the last", w.wantNotices("still left", 1)[0], all[3])

	// A row that was parked a second time has a new revision: the id of the old entry does not remove the new one.
	t, _ := w.row(w.ref("marked 1"))
	w.check(w.update(w.ref(t.ID), timer.Patch{}).Err, "update")
	t, _ = w.row(w.ref(t.ID))
	w.move(&t, store.FinishParked)
	w.announced(all[3].Mark)
	w.wantNotices("parked anew", 1)
}

func announcedOnly(w *world) {
	dead, parked := w.put("dead", w.now), w.put("parked", w.now)
	w.end(&dead, store.FinishDead)
	parked = w.move(&parked, store.FinishParked)
	dead = w.mustGet(w.ref("dead"))
	history := w.history(w.ref("dead"))
	w.now += minute
	for _, n := range w.wantNotices("marked", 2) {
		w.announced(n.Mark)
	}
	w.wantRow(w.ref("parked"), &parked)
	w.equal("the dead timer", w.mustGet(w.ref("dead")), dead)
	w.equal("history", w.history(w.ref("dead")), history)
	if got := w.due(w.claim(w.ref("parked").Shard)[0].Claim, store.MinKey(), w.now).Rows; len(got) != 0 {
		w.t.Errorf("an announced parked row is due: %+v", got)
	}
}
