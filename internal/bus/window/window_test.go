package window_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/internal/bus/window"
)

func push(t *testing.T, w *window.Window, offset int64) window.Slot {
	t.Helper()
	slot, ok := w.Push(offset, 1)
	if !ok {
		t.Fatalf("offset %d was refused", offset)
	}
	return slot
}

func TestGapHoldsTheCommitBack(t *testing.T) {
	w := window.New(10, 1<<30, 4)
	five, seven, nine := push(t, w, 5), push(t, w, 7), push(t, w, 9)
	for _, step := range []struct {
		slot  window.Slot
		moved bool
		want  int64
	}{{nine, false, 4}, {five, true, 5}, {five, false, 5}, {seven, true, 9}} {
		if moved := w.Done(step.slot); moved != step.moved || w.Committed() != step.want {
			t.Fatalf("Done(%d): moved %v to %d, want %v to %d", step.slot, moved, w.Committed(), step.moved, step.want)
		}
	}
}

func TestProgressTellsRunsBeyondTheGap(t *testing.T) {
	w := window.New(10, 1<<30, 4)
	var slots []window.Slot
	for _, offset := range []int64{5, 6, 8, 9, 12, 13} {
		slots = append(slots, push(t, w, offset))
	}
	for _, i := range []int{0, 2, 3, 5} { // 5, then 8 and 9, then 13
		w.Done(slots[i])
	}
	want := []window.Span{{First: 8, Last: 9}, {First: 13, Last: 13}}
	if committed, beyond := w.Progress(false); committed != 5 || !slices.Equal(beyond, want) {
		t.Fatalf("committed %d and %v, want 5 and %v", committed, beyond, want)
	}
	w.Done(slots[1])
	if committed, beyond := w.Progress(true); committed != 9 || !slices.Equal(beyond, want[1:]) {
		t.Fatalf("committed %d and %v, want 9 and %v", committed, beyond, want[1:])
	}
	if w.Done(slots[4]) {
		t.Fatal("an acknowledgement counts after the last Progress")
	}
}

func TestLimitAndSpan(t *testing.T) {
	w := window.New(2, 1<<30, 0)
	first := push(t, w, 1)
	for offset := int64(2); offset <= 2*window.SpanFactor; offset++ {
		slot := push(t, w, offset)
		if offset < 2*window.SpanFactor && !w.Full() {
			t.Fatalf("not full with two in flight at %d", offset)
		}
		w.Done(slot)
	}
	if _, ok := w.Push(1000, 1); ok || !w.Full() {
		t.Fatal("one stuck entry lets the window grow without bound")
	}
	moved := w.Done(first)
	if entries, bytes := w.Pending(); !moved || w.Committed() != 2*window.SpanFactor || w.Full() || entries != 0 || bytes != 0 {
		t.Fatalf("committed %d, full %v, pending %d of %d bytes", w.Committed(), w.Full(), entries, bytes)
	}
}

func TestBytesFillTheWindow(t *testing.T) {
	w := window.New(10, 100, 0)
	one, ok := w.Push(1, 60)
	if !ok || w.Full() {
		t.Fatal("60 of 100 bytes fill the window")
	}
	two, ok := w.Push(2, 500)
	if !ok || !w.Full() {
		t.Fatal("560 of 100 bytes do not fill the window, or the second entry was refused")
	}
	if _, ok := w.Push(3, 1); !ok {
		t.Fatal("an entry that was read already was refused for its bytes")
	}
	w.Done(one)
	w.Done(one)
	if !w.Full() {
		t.Fatal("501 of 100 bytes do not fill the window")
	}
	w.Done(two)
	if entries, bytes := w.Pending(); w.Full() || entries != 1 || bytes != 1 {
		t.Fatalf("full %v, pending %d of %d bytes, want 1 of 1", w.Full(), entries, bytes)
	}
}

func TestRestartVoidsOlderSlots(t *testing.T) {
	w := window.New(10, 1<<30, 0)
	one, two, three := push(t, w, 1), push(t, w, 2), push(t, w, 3)
	w.Done(one)
	w.Done(three)
	after, ok := w.Restart(two)
	if entries, bytes := w.Pending(); !ok || after != 1 || entries != 0 || bytes != 0 {
		t.Fatalf("restart after %d, %v, pending %d of %d bytes", after, ok, entries, bytes)
	}
	if _, ok := w.Restart(two); ok {
		t.Fatal("a void slot restarts")
	}
	again := push(t, w, 2)
	if w.Done(two) || w.Committed() != 1 {
		t.Fatal("a void slot counts")
	}
	if !w.Done(again) || w.Committed() != 2 {
		t.Fatal("the new slot does not count")
	}
}

// TestNothingMovesAfterSeal runs acknowledgements concurrently with a revoke: the offset that Seal returns is final.
func TestNothingMovesAfterSeal(t *testing.T) {
	for range 200 {
		w := window.New(64, 1<<30, 0)
		var slots []window.Slot
		for offset := range int64(64) {
			slots = append(slots, push(t, w, offset+1))
		}
		var ackers sync.WaitGroup
		for i := range 4 {
			ackers.Go(func() {
				for j := i; j < len(slots); j += 4 {
					w.Done(slots[j])
				}
			})
		}
		final := w.Seal()
		ackers.Wait()
		if w.Committed() != final {
			t.Fatalf("committed moved from %d to %d after the seal", final, w.Committed())
		}
		if _, ok := w.Push(100, 1); ok {
			t.Fatal("a sealed window takes an entry")
		}
	}
}

// FuzzWindow compares operations with a simple, slow model.
func FuzzWindow(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 0, 1, 2, 1, 3, 0, 0, 1, 4})
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		ops := make([]byte, 200)
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		f.Add(seed, ops)
	}
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		type entry struct {
			slot   window.Slot
			offset int64
			done   bool
		}
		random := rand.New(rand.NewPCG(seed, 1))
		limit := 1 + int(seed%7)
		w := window.New(limit, 1<<30, 0)
		var model []entry // all entries pushed since the last restart
		var void []window.Slot
		offset, committed := int64(0), int64(0)
		sealed := false
		for _, op := range ops {
			switch op % 8 {
			case 0, 1, 2: // push
				pending, span := 0, 0
				for _, e := range model {
					if !e.done {
						pending++
					}
					if e.offset > committed {
						span++
					}
				}
				slot, ok := w.Push(offset+1+int64(op>>6), 1)
				if want := !sealed && pending < limit && span < limit*window.SpanFactor; ok != want {
					t.Fatalf("push with %d pending, span %d, sealed %v: %v", pending, span, sealed, ok)
				}
				if ok {
					offset += 1 + int64(op>>6)
					model = append(model, entry{slot: slot, offset: offset})
				}
			case 3, 4, 5, 6: // done, also for slots that are void or done
				if len(void) > 0 && op%16 > 11 {
					w.Done(void[random.IntN(len(void))])
					break
				}
				if len(model) == 0 {
					break
				}
				e := &model[random.IntN(len(model))]
				w.Done(e.slot)
				e.done = e.done || !sealed
			case 7:
				if op > 250 {
					w.Seal()
					sealed = true
					break
				}
				if len(model) == 0 {
					break
				}
				e := model[random.IntN(len(model))]
				after, ok := w.Restart(e.slot)
				if ok != (!e.done && !sealed) || after != committed {
					t.Fatalf("restart by a done=%v entry, sealed=%v: %v after %d, committed %d", e.done, sealed, ok, after, committed)
				}
				if ok {
					for _, e := range model {
						void = append(void, e.slot)
					}
					model, offset = nil, committed
				}
			}
			for _, e := range model { // the contiguous prefix
				if !e.done {
					break
				}
				committed = max(committed, e.offset)
			}
			if w.Committed() != committed {
				t.Fatalf("committed %d, want %d", w.Committed(), committed)
			}
		}
	})
}
