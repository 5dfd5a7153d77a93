package memstore

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

type number int

func (n number) Compare(o number) int { return cmp.Compare(n, o) }

// TestSortedAgainstMap makes the same random calls to a sorted and a plain map, and compares them.
func TestSortedAgainstMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s sorted[number, int]
	m := map[number]int{}
	for step := range 20_000 {
		k := number(random.IntN(3_000))
		// Grow first, then shrink, so that chunks split and empty.
		if random.IntN(20_000) > step {
			s.set(k, step)
			m[k] = step
		} else {
			s.remove(k)
			delete(m, k)
		}
		if step%1_000 == 0 {
			checkSorted(t, &s, m, k)
		}
	}
	for k := range number(3_000) {
		s.remove(k)
		delete(m, k)
	}
	checkSorted(t, &s, m, 7)
}

func checkSorted(t *testing.T, s *sorted[number, int], m map[number]int, pivot number) {
	t.Helper()
	want := slices.Sorted(maps.Keys(m))
	var all, after, before []number
	for k, v := range s.all() {
		if v != m[k] {
			t.Fatalf("value of %d is %d, want %d", k, v, m[k])
		}
		all = append(all, k)
	}
	for k := range s.after(pivot) {
		after = append(after, k)
	}
	for k := range s.before(pivot) {
		before = append(before, k)
	}
	at, found := slices.BinarySearch(want, pivot)
	wantAfter, wantBefore := want[at:], slices.Clone(want[:at])
	if found {
		wantAfter = want[at+1:]
	}
	slices.Reverse(wantBefore)
	if !slices.Equal(all, want) || !slices.Equal(after, wantAfter) || !slices.Equal(before, wantBefore) {
		t.Fatalf("walks around %d differ from the map's %d keys", pivot, len(want))
	}
	if s.len != len(m) || s.below(pivot) != at {
		t.Fatalf("len %d, below(%d) %d; want %d, %d", s.len, pivot, s.below(pivot), len(m), at)
	}
	if v, ok := s.get(pivot); ok != found || v != m[pivot] {
		t.Fatalf("get(%d) = %d, %t; want %d, %t", pivot, v, ok, m[pivot], found)
	}
	for _, c := range s.chunks {
		if len(c) == 0 || len(c) > chunkSize {
			t.Fatalf("a chunk has %d entries", len(c))
		}
	}
}

func BenchmarkSortedSet(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var s sorted[number, int]
	for b.Loop() {
		s.set(number(random.IntN(100_000)), 0)
	}
}
