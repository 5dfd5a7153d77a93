package commit

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/store"
)

// lane is a queue with one writer.
type lane struct {
	wake             chan struct{} // holds at most one token: "look again"
	maxOps, maxBytes int

	mu     sync.Mutex
	queue  []*entry
	bytes  int
	closed bool
}

// entry is one operation that waits.
type entry struct {
	op    store.Op
	size  int
	state atomic.Int32
	done  chan outcome
}

type outcome struct {
	Result
	err error
}

// The states of an entry. Who moves it from queued decides: the writer, or the client that gave up.
const (
	queued int32 = iota
	taken
	withdrawn
)

func (l *lane) add(e *entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("%w: the service is stopping", store.ErrUnavailable)
	}
	if len(l.queue) >= l.maxOps || (l.bytes+e.size > l.maxBytes && len(l.queue) > 0) {
		return ErrFull
	}
	l.queue = append(l.queue, e)
	l.bytes += e.size
	l.signal()
	return nil
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.signal()
}

func (l *lane) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // a token is there already
	}
}

func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// take moves the next batch out of the queue, at least one entry if there is one. open is false once
// nothing will ever come.
func (l *lane) take(batch []*entry, maxOps, maxBytes int) (_ []*entry, open bool) {
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
