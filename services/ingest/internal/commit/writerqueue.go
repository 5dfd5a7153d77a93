package commit

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/store"
)

type writerQueue struct {
	wake             chan struct{} // has a token if the writer must look at the queue
	maxOps, maxBytes int

	mu     sync.Mutex
	queue  []*entry
	bytes  int
	closed bool
}

// entry is one waiting operation.
type entry struct {
	op    store.Op
	size  int
	group *group
	state atomic.Int32
	// outcome is valid once state is answered.
	outcome Outcome
}

// The states of an entry. The writer changes queued to taken, the client changes it to withdrawn. The first one wins: a taken entry is
// written and then answered, a withdrawn one is not.
const (
	queued int32 = iota
	taken
	answered
	withdrawn
)

// answer sets the outcome. It is called at most once: by Submit if the queue refuses the entry, otherwise by the writer, unless the
// client withdraws the entry first.
func (e *entry) answer(o Outcome) {
	e.outcome = o
	e.state.Store(answered)
	e.group.entryDone()
}

// group counts the entries of one Submit that have no answer yet. done is closed when there are none.
type group struct {
	open atomic.Int32
	done chan struct{}
}

func (g *group) entryDone() {
	if g.open.Add(-1) == 0 {
		close(g.done)
	}
}

// add accepts all entries or none. An empty queue accepts any number and size.
func (l *writerQueue) add(entries []*entry) error {
	size := 0
	for _, e := range entries {
		size += e.size
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("%w: the service is stopping", store.ErrUnavailable)
	}
	if len(l.queue) > 0 && (len(l.queue)+len(entries) > l.maxOps || l.bytes+size > l.maxBytes) {
		return ErrFull
	}
	l.queue = append(l.queue, entries...)
	l.bytes += size
	l.signal()
	return nil
}

func (l *writerQueue) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.signal()
}

func (l *writerQueue) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // the token is already there
	}
}

func (l *writerQueue) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// take removes the next batch from the queue, and the withdrawn entries before its end. It returns at least one entry unless all
// are withdrawn. open is false if the queue is then closed and empty.
func (l *writerQueue) take(batch []*entry, maxOps, maxBytes int) (_ []*entry, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for _, e := range l.queue {
		if len(batch) == maxOps || (bytes+e.size > maxBytes && len(batch) > 0) {
			break
		}
		n++
		l.bytes -= e.size
		if e.state.CompareAndSwap(queued, taken) {
			batch = append(batch, e)
			bytes += e.size
		}
	}
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	return batch, !l.closed || rest > 0
}
