package storetest

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func outboxTests() []test {
	return []test{
		{"I14_DeadAndParkedTimersAreMarkedUntilPublished", outboxUntilPublished},
		{"I14_OtherOutcomesLeaveNoMark", outboxOfOthers},
		{"I14_PutRearmAndPurgeLeaveADeadMark", deadMarkStays},
		{"I14_AParkedMarkGoesWithItsRow", parkedMarkGoes},
		{"I14_AParkedMarkStaysWhileTheRowIsParked", parkedMarkStays},
		{"Outbox/OldestFirstWithinAShard", outboxOrder},
		{"Outbox/OtherShardsDoNotUseTheLimit", outboxLimit},
		{"Outbox/EveryShardMakesProgress", outboxProgress},
		{"Outbox/MarkedBeforeTheInstant", outboxBefore},
		{"Outbox/OnlyTheShardsAsked", outboxOfShards},
		{"Outbox/EachLifeHasItsOwnMark", outboxOfLives},
		{"RemoveFromOutbox/MarksAlreadyGoneArePassedOver", removedTwice},
		{"RemoveFromOutbox/TakesOffOnlyTheMark", removedOnly},
	}
}

func (w *world) removeFromOutbox(marks ...store.OutboxID) {
	w.t.Helper()
	w.check(w.store.RemoveFromOutbox(w.ctx, marks), "remove from outbox")
}

func (w *world) wantOutbox(what string, n int) []store.OutboxEntry {
	w.t.Helper()
	got := w.outbox()
	if len(got) != n {
		w.t.Fatalf("%s: %d entries, want %d: %+v", what, len(got), n, got)
	}
	return got
}

func outboxUntilPublished(w *world) {
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
			n := w.wantOutbox(string(status), 1)[0]
			w.equal("entry", n.Timer, want)
			if n.ID.Status != status || n.ID.Ref != f.Ref || n.MarkedAt != w.now || n.Timer.LastError != f.Record.Error {
				w.t.Errorf("entry is %+v", n)
			}
			if status == timer.StatusDead && (n.ID.Generation != row.Generation || n.ID.Attempt != f.Record.Attempt) {
				w.t.Errorf("mark of a dead timer is %+v", n.ID)
			}
			if status == timer.StatusParked && n.ID.Revision != f.Next {
				w.t.Errorf("mark of a parked timer is %+v", n.ID)
			}
		}
		w.removeFromOutbox(w.outbox()[0].ID)
		w.wantOutbox("removed", 0)
		w.equal("timer", w.mustGet(f.Ref), want)
	}
}

func outboxOfOthers(w *world) {
	for _, kind := range []store.FinishKind{
		store.FinishDone, store.FinishRescheduled, store.FinishRetry, store.FinishLeased, store.FinishPostponed,
	} {
		t := w.put(fmt.Sprint(kind), w.now)
		w.end(&t, kind)
	}
	w.wantOutbox("no one died", 0)
}

func deadMarkStays(w *world) {
	t := w.put("a", w.now)
	f := w.end(&t, store.FinishDead)
	mark := w.wantOutbox("dead", 1)[0]

	same := func(what string) {
		w.t.Helper()
		w.equal(what, w.wantOutbox(what, 1)[0], mark)
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
	w.removeFromOutbox(mark.ID)
	w.wantOutbox("removed", 0)
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
		w.wantOutbox(what+": parked", 1)
		leave(&t)
		w.wantOutbox(what, 0)
	}
}

func parkedMarkStays(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishParked)
	before := w.wantOutbox("parked", 1)[0]
	// Refused operations and reads do not change the entry.
	keep := w.putOp("a", w.now)
	keep.OnConflict = store.Keep
	w.mustWrite(keep)
	w.write(store.Delete{Ref: w.ref("a"), IfGeneration: t.Generation + 1})
	w.update(w.ref("a"), timer.Patch{CallbackURL: new("x")})
	miss := w.finishOp(&t, store.FinishDone)
	miss.If.Revision++
	w.wantErr(w.finish(miss), store.ErrConflict, "finish")
	w.equal("entry", w.wantOutbox("still parked", 1)[0], before)
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

func outboxOrder(w *world) {
	want := w.markedByShard(24)
	for limit := 1; limit <= 25; limit++ {
		got, err := w.store.Outbox(w.ctx, w.allShards(), timer.MaxMillis, limit)
		w.check(err, "outbox")
		if len(got) != min(limit, 24) {
			w.t.Errorf("limit %d: %d entries", limit, len(got))
		}
		for id, names := range namesByShard(got) {
			w.equal(fmt.Sprintf("limit %d, shard %s", limit, id), names, want[id][:min(len(names), len(want[id]))])
		}
	}
}

// markedByShard creates dead and parked timers, and returns the ids of each shard, oldest first.
func (w *world) markedByShard(n int) map[shard.ID][]string {
	w.t.Helper()
	made := map[shard.ID][]string{}
	for _, id := range w.marked(n) {
		at := w.ref(id).Shard
		made[at] = append(made[at], id)
	}
	return made
}

func namesByShard(entries []store.OutboxEntry) map[shard.ID][]string {
	names := map[shard.ID][]string{}
	for _, n := range entries {
		names[n.ID.Ref.Shard] = append(names[n.ID.Ref.Shard], n.Timer.ID)
	}
	return names
}

func outboxLimit(w *world) {
	for id, names := range w.markedByShard(12) {
		for limit := 1; limit <= len(names); limit++ {
			got, err := w.store.Outbox(w.ctx, []shard.ID{id}, timer.MaxMillis, limit)
			w.check(err, "outbox")
			w.equal(fmt.Sprintf("limit %d, only shard %s", limit, id), namesByShard(got)[id], names[:limit])
		}
	}
}

// outboxProgress does what a caller does whose bus refuses the entries of one shard, the one with the oldest entry.
func outboxProgress(w *world) {
	stuck := w.ref(w.marked(12)[0]).Shard
	others := slices.DeleteFunc(slices.Clone(w.allShards()), func(id shard.ID) bool { return id == stuck })
	for range 12 {
		got, err := w.store.Outbox(w.ctx, others, timer.MaxMillis, 1)
		w.check(err, "outbox")
		for _, n := range got {
			w.removeFromOutbox(n.ID)
		}
	}
	for _, n := range w.outbox() {
		if n.ID.Ref.Shard != stuck {
			w.t.Errorf("the entry of %q in shard %s was never returned", n.Timer.ID, n.ID.Ref.Shard)
		}
	}
}

func outboxBefore(w *world) {
	first := w.now
	w.marked(4)
	for before, n := range map[timer.Millis]int{
		first: 0, first + minute: 0, first + minute + 1: 1, first + 2*minute: 1, first + 2*minute + 1: 2, w.now + 1: 4,
	} {
		got, err := w.store.Outbox(w.ctx, w.allShards(), before, 100)
		w.check(err, "outbox")
		if len(got) != n {
			w.t.Errorf("marked before %s: %d entries, want %d", before, len(got), n)
		}
	}
}

func outboxOfShards(w *world) {
	w.marked(12)
	seen := 0
	for _, id := range w.allShards() {
		got, err := w.store.Outbox(w.ctx, []shard.ID{id}, timer.MaxMillis, 100)
		w.check(err, "outbox")
		for _, n := range got {
			seen++
			if n.ID.Ref.Shard != id || w.ref(n.Timer.ID) != n.ID.Ref {
				w.t.Errorf("shard %s shows %+v", id, n.ID)
			}
		}
	}
	if seen != 12 {
		w.t.Errorf("%d entries in all shards, want 12", seen)
	}
}

func outboxOfLives(w *world) {
	for range 3 {
		w.now += minute
		t := w.put("a", w.now)
		w.end(&t, store.FinishDead)
	}
	t := w.put("a", w.now)
	w.now += minute
	w.move(&t, store.FinishParked)
	all := w.wantOutbox("four lives", 4)
	w.removeFromOutbox(all[1].ID)
	rest := w.wantOutbox("three are left", 3)
	w.equal("first", rest[0], all[0])
	w.equal("third", rest[1], all[2])
	w.equal("parked", rest[2], all[3])
	w.removeFromOutbox(all[3].ID, all[0].ID)
	w.equal("last", w.wantOutbox("one is left", 1)[0], all[2])
}

func removedTwice(w *world) {
	w.marked(4)
	all := w.wantOutbox("marked", 4)
	w.removeFromOutbox(all[0].ID, all[1].ID)
	w.removeFromOutbox(all[1].ID, all[2].ID, all[0].ID)
	left := w.wantOutbox("one is left", 1)
	w.equal("the last", left[0], all[3])
	// Ids of timers that never existed, of other attempts, and of other states.
	strange := all[3].ID
	strange.Generation++
	strange.Revision++
	strange.Attempt++
	w.removeFromOutbox(strange, store.OutboxID{Ref: w.ref("nobody"), Status: timer.StatusDead, Generation: 1, Attempt: 1},
		store.OutboxID{Ref: w.ref("nobody"), Status: timer.StatusParked, Revision: 1})
	w.equal("the last", w.wantOutbox("still left", 1)[0], all[3])

	// A row that was parked a second time has a new revision: the id of the old entry does not remove the new one.
	t, _ := w.row(w.ref("marked 1"))
	w.check(w.update(w.ref(t.ID), timer.Patch{}).Err, "update")
	t, _ = w.row(w.ref(t.ID))
	w.move(&t, store.FinishParked)
	w.removeFromOutbox(all[3].ID)
	w.wantOutbox("parked anew", 1)
}

func removedOnly(w *world) {
	dead, parked := w.put("dead", w.now), w.put("parked", w.now)
	w.end(&dead, store.FinishDead)
	parked = w.move(&parked, store.FinishParked)
	dead = w.mustGet(w.ref("dead"))
	history := w.history(w.ref("dead"))
	w.now += minute
	for _, n := range w.wantOutbox("marked", 2) {
		w.removeFromOutbox(n.ID)
	}
	w.wantRow(w.ref("parked"), &parked)
	w.equal("the dead timer", w.mustGet(w.ref("dead")), dead)
	w.equal("history", w.history(w.ref("dead")), history)
	if got := w.due(w.claim(w.ref("parked").Shard)[0].Claim, store.MinKey(), w.now).Rows; len(got) != 0 {
		w.t.Errorf("a removed parked row is due: %+v", got)
	}
}
