package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func deleteTests() []test {
	return []test{
		{"Delete/RemovesTheRowAndWritesNoHistory", deleteRemoves},
		{"Delete/OnlyTheAskedGeneration", deleteIfGeneration},
		{"Delete/NoLiveTimerIsErrNotFound", deleteNotFound},
		{"Delete/AParkedRowGoesWithItsMark", deleteParked},
		{"Delete/HistoryStays", deleteLeavesHistory},
	}
}

func deleteRemoves(w *world) {
	old := w.put("a", w.now+minute)
	beside := w.put("b", w.now+minute)
	out := w.mustWrite(store.Delete{Ref: w.ref("a")})
	w.equal("the state removed", out.Timer, old)
	w.wantPrior(out, &old)
	w.wantNoRow(w.ref("a"))
	_, err := w.get(w.ref("a"))
	w.wantErr(err, store.ErrNotFound, "get of a deleted timer")
	if got := w.history(w.ref("a")); len(got) != 0 {
		w.t.Errorf("a delete wrote history: %+v", got)
	}
	for _, c := range w.claim(w.allShards()...) {
		for _, r := range w.due(c.Claim, store.MinKey(), w.now+hour).Rows {
			if r.Ref.UUID == old.UUID {
				w.t.Errorf("Due still shows the deleted timer: %+v", r)
			}
		}
	}
	w.wantRow(w.ref("b"), &beside)
	w.wantErr(w.write(store.Delete{Ref: w.ref("a")}).Err, store.ErrNotFound, "second delete")
}

func deleteIfGeneration(w *world) {
	old := w.used("a")
	for _, other := range []timer.Generation{old.Generation + 1, timer.Generation(old.Revision)} {
		out := w.write(store.Delete{Ref: w.ref("a"), IfGeneration: other})
		w.wantErr(out.Err, store.ErrConflict, "delete of generation %s", other)
		w.equal("the state found", out.Timer, old)
		if out.Prior != nil {
			w.t.Errorf("prior %+v although nothing was written", out.Prior)
		}
		w.wantRow(w.ref("a"), &old)
	}
	w.mustWrite(store.Delete{Ref: w.ref("a"), IfGeneration: old.Generation})
	w.wantNoRow(w.ref("a"))
}

func deleteNotFound(w *world) {
	w.wantErr(w.write(store.Delete{Ref: w.ref("nobody")}).Err, store.ErrNotFound, "delete of nothing")
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		id := fmt.Sprint(kind)
		t := w.put(id, w.now)
		w.end(&t, kind)
		finished := w.mustGet(w.ref(id))
		w.wantErr(w.write(store.Delete{Ref: w.ref(id)}).Err, store.ErrNotFound, "delete of a finished timer")
		w.equal("the finished timer", w.mustGet(w.ref(id)), finished)
	}
}

func deleteParked(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishParked)
	out := w.mustWrite(store.Delete{Ref: w.ref("a")})
	w.equal("the state removed", out.Timer, t)
	if got := w.outbox(); len(got) != 0 {
		w.t.Errorf("the mark outlived the parked row: %+v", got)
	}
}

func deleteLeavesHistory(w *world) {
	t := w.put("a", w.now)
	t = w.move(&t, store.FinishRetry)
	before := w.history(w.ref("a"))
	w.mustWrite(store.Delete{Ref: w.ref("a")})
	w.equal("history", w.history(w.ref("a")), before)
}
