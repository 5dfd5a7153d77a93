package window

import "sync"

// SpanFactor bounds how far a window reaches beyond its first unacknowledged entry: SpanFactor ×
// limit. Without it one stuck delivery would let the window, and what a take-over repeats, grow for
// as long as it is stuck.
const SpanFactor = 16

// Slot names one entry of a Window for Done. Slots are never used twice, so that an acknowledgement
// from before a Restart cannot be taken for one of after it.
type Slot uint64

// Window tracks the deliveries of one session. It is safe for concurrent use.
type Window struct {
	mu        sync.Mutex
	limit     int
	maxBytes  int
	entries   []entry // entries[0] is slot first
	first     Slot
	pending   int // entries not done
	bytes     int // of the entries not done
	committed int64
	sealed    bool
}

type entry struct {
	offset int64
	size   int
	done   bool
}

// New makes a window for at most limit unacknowledged entries, of about maxBytes, that follow the offset committed.
func New(limit, maxBytes int, committed int64) *Window {
	return &Window{limit: limit, maxBytes: maxBytes, committed: committed}
}

// Push enters the next offset, which must be larger than all before it; offsets may leave gaps.
// It reports false, and enters nothing, when the window has its number of entries or is sealed. The bytes only make
// it Full: a message that has been read already is not read again for them.
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

// Full reports whether nothing more is to be read.
func (w *Window) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crowded() || w.bytes >= w.maxBytes
}

func (w *Window) crowded() bool {
	return w.pending >= w.limit || len(w.entries) >= SpanFactor*w.limit
}

// Pending counts the entries not yet done, and their bytes.
func (w *Window) Pending() (entries, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending, w.bytes
}

// Done marks an entry and reports whether the committed offset moved. For a slot that is done,
// from before a Restart, or in a sealed window it does nothing: whether the window is sealed and
// the mark itself are decided under one lock, so that no acknowledgement slips in after a revoke
// has read the final offset.
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

// drop removes the first n entries. Once the backing array is mostly behind the slice, append moves
// what is left into a fresh one, so the memory stays proportional to the span.
func (w *Window) drop(n int) {
	w.entries = w.entries[n:]
	w.first += Slot(n)
}

// find returns the entry of a slot that still counts; w.mu is held.
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

// Progress tells how far the window is: the committed offset, and the runs of done entries beyond it,
// in order. With seal it is final, as with Seal.
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

// Restart forgets every entry past the committed offset and returns that offset: deliveries go on
// after it, and older slots are void. Entries done beyond a gap are forgotten too, since a restart
// repeats them: order is worth more than a saved repetition. It is asked for by one entry, and does
// nothing if that one does not count any more.
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
