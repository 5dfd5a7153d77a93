package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/store"
)

// writer is the one goroutine that writes. Each of its transactions takes all requests that gathered
// while the last one was committed, up to the bounds, and never waits for more: alone, a request is
// committed at once, and under load a commit's cost is shared.
type writer struct {
	db    *sql.DB
	conn  *conn // nil after a failure that may have left it in an unknown state
	queue chan *request
	// groupRows and groupBytes bound a group.
	groupRows, groupBytes int
	// full: a write has failed for lack of room, and findRoom has found none since.
	full atomic.Bool
	// afterCommit runs in the writer's goroutine, between transactions.
	afterCommit func(*conn)
}

// run works until the queue is closed and empty.
func (w *writer) run() {
	var held *request
	for {
		r := held
		if r == nil {
			var open bool
			if r, open = <-w.queue; !open {
				return
			}
		}
		var group []*request
		group, held = w.gather(r)
		w.commit(group)
		if w.conn != nil {
			w.afterCommit(w.conn)
		}
	}
}

// gather takes what waits in the queue. The request that would go beyond a bound is held for the next
// group.
func (w *writer) gather(first *request) (group []*request, held *request) {
	group = []*request{first}
	rows, bytes := first.rows, first.bytes
	for {
		select {
		case r, open := <-w.queue:
			if !open {
				return group, nil
			}
			rows, bytes = rows+r.rows, bytes+r.bytes
			if rows > w.groupRows || bytes > w.groupBytes {
				return group, r
			}
			group = append(group, r)
		default:
			return group, nil
		}
	}
}

// commit runs a group as one transaction, and answers. If that fails and certainly left nothing behind,
// each request gets a transaction of its own, so that one that cannot succeed (or that a full disk has
// no room for) does not take the others with it.
func (w *writer) commit(group []*request) {
	again, err := w.transact(group)
	if err != nil && again && len(group) > 1 {
		for _, r := range group {
			_, err := w.transact([]*request{r})
			r.answer(err)
		}
		return
	}
	for _, r := range group {
		r.answer(err)
	}
}

// transact runs requests in one transaction. again means that a smaller transaction may succeed.
func (w *writer) transact(group []*request) (again bool, err error) {
	if w.conn == nil {
		if w.conn, err = connect(context.Background(), w.db); err != nil {
			return false, failed(err)
		}
	}
	// IMMEDIATE takes the write lock now, so that nothing of the transaction can fail for want of it.
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		w.reset()
		return false, failed(err)
	}
	for _, r := range group {
		if err := r.run(w.conn); err != nil {
			w.noteRoom(err)
			w.rollback()
			return true, failed(err)
		}
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		w.noteRoom(err)
		if notCommitted(err) {
			w.rollback()
			return true, failed(err)
		}
		w.reset()
		return false, fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
	}
	return false, nil
}

// noteRoom notes that there was none.
func (w *writer) noteRoom(err error) {
	if noRoom(err) {
		w.full.Store(true)
	}
}

// rollback ends a failed transaction. SQLite has ended some by itself; a connection that says so, or
// that cannot roll back, is exchanged.
func (w *writer) rollback() {
	if _, err := w.conn.exec("ROLLBACK"); err != nil {
		w.reset()
	}
}

// reset throws the connection away; the next transaction gets a new one.
func (w *writer) reset() {
	w.conn.discard()
	w.conn = nil
}
