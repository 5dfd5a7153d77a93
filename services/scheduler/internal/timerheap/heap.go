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

// Heap is the timer heap: it has the armed states, in a heap for each group (a namespace), and pops from the groups
// by round robin. Two states of one timer are two entries: only the row check knows which of them is current.
type Heap struct {
	// groups is in the order of first use. Empty groups are removed when they are at least half of all groups.
	groups []*group
	empty  int
	byName map[string]*group
	turn   int
	armed  map[State]struct{}
}

type group struct {
	name    string
	entries entryHeap
}

// New returns an empty Heap.
func New() *Heap {
	return &Heap{byName: map[string]*group{}, armed: map[State]struct{}{}}
}

// Len returns the number of armed states.
func (h *Heap) Len() int { return len(h.armed) }

// Groups returns the number of groups that have armed states.
func (h *Heap) Groups() int { return len(h.groups) - h.empty }

// LenOf returns the number of armed states of a group.
func (h *Heap) LenOf(name string) int {
	if g := h.byName[name]; g != nil {
		return len(g.entries)
	}
	return 0
}

// CountDue returns the number of entries of a group that are due at now, but at most most.
func (h *Heap) CountDue(name string, now timer.Millis, most int) int {
	if g := h.byName[name]; g != nil {
		return countDue(g.entries, 0, now, most)
	}
	return 0
}

// Largest returns the group with the most armed states.
func (h *Heap) Largest() (name string, n int) {
	for _, g := range h.groups {
		if len(g.entries) > n {
			name, n = g.name, len(g.entries)
		}
	}
	return name, n
}

// Contains reports whether the state is armed.
func (h *Heap) Contains(s State) bool {
	_, ok := h.armed[s]
	return ok
}

// Arm adds an entry to a group's heap. It does nothing if the state is already armed.
func (h *Heap) Arm(name string, e Entry) {
	s := StateOf(&e.Row)
	if h.Contains(s) {
		return
	}
	h.armed[s] = struct{}{}
	g, ok := h.byName[name]
	switch {
	case !ok:
		g = &group{name: name}
		h.byName[name] = g
		h.groups = append(h.groups, g)
	case len(g.entries) == 0:
		h.empty--
	}
	heap.Push(&g.entries, e)
}

// NextDue returns the earliest due_at of the groups for which may is true, or Never.
func (h *Heap) NextDue(may func(name string) bool) timer.Millis {
	next := timer.Never
	for _, g := range h.groups {
		if len(g.entries) > 0 && g.entries[0].Row.DueAt < next && may(g.name) {
			next = g.entries[0].Row.DueAt
		}
	}
	return next
}

// Pop removes one entry that is due at now. Groups for which may is true take turns; each gives its earliest entry.
func (h *Heap) Pop(now timer.Millis, may func(name string) bool) (name string, e Entry, ok bool) {
	for range h.groups {
		g := h.groups[h.turn]
		h.turn = (h.turn + 1) % len(h.groups)
		if len(g.entries) == 0 || g.entries[0].Row.DueAt > now || !may(g.name) {
			continue
		}
		e, _ = heap.Pop(&g.entries).(Entry)
		delete(h.armed, StateOf(&e.Row))
		h.pruneEmpty(g)
		return g.name, e, true
	}
	return "", Entry{}, false
}

// RemoveLatest removes the latest n entries of a group.
func (h *Heap) RemoveLatest(name string, n int) []Entry {
	g := h.byName[name]
	if g == nil || len(g.entries) == 0 {
		return nil
	}
	slices.SortFunc(g.entries, func(a, b Entry) int { return a.Row.Key().Compare(b.Row.Key()) }) // a sorted slice is a heap
	at := max(0, len(g.entries)-n)
	taken := slices.Clone(g.entries[at:])
	clear(g.entries[at:])
	g.entries = g.entries[:at]
	for i := range taken {
		delete(h.armed, StateOf(&taken[i].Row))
	}
	h.pruneEmpty(g)
	return taken
}

// Each calls f for every entry, in no defined order.
func (h *Heap) Each(f func(*store.DueRow)) {
	for _, g := range h.groups {
		for i := range g.entries {
			f(&g.entries[i].Row)
		}
	}
}

// Drop removes every entry for which gone is true.
func (h *Heap) Drop(gone func(*store.DueRow) bool) {
	for _, g := range slices.Clone(h.groups) {
		if len(g.entries) == 0 {
			continue
		}
		kept := g.entries[:0]
		for _, e := range g.entries {
			if gone(&e.Row) {
				delete(h.armed, StateOf(&e.Row))
				continue
			}
			kept = append(kept, e)
		}
		clear(g.entries[len(kept):])
		g.entries = kept
		heap.Init(&g.entries)
		h.pruneEmpty(g)
	}
}

// pruneEmpty is called after entries of a group were removed. It removes empty groups if there are many. The turn stays
// at the same group, or moves to the next non-empty one.
func (h *Heap) pruneEmpty(g *group) {
	if len(g.entries) > 0 {
		return
	}
	h.empty++
	if 2*h.empty < len(h.groups) {
		return
	}
	kept, turn := h.groups[:0], 0
	for at, g := range h.groups {
		if len(g.entries) == 0 {
			delete(h.byName, g.name)
			continue
		}
		if at < h.turn {
			turn++
		}
		kept = append(kept, g)
	}
	clear(h.groups[len(kept):])
	h.groups, h.turn, h.empty = kept, turn, 0
	if h.turn == len(h.groups) {
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
