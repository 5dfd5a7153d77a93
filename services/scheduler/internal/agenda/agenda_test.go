package agenda_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

func row(due timer.Millis, id byte, revision timer.Revision) store.DueRow {
	return store.DueRow{Ref: store.Ref{UUID: timer.UUID{id}}, DueAt: due, Revision: revision}
}

func TestPopGivesNothingBeforeItsTime(t *testing.T) {
	a := agenda.New()
	a.Arm("n", agenda.Entry{Row: row(100, 1, 1)})
	if _, ok := a.Pop(99); ok {
		t.Fatal("an entry due at 100 came out at 99")
	}
	if _, ok := a.Pop(100); !ok {
		t.Fatal("an entry due at 100 did not come out at 100")
	}
	if a.Len() != 0 || a.NextDue() != timer.Never {
		t.Fatalf("after the last entry: %d left, next due %v", a.Len(), a.NextDue())
	}
}

func TestPopOrdersByDueAtThenUUID(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := agenda.New()
	var want []store.Key
	for i := range 200 {
		r := row(timer.Millis(random.IntN(20)), byte(i), 1)
		want = append(want, r.Key())
		a.Arm("n", agenda.Entry{Row: r})
	}
	slices.SortFunc(want, store.Key.Compare)
	for i, key := range want {
		e, ok := a.Pop(1000)
		if !ok || e.Row.Key() != key {
			t.Fatalf("entry %d is %v, want %v", i, e.Row.Key(), key)
		}
	}
}

func TestGroupsTakeTurns(t *testing.T) {
	a := agenda.New()
	for i := range byte(50) {
		a.Arm("flood", agenda.Entry{Row: row(1, i, 1)})
	}
	a.Arm("quiet", agenda.Entry{Row: row(2, 99, 1)})
	for i := range 2 {
		e, ok := a.Pop(10)
		if !ok {
			t.Fatal("nothing came out")
		}
		if e.Row.Ref.UUID[0] == 99 {
			return
		}
		if i == 1 {
			t.Fatal("the quiet group waited for more than one turn of the flood")
		}
	}
}

func TestSeveralRevisionsOfOneTimerStandSideBySide(t *testing.T) {
	a := agenda.New()
	old, now := row(1, 1, 1), row(1, 1, 2)
	a.Arm("n", agenda.Entry{Row: old})
	a.Arm("n", agenda.Entry{Row: now})
	a.Arm("n", agenda.Entry{Row: now})
	if a.Len() != 2 || !a.Has(agenda.StateOf(&old)) || !a.Has(agenda.StateOf(&now)) {
		t.Fatalf("%d states are armed, want the two revisions", a.Len())
	}
}

func TestDropKeepsTheOrderOfTheRest(t *testing.T) {
	a := agenda.New()
	for i := range byte(100) {
		a.Arm("n", agenda.Entry{Row: row(timer.Millis(200-int(i)), i, 1)})
	}
	a.Drop(func(r *store.DueRow) bool { return r.Ref.UUID[0]%2 == 0 })
	last := timer.Millis(0)
	n := 0
	for e, ok := a.Pop(1000); ok; e, ok = a.Pop(1000) {
		if e.Row.DueAt < last || e.Row.Ref.UUID[0]%2 == 0 {
			t.Fatalf("came out: %v after %v", e.Row, last)
		}
		last = e.Row.DueAt
		n++
	}
	if n != 50 || a.Len() != 0 {
		t.Fatalf("%d came out and %d are left, want 50 and 0", n, a.Len())
	}
}
