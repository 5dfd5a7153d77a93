package agenda

import (
	"container/heap"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// State names one state of one timer.
type State struct {
	UUID     timer.UUID
	Revision timer.Revision
}

// StateOf names a row's state.
func StateOf(r *store.DueRow) State { return State{UUID: r.Ref.UUID, Revision: r.Revision} }

// Entry is one armed state.
type Entry struct {
	Row store.DueRow
	// Again marks a state that another owner may have published before, so that the bus must not
	// take this publication for a repetition.
	Again bool
}

// Agenda holds armed states, in a queue for each group (a namespace), and lets groups take turns. Two
// states of one timer are two entries: only the row check knows which of them still stands.
type Agenda struct {
	groups []*group // in the order of first use; the turn goes around
	byName map[string]*group
	turn   int
	armed  map[State]struct{}
}

type group struct{ entries queue }

// New makes an empty agenda.
func New() *Agenda {
	return &Agenda{byName: map[string]*group{}, armed: map[State]struct{}{}}
}

// Len counts the armed states.
func (a *Agenda) Len() int { return len(a.armed) }

// Has reports whether the state is armed.
func (a *Agenda) Has(s State) bool {
	_, ok := a.armed[s]
	return ok
}

// Arm adds an entry to a group's queue; a state that is armed already stays as it is.
func (a *Agenda) Arm(name string, e Entry) {
	s := StateOf(&e.Row)
	if a.Has(s) {
		return
	}
	a.armed[s] = struct{}{}
	g, ok := a.byName[name]
	if !ok {
		g = &group{}
		a.byName[name] = g
		a.groups = append(a.groups, g)
	}
	heap.Push(&g.entries, e)
}

// NextDue returns the earliest due_at of all, or Never.
func (a *Agenda) NextDue() timer.Millis {
	next := timer.Never
	for _, g := range a.groups {
		if len(g.entries) > 0 {
			next = min(next, g.entries[0].Row.DueAt)
		}
	}
	return next
}

// Pop takes out one entry that is due at now: each group gives its earliest in its turn.
func (a *Agenda) Pop(now timer.Millis) (Entry, bool) {
	for range a.groups {
		g := a.groups[a.turn]
		a.turn = (a.turn + 1) % len(a.groups)
		if len(g.entries) == 0 || g.entries[0].Row.DueAt > now {
			continue
		}
		e, _ := heap.Pop(&g.entries).(Entry)
		delete(a.armed, StateOf(&e.Row))
		return e, true
	}
	return Entry{}, false
}

// Each calls f for every entry, in no order that means anything.
func (a *Agenda) Each(f func(*store.DueRow)) {
	for _, g := range a.groups {
		for i := range g.entries {
			f(&g.entries[i].Row)
		}
	}
}

// Drop takes out every entry for which gone is true.
func (a *Agenda) Drop(gone func(*store.DueRow) bool) {
	for _, g := range a.groups {
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
	}
}

// queue is a heap by (due_at, uuid).
type queue []Entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].Row.Key().Compare(q[j].Row.Key()) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

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
