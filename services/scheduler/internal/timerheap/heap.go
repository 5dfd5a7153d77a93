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

// Entry is one armed state.
type Entry struct {
	Row store.DueRow
	// BypassDedup marks a state that may have been published before, so that the bus must not drop this publication as
	// a repetition.
	BypassDedup bool
}

// Heap is the timer heap: it has the armed states, in a heap for each namespace, and pops from the namespaces by round
// robin. Two states of one timer are two entries: only the row check knows which of them is current.
type Heap struct {
	// namespaces is in the order of first use. Empty ones are removed when they are at least half of all.
	namespaces []*namespace
	empty      int
	byName     map[string]*namespace
	turn       int
	armed      map[State]struct{}
}

type namespace struct {
	name    string
	entries entryHeap
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
		return len(ns.entries)
	}
	return 0
}

// CountDue returns the number of entries of a namespace that are due at now, but at most most.
func (h *Heap) CountDue(name string, now timer.Millis, most int) int {
	if ns := h.byName[name]; ns != nil {
		return countDue(ns.entries, 0, now, most)
	}
	return 0
}

// Largest returns the namespace with the most armed states.
func (h *Heap) Largest() (name string, n int) {
	for _, ns := range h.namespaces {
		if len(ns.entries) > n {
			name, n = ns.name, len(ns.entries)
		}
	}
	return name, n
}

// Contains reports whether the state is armed.
func (h *Heap) Contains(s State) bool {
	_, ok := h.armed[s]
	return ok
}

// Arm adds an entry to a namespace's heap. It does nothing if the state is already armed.
func (h *Heap) Arm(name string, e Entry) {
	s := StateOf(&e.Row)
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
	case len(ns.entries) == 0:
		h.empty--
	}
	heap.Push(&ns.entries, e)
}

// NextDue returns the earliest due_at of the namespaces for which may is true, or Never.
func (h *Heap) NextDue(may func(name string) bool) timer.Millis {
	next := timer.Never
	for _, ns := range h.namespaces {
		if len(ns.entries) > 0 && ns.entries[0].Row.DueAt < next && may(ns.name) {
			next = ns.entries[0].Row.DueAt
		}
	}
	return next
}

// Pop removes the earliest entry of a namespace, if it is due at now. Namespaces for which may is true take turns.
func (h *Heap) Pop(now timer.Millis, may func(name string) bool) (name string, e Entry, ok bool) {
	for range h.namespaces {
		ns := h.namespaces[h.turn]
		h.turn = (h.turn + 1) % len(h.namespaces)
		if len(ns.entries) == 0 || ns.entries[0].Row.DueAt > now || !may(ns.name) {
			continue
		}
		e, _ = heap.Pop(&ns.entries).(Entry)
		delete(h.armed, StateOf(&e.Row))
		h.pruneEmpty(ns)
		return ns.name, e, true
	}
	return "", Entry{}, false
}

// RemoveLatest removes the latest n entries of a namespace.
func (h *Heap) RemoveLatest(name string, n int) []Entry {
	ns := h.byName[name]
	if ns == nil || len(ns.entries) == 0 {
		return nil
	}
	slices.SortFunc(ns.entries, func(a, b Entry) int { return a.Row.Key().Compare(b.Row.Key()) }) // a sorted slice is a heap
	at := max(0, len(ns.entries)-n)
	taken := slices.Clone(ns.entries[at:])
	clear(ns.entries[at:])
	ns.entries = ns.entries[:at]
	for i := range taken {
		delete(h.armed, StateOf(&taken[i].Row))
	}
	h.pruneEmpty(ns)
	return taken
}

// Each calls f for every entry, in no defined order.
func (h *Heap) Each(f func(*store.DueRow)) {
	for _, ns := range h.namespaces {
		for i := range ns.entries {
			f(&ns.entries[i].Row)
		}
	}
}

// Drop removes every entry for which gone is true.
func (h *Heap) Drop(gone func(*store.DueRow) bool) {
	for _, ns := range slices.Clone(h.namespaces) {
		if len(ns.entries) == 0 {
			continue
		}
		kept := ns.entries[:0]
		for _, e := range ns.entries {
			if gone(&e.Row) {
				delete(h.armed, StateOf(&e.Row))
				continue
			}
			kept = append(kept, e)
		}
		clear(ns.entries[len(kept):])
		ns.entries = kept
		heap.Init(&ns.entries)
		h.pruneEmpty(ns)
	}
}

// pruneEmpty is called after entries of a namespace were removed. It removes empty namespaces if there are many. The
// turn stays at the same namespace, or moves to the next non-empty one.
func (h *Heap) pruneEmpty(ns *namespace) {
	if len(ns.entries) > 0 {
		return
	}
	h.empty++
	if 2*h.empty < len(h.namespaces) {
		return
	}
	kept, turn := h.namespaces[:0], 0
	for at, ns := range h.namespaces {
		if len(ns.entries) == 0 {
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

// entryHeap is a heap by (due_at, uuid).
type entryHeap []Entry

func (q entryHeap) Len() int           { return len(q) }
func (q entryHeap) Less(i, j int) bool { return q[i].Row.Key().Compare(q[j].Row.Key()) < 0 }
func (q entryHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// countDue counts the entries at and below index at of a heap that are due at now, up to most.
func countDue(q entryHeap, at int, now timer.Millis, most int) int {
	if most <= 0 || at >= len(q) || q[at].Row.DueAt > now {
		return 0
	}
	n := 1 + countDue(q, 2*at+1, now, most-1)
	return n + countDue(q, 2*at+2, now, most-n)
}

func (q *entryHeap) Push(x any) {
	e, _ := x.(Entry)
	*q = append(*q, e)
}

func (q *entryHeap) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = Entry{}
	*q = (*q)[:last]
	return e
}
