package agenda

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
	// Again marks a state that may have been published before, so that the bus must not drop this publication as a
	// repetition.
	Again bool
}

// Agenda is the timer heap: it has the armed states, in a heap for each group (a namespace), and pops from the groups
// by round robin. Two states of one timer are two entries: only the row check knows which of them is current.
type Agenda struct {
	// groups is in the order of first use. Empty groups are removed when they are at least half of all groups.
	groups []*group
	empty  int
	byName map[string]*group
	turn   int
	armed  map[State]struct{}
}

type group struct {
	name    string
	entries queue
}

// New returns an empty Agenda.
func New() *Agenda {
	return &Agenda{byName: map[string]*group{}, armed: map[State]struct{}{}}
}

// Len returns the number of armed states.
func (a *Agenda) Len() int { return len(a.armed) }

// Groups returns the number of groups that have armed states.
func (a *Agenda) Groups() int { return len(a.groups) - a.empty }

// LenOf returns the number of armed states of a group.
func (a *Agenda) LenOf(name string) int {
	if g := a.byName[name]; g != nil {
		return len(g.entries)
	}
	return 0
}

// DueOf returns the number of entries of a group that are due at now, but at most most.
func (a *Agenda) DueOf(name string, now timer.Millis, most int) int {
	if g := a.byName[name]; g != nil {
		return dueOf(g.entries, 0, now, most)
	}
	return 0
}

// Largest returns the group with the most armed states.
func (a *Agenda) Largest() (name string, n int) {
	for _, g := range a.groups {
		if len(g.entries) > n {
			name, n = g.name, len(g.entries)
		}
	}
	return name, n
}

// Has reports whether the state is armed.
func (a *Agenda) Has(s State) bool {
	_, ok := a.armed[s]
	return ok
}

// Arm adds an entry to a group's heap. It does nothing if the state is already armed.
func (a *Agenda) Arm(name string, e Entry) {
	s := StateOf(&e.Row)
	if a.Has(s) {
		return
	}
	a.armed[s] = struct{}{}
	g, ok := a.byName[name]
	switch {
	case !ok:
		g = &group{name: name}
		a.byName[name] = g
		a.groups = append(a.groups, g)
	case len(g.entries) == 0:
		a.empty--
	}
	heap.Push(&g.entries, e)
}

// NextDue returns the earliest due_at of the groups for which may is true, or Never.
func (a *Agenda) NextDue(may func(name string) bool) timer.Millis {
	next := timer.Never
	for _, g := range a.groups {
		if len(g.entries) > 0 && g.entries[0].Row.DueAt < next && may(g.name) {
			next = g.entries[0].Row.DueAt
		}
	}
	return next
}

// Pop removes one entry that is due at now. Groups for which may is true take turns; each gives its earliest entry.
func (a *Agenda) Pop(now timer.Millis, may func(name string) bool) (name string, e Entry, ok bool) {
	for range a.groups {
		g := a.groups[a.turn]
		a.turn = (a.turn + 1) % len(a.groups)
		if len(g.entries) == 0 || g.entries[0].Row.DueAt > now || !may(g.name) {
			continue
		}
		e, _ = heap.Pop(&g.entries).(Entry)
		delete(a.armed, StateOf(&e.Row))
		a.taken(g)
		return g.name, e, true
	}
	return "", Entry{}, false
}

// TakeLast removes the latest n entries of a group.
func (a *Agenda) TakeLast(name string, n int) []Entry {
	g := a.byName[name]
	if g == nil || len(g.entries) == 0 {
		return nil
	}
	slices.SortFunc(g.entries, func(a, b Entry) int { return a.Row.Key().Compare(b.Row.Key()) }) // a sorted slice is a heap
	at := max(0, len(g.entries)-n)
	taken := slices.Clone(g.entries[at:])
	clear(g.entries[at:])
	g.entries = g.entries[:at]
	for i := range taken {
		delete(a.armed, StateOf(&taken[i].Row))
	}
	a.taken(g)
	return taken
}

// Each calls f for every entry, in no defined order.
func (a *Agenda) Each(f func(*store.DueRow)) {
	for _, g := range a.groups {
		for i := range g.entries {
			f(&g.entries[i].Row)
		}
	}
}

// Drop removes every entry for which gone is true.
func (a *Agenda) Drop(gone func(*store.DueRow) bool) {
	for _, g := range slices.Clone(a.groups) {
		if len(g.entries) == 0 {
			continue
		}
		kept := g.entries[:0]
		for _, e := range g.entries {
			if gone(&e.Row) {
				delete(a.armed, StateOf(&e.Row))
				continue
			}
			kept = append(kept, e)
		}
		clear(g.entries[len(kept):])
		g.entries = kept
		heap.Init(&g.entries)
		a.taken(g)
	}
}

// taken is called after entries of a group were removed. It removes empty groups if there are many. The turn stays at
// the same group, or moves to the next non-empty one.
func (a *Agenda) taken(g *group) {
	if len(g.entries) > 0 {
		return
	}
	a.empty++
	if 2*a.empty < len(a.groups) {
		return
	}
	kept, turn := a.groups[:0], 0
	for at, g := range a.groups {
		if len(g.entries) == 0 {
			delete(a.byName, g.name)
			continue
		}
		if at < a.turn {
			turn++
		}
		kept = append(kept, g)
	}
	clear(a.groups[len(kept):])
	a.groups, a.turn, a.empty = kept, turn, 0
	if a.turn == len(a.groups) {
		a.turn = 0
	}
}

// queue is a heap by (due_at, uuid).
type queue []Entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].Row.Key().Compare(q[j].Row.Key()) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// dueOf counts the entries at and below index at of a heap that are due at now, up to most.
func dueOf(q queue, at int, now timer.Millis, most int) int {
	if most <= 0 || at >= len(q) || q[at].Row.DueAt > now {
		return 0
	}
	n := 1 + dueOf(q, 2*at+1, now, most-1)
	return n + dueOf(q, 2*at+2, now, most-n)
}

func (q *queue) Push(x any) {
	e, _ := x.(Entry)
	*q = append(*q, e)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = Entry{}
	*q = (*q)[:last]
	return e
}
