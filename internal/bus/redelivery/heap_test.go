package redelivery_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/bus/redelivery"
)

// TestHeapReturnsItemsInOrder compares a heap with a sorted list while deadlines are set, changed and cleared.
func TestHeapReturnsItemsInOrder(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var h redelivery.Heap[int]
		all := make([]redelivery.Entry[int], 20)
		deadlines := map[int]time.Time{}
		for i := range all {
			all[i] = redelivery.Entry[int]{Item: i, Offset: int64(i)}
		}
		first := func() (int, bool) {
			items := make([]int, 0, len(deadlines))
			for i := range deadlines {
				items = append(items, i)
			}
			slices.SortFunc(items, func(a, b int) int { return cmp.Or(deadlines[a].Compare(deadlines[b]), a-b) })
			if len(items) == 0 {
				return 0, false
			}
			return items[0], true
		}
		for range 400 {
			i, at := random.IntN(len(all)), start.Add(time.Duration(random.IntN(10))*time.Second)
			switch random.IntN(4) {
			case 0, 1:
				h.Set(&all[i], at)
				deadlines[i] = at
			case 2:
				h.Clear(&all[i])
				delete(deadlines, i)
			default:
				want, ok := first()
				ok = ok && !at.Before(deadlines[want])
				got, popped := h.Pop(at)
				if popped != ok || ok && got != want {
					t.Fatalf("seed %d: Pop returned %d, %t, want %d, %t", seed, got, popped, want, ok)
				}
				if popped {
					delete(deadlines, got)
				}
			}
			want, ok := first()
			if got := h.Next(); ok && !got.Equal(deadlines[want]) || !ok && !got.IsZero() {
				t.Fatalf("seed %d: the first deadline is %v, want %v", seed, got, deadlines[want])
			}
		}
	}
}
