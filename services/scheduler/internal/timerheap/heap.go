package timerheap

import (
	"container/heap"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// State names one state of one timer.
type State struct {
	UUID     timer.UUID
	Revision timer.Revision
}

// StateOf returns the state of a row.
func StateOf(r *store.DueRow) State { return State{UUID: r.Ref.UUID, Revision: r.Revision} }

// Heap is the timer heap: it has the armed states, in a heap for each namespace, and pops from the namespaces by round
// robin. Two states of one timer are two rows here: only the row check knows which of them is current.
type Heap struct {
	// namespaces is in the order of first use. Empty ones are removed when they are at least half of all.
	namespaces []*namespace
	empty      int
	byName     map[string]*namespace
	turn       int
	armed      map[State]struct{}
}

type namespace struct {
	name string
	rows rowHeap
}

// New returns an empty Heap.
func New() *Heap {
	return &Heap{byName: map[string]*namespace{}, armed: map[State]struct{}{}}
}

// Len returns the number of armed states.
func (h *Heap) Len() int { return len(h.armed) }

// Namespaces returns the number of namespaces that have armed states.
func (h *Heap) Namespaces() int { return len(h.namespaces) - h.empty }

// LenOf returns the number of armed states of a namespace.
func (h *Heap) LenOf(name string) int {
	if ns := h.byName[name]; ns != nil {
		return len(ns.rows)
	}
	return 0
}

// CountDue returns the number of rows of a namespace that are due at now, but at most most.
func (h *Heap) CountDue(name string, now timer.Millis, most int) int {
	if ns := h.byName[name]; ns != nil {
		return countDue(ns.rows, 0, now, most)
	}
	return 0
}

// Largest returns the namespace with the most armed states.
func (h *Heap) Largest() (name string, n int) {
	for _, ns := range h.namespaces {
		if len(ns.rows) > n {
			name, n = ns.name, len(ns.rows)
		}
	}
	return name, n
}

// Contains reports whether the state is armed.
func (h *Heap) Contains(s State) bool {
	_, ok := h.armed[s]
	return ok
}

// Arm adds a row to a namespace's heap. It does nothing if the state is already armed.
func (h *Heap) Arm(name string, r store.DueRow) {
	s := StateOf(&r)
	if h.Contains(s) {
		return
	}
	h.armed[s] = struct{}{}
	ns, ok := h.byName[name]
	switch {
	case !ok:
		ns = &namespace{name: name}
		h.byName[name] = ns
		h.namespaces = append(h.namespaces, ns)
	case len(ns.rows) == 0:
		h.empty--
	}
	heap.Push(&ns.rows, r)
}

// NextDue returns the earliest due_at of the namespaces for which may is true, or Never.
func (h *Heap) NextDue(may func(name string) bool) timer.Millis {
	next := timer.Never
	for _, ns := range h.namespaces {
		if len(ns.rows) > 0 && ns.rows[0].DueAt < next && may(ns.name) {
			next = ns.rows[0].DueAt
		}
	}
	return next
}

// Pop removes the earliest row of a namespace, if it is due at now. Namespaces for which may is true take turns.
func (h *Heap) Pop(now timer.Millis, may func(name string) bool) (name string, r store.DueRow, ok bool) {
	for range h.namespaces {
		ns := h.namespaces[h.turn]
		h.turn = (h.turn + 1) % len(h.namespaces)
		if len(ns.rows) == 0 || ns.rows[0].DueAt > now || !may(ns.name) {
			continue
		}
		r, _ = heap.Pop(&ns.rows).(store.DueRow)
		delete(h.armed, StateOf(&r))
		h.pruneEmpty(ns)
		return ns.name, r, true
	}
	return "", store.DueRow{}, false
}

// RemoveLatest removes the latest n rows of a namespace.
func (h *Heap) RemoveLatest(name string, n int) []store.DueRow {
	ns := h.byName[name]
	if ns == nil || len(ns.rows) == 0 {
		return nil
	}
	slices.SortFunc(ns.rows, func(a, b store.DueRow) int { return a.Key().Compare(b.Key()) }) // a sorted slice is a heap
	at := max(0, len(ns.rows)-n)
	taken := slices.Clone(ns.rows[at:])
	clear(ns.rows[at:])
	ns.rows = ns.rows[:at]
	for i := range taken {
		delete(h.armed, StateOf(&taken[i]))
	}
	h.pruneEmpty(ns)
	return taken
}

// Each calls f for every row, in no defined order.
func (h *Heap) Each(f func(*store.DueRow)) {
	for _, ns := range h.namespaces {
		for i := range ns.rows {
			f(&ns.rows[i])
		}
	}
}

// Drop removes every row for which gone is true.
func (h *Heap) Drop(gone func(*store.DueRow) bool) {
	for _, ns := range slices.Clone(h.namespaces) {
		if len(ns.rows) == 0 {
			continue
		}
		kept := ns.rows[:0]
		for i := range ns.rows {
			if row := &ns.rows[i]; gone(row) {
				delete(h.armed, StateOf(row))
			} else {
				kept = append(kept, *row)
			}
		}
		clear(ns.rows[len(kept):])
		ns.rows = kept
		heap.Init(&ns.rows)
		h.pruneEmpty(ns)
	}
}

// pruneEmpty is called after rows of a namespace were removed. It removes empty namespaces if there are many. The
// turn stays at the same namespace, or moves to the next non-empty one.
func (h *Heap) pruneEmpty(ns *namespace) {
	if len(ns.rows) > 0 {
		return
	}
	h.empty++
	if 2*h.empty < len(h.namespaces) {
		return
	}
	kept, turn := h.namespaces[:0], 0
	for at, ns := range h.namespaces {
		if len(ns.rows) == 0 {
			delete(h.byName, ns.name)
			continue
		}
		if at < h.turn {
			turn++
		}
		kept = append(kept, ns)
	}
	clear(h.namespaces[len(kept):])
	h.namespaces, h.turn, h.empty = kept, turn, 0
	if h.turn == len(h.namespaces) {
		h.turn = 0
	}
}

// rowHeap is a heap by (due_at, uuid).
type rowHeap []store.DueRow

func (q rowHeap) Len() int           { return len(q) }
func (q rowHeap) Less(i, j int) bool { return q[i].Key().Compare(q[j].Key()) < 0 }
func (q rowHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// countDue counts the rows at and below index at of a heap that are due at now, up to most.
func countDue(q rowHeap, at int, now timer.Millis, most int) int {
	if most <= 0 || at >= len(q) || q[at].DueAt > now {
		return 0
	}
	n := 1 + countDue(q, 2*at+1, now, most-1)
	return n + countDue(q, 2*at+2, now, most-n)
}

func (q *rowHeap) Push(x any) {
	row, _ := x.(store.DueRow)
	*q = append(*q, row)
}

func (q *rowHeap) Pop() any {
	last := len(*q) - 1
	row := (*q)[last]
	(*q)[last] = store.DueRow{}
	*q = (*q)[:last]
	return row
}
