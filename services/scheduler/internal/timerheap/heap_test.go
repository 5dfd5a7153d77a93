package timerheap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

func row(due timer.Millis, id byte, revision timer.Revision) store.DueRow {
	return store.DueRow{Ref: store.Ref{UUID: timer.UUID{id}}, DueAt: due, Revision: revision}
}

func all(string) bool { return true }

func TestPopGivesNothingBeforeItsTime(t *testing.T) {
	a := timerheap.New()
	a.Arm("n", row(100, 1, 1))
	if _, _, ok := a.Pop(99, all); ok {
		t.Fatal("a row due at 100 was popped at 99")
	}
	if _, _, ok := a.Pop(100, all); !ok {
		t.Fatal("a row due at 100 was not popped at 100")
	}
	if a.Len() != 0 || a.NextDue(all) != timer.Never {
		t.Fatalf("after the last row: %d left, next due %v", a.Len(), a.NextDue(all))
	}
}

func TestPopOrdersByDueAtThenUUID(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := timerheap.New()
	var want []store.Key
	for i := range 200 {
		r := row(timer.Millis(random.IntN(20)), byte(i), 1)
		want = append(want, r.Key())
		a.Arm("n", r)
	}
	slices.SortFunc(want, store.Key.Compare)
	for i, key := range want {
		_, got, ok := a.Pop(1000, all)
		if !ok || got.Key() != key {
			t.Fatalf("row %d is %v, want %v", i, got.Key(), key)
		}
	}
}

func TestNamespacesTakeTurns(t *testing.T) {
	a := timerheap.New()
	for i := range byte(50) {
		a.Arm("flood", row(1, i, 1))
	}
	a.Arm("quiet", row(2, 99, 1))
	for i := range 2 {
		_, got, ok := a.Pop(10, all)
		if !ok {
			t.Fatal("no row was popped")
		}
		if got.Ref.UUID[0] == 99 {
			return
		}
		if i == 1 {
			t.Fatal("the quiet namespace waited for more than one turn of the flood")
		}
	}
}

func TestSeveralRevisionsOfOneTimerStandSideBySide(t *testing.T) {
	a := timerheap.New()
	old, now := row(1, 1, 1), row(1, 1, 2)
	a.Arm("n", old)
	a.Arm("n", now)
	a.Arm("n", now)
	if a.Len() != 2 || !a.Contains(timerheap.StateOf(&old)) || !a.Contains(timerheap.StateOf(&now)) {
		t.Fatalf("%d states are armed, want the two revisions", a.Len())
	}
}

func TestDropKeepsTheOrderOfTheRest(t *testing.T) {
	a := timerheap.New()
	for i := range byte(100) {
		a.Arm("n", row(timer.Millis(200-int(i)), i, 1))
	}
	a.Drop(func(r *store.DueRow) bool { return r.Ref.UUID[0]%2 == 0 })
	last := timer.Millis(0)
	n := 0
	for _, got, ok := a.Pop(1000, all); ok; _, got, ok = a.Pop(1000, all) {
		if got.DueAt < last || got.Ref.UUID[0]%2 == 0 {
			t.Fatalf("popped %v after %v", got, last)
		}
		last = got.DueAt
		n++
	}
	if n != 50 || a.Len() != 0 {
		t.Fatalf("%d were popped and %d are left, want 50 and 0", n, a.Len())
	}
}

func TestNamespacesThatMayNotPublishAreLeftOut(t *testing.T) {
	a := timerheap.New()
	a.Arm("flood", row(1, 1, 1))
	a.Arm("quiet", row(2, 2, 1))
	quiet := func(name string) bool { return name == "quiet" }
	if next := a.NextDue(quiet); next != 2 {
		t.Errorf("the next of the namespace that may is due at %d, want 2", next)
	}
	if name, got, ok := a.Pop(10, quiet); !ok || name != "quiet" || got.Ref.UUID[0] != 2 {
		t.Errorf("%v of %q was popped", got, name)
	}
	if _, _, ok := a.Pop(10, quiet); ok || a.Namespaces() != 1 || a.LenOf("flood") != 1 || a.LenOf("quiet") != 0 {
		t.Error("a namespace that may not be popped returned a row, or an empty namespace still exists")
	}
}

func TestRemoveLatestRemovesTheLatestOfANamespace(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := timerheap.New()
	for _, i := range random.Perm(100) {
		a.Arm("flood", row(timer.Millis(i), byte(i), 1))
	}
	a.Arm("quiet", row(1000, 200, 1))
	if name, n := a.Largest(); name != "flood" || n != 100 {
		t.Fatalf("the largest namespace is %q with %d", name, n)
	}
	for i, got := range a.RemoveLatest("flood", 10) {
		if want := byte(90 + i); got.Ref.UUID[0] != want || a.Contains(timerheap.StateOf(&got)) {
			t.Errorf("row %d is %v, want %d", i, got, want)
		}
	}
	for i := range 90 {
		if _, got, ok := a.Pop(999, all); !ok || got.Ref.UUID[0] != byte(i) {
			t.Fatalf("row %d is %v", i, got)
		}
	}
	if len(a.RemoveLatest("flood", 1)) != 0 || len(a.RemoveLatest("quiet", 9)) != 1 || a.Len() != 0 || a.Namespaces() != 0 {
		t.Error("a namespace returned a row that it does not have, or still exists")
	}
}

func TestCountDueStopsAtItsBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := timerheap.New()
	for _, i := range random.Perm(100) {
		a.Arm("n", row(timer.Millis(i), byte(i), 1))
	}
	for now := range timer.Millis(100) {
		for _, most := range []int{0, 1, 7, 100} {
			if got, want := a.CountDue("n", now, most), min(most, int(now)+1); got != want {
				t.Fatalf("%d are due at %d, up to %d; want %d", got, now, most, want)
			}
		}
	}
	if n := a.CountDue("other", 100, 9); n != 0 {
		t.Errorf("%d are due of a namespace that has none", n)
	}
}

// TestEmptyNamespacesAreForgotten: ten namespaces have from one to ten rows. Pop takes turns among the non-empty.
func TestEmptyNamespacesAreForgotten(t *testing.T) {
	a := timerheap.New()
	arm := func(namespace, n byte) {
		for i := range n {
			a.Arm(string('a'+rune(namespace)), row(1, 10*namespace+i, 1))
		}
	}
	for namespace := range byte(10) {
		arm(namespace, namespace+1)
	}
	for round := range byte(10) {
		if n := a.Namespaces(); n != int(10-round) {
			t.Fatalf("%d namespaces in round %d, want %d", n, round, 10-round)
		}
		for namespace := round; namespace < 10; namespace++ {
			if name, _, ok := a.Pop(1, all); !ok || name != string('a'+rune(namespace)) {
				t.Fatalf("round %d: a row of %q was popped, want namespace %c", round, name, 'a'+namespace)
			}
		}
	}
	if _, _, ok := a.Pop(1, all); ok || a.Namespaces() != 0 {
		t.Fatalf("%d namespaces are left", a.Namespaces())
	}
	arm(3, 2)
	if n := len(a.RemoveLatest("d", 5)); n != 2 || a.Namespaces() != 0 || a.RemoveLatest("d", 1) != nil {
		t.Fatalf("%d rows popped, and %d namespaces are left", n, a.Namespaces())
	}
}
