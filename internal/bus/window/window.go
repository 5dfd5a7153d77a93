package window

import "sync"

// SpanFactor bounds how far a window extends beyond its first unacknowledged entry: SpanFactor × limit entries.
// Without it, the window and the number of messages repeated by a take-over would grow for as long as one delivery is
// stuck.
const SpanFactor = 16

// Slot identifies one entry of a Window in Done and Restart. Slots are never reused, so an acknowledgement from
// before a Restart cannot be mistaken for one from after it.
type Slot uint64

// Window tracks the deliveries of one session. It is safe for concurrent use.
type Window struct {
	mu        sync.Mutex
	limit     int
	maxBytes  int
	entries   []entry // entries[0] is slot first
	first     Slot
	pending   int // number of entries that are not done
	bytes     int // size of the entries that are not done
	committed int64
	sealed    bool
}

type entry struct {
	offset int64
	size   int
	done   bool
}

// New creates a window for at most limit unacknowledged entries with about maxBytes bytes. committed is the offset
// before the first entry.
func New(limit, maxBytes int, committed int64) *Window {
	return &Window{limit: limit, maxBytes: maxBytes, committed: committed}
}

// Push adds the next offset, which must be larger than all before it; gaps between offsets are allowed. It adds
// nothing and returns false if the window has limit unacknowledged entries, spans SpanFactor × limit entries, or is
// sealed. A window at maxBytes is Full but still accepts an entry, so that a message that was already read need not
// be read again.
func (w *Window) Push(offset int64, size int) (Slot, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sealed || w.crowded() {
		return 0, false
	}
	w.entries = append(w.entries, entry{offset: offset, size: size})
	w.pending++
	w.bytes += size
	return w.first + Slot(len(w.entries)-1), true
}

// Full reports whether the engine should stop reading.
func (w *Window) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crowded() || w.bytes >= w.maxBytes
}

func (w *Window) crowded() bool {
	return w.pending >= w.limit || len(w.entries) >= SpanFactor*w.limit
}

// Pending returns the number of entries that are not done, and their bytes.
func (w *Window) Pending() (entries, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending, w.bytes
}

// Done marks an entry as done and reports whether the committed offset moved. It does nothing if the slot is done or
// from before a Restart, or if the window is sealed. It checks the seal and sets the mark under one lock, so that no
// acknowledgement can be added after a revoke has read the final offset.
func (w *Window) Done(s Slot) (moved bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.find(s)
	if e == nil {
		return false
	}
	e.done = true
	w.pending--
	w.bytes -= e.size
	n := 0
	for n < len(w.entries) && w.entries[n].done {
		w.committed = w.entries[n].offset
		n++
	}
	w.drop(n)
	return n > 0
}

// drop removes the first n entries. When append has used up the backing array, it copies the remaining entries to a
// new one, so memory stays proportional to the span.
func (w *Window) drop(n int) {
	w.entries = w.entries[n:]
	w.first += Slot(n)
}

// find returns the entry of a slot that is neither done nor void. The caller must lock mu.
func (w *Window) find(s Slot) *entry {
	if w.sealed || s < w.first || s-w.first >= Slot(len(w.entries)) {
		return nil
	}
	if e := &w.entries[s-w.first]; !e.done {
		return e
	}
	return nil
}

// Committed is the offset up to which everything is acknowledged.
func (w *Window) Committed() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.committed
}

// Span is a run of offsets, both ends included.
type Span struct{ First, Last int64 }

// Progress returns the committed offset and the runs of done entries beyond it, in order. With seal it also seals the
// window, like Seal.
func (w *Window) Progress(seal bool) (committed int64, beyond []Span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = w.sealed || seal
	inRun := false
	for _, e := range w.entries {
		switch {
		case !e.done:
			inRun = false
		case inRun:
			beyond[len(beyond)-1].Last = e.offset
		default:
			beyond = append(beyond, Span{First: e.offset, Last: e.offset})
			inRun = true
		}
	}
	return w.committed, beyond
}

// Restart removes every entry past the committed offset and returns that offset: deliveries continue after it, and
// older slots are void. Restart also removes done entries beyond a gap, because the restart repeats them: order
// matters more than an avoided repetition. It does nothing if the slot by is done or void, or if the window is
// sealed.
func (w *Window) Restart(by Slot) (after int64, restarted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.find(by) == nil {
		return w.committed, false
	}
	w.drop(len(w.entries))
	w.pending, w.bytes = 0, 0
	return w.committed, true
}

// Seal ends the window and returns the final committed offset. Nothing moves it afterwards.
func (w *Window) Seal() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = true
	return w.committed
}
