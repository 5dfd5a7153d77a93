package redelivery

import (
	"container/heap"
	"time"
)

// Heap orders items by deadline, and items with equal deadlines by offset. The zero value is empty.
type Heap[T any] struct{ entries entries[T] }

// Entry is an item's deadline in one Heap.
type Entry[T any] struct {
	Item   T
	Offset int64

	at    time.Time
	place int // index in the heap, plus one; 0: not in the heap
}

// Set gives an entry a deadline, instead of the one it had.
func (h *Heap[T]) Set(e *Entry[T], at time.Time) {
	e.at = at
	if e.place > 0 {
		heap.Fix(&h.entries, e.place-1)
		return
	}
	heap.Push(&h.entries, e)
}

// Clear removes an entry's deadline. It does nothing if the entry has none.
func (h *Heap[T]) Clear(e *Entry[T]) {
	if e.place > 0 {
		heap.Remove(&h.entries, e.place-1)
	}
}

// Next returns the first deadline; zero if there is none.
func (h *Heap[T]) Next() time.Time {
	if len(h.entries) == 0 {
		return time.Time{}
	}
	return h.entries[0].at
}

// Pop removes the first entry if its deadline has passed, and returns its item.
func (h *Heap[T]) Pop(now time.Time) (item T, ok bool) {
	if len(h.entries) == 0 || now.Before(h.entries[0].at) {
		return item, false
	}
	return heap.Pop(&h.entries).(*Entry[T]).Item, true
}

// entries implements heap.Interface.
type entries[T any] []*Entry[T]

func (e entries[T]) Len() int { return len(e) }
func (e entries[T]) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].Offset < e[j].Offset
}

func (e entries[T]) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i+1, j+1
}

func (e *entries[T]) Push(x any) {
	entry, _ := x.(*Entry[T])
	*e = append(*e, entry)
	entry.place = len(*e)
}

func (e *entries[T]) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*e = old[:len(old)-1]
	last.place = 0
	return last
}
