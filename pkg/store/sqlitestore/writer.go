package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/store"
)

// writer is the only goroutine that writes. Each of its transactions takes all requests that have arrived during the
// previous commit, up to the bounds, and never waits for more. So a single request is committed immediately, and under
// load many requests share the cost of a commit.
type writer struct {
	db    *sql.DB
	conn  *conn // nil after a failure that may have left it in an unknown state
	queue chan *request
	// groupRows and groupBytes bound a group.
	groupRows, groupBytes int
	// full is set if a write has failed because the disk is full, and findRoom has not succeeded since.
	full atomic.Bool
	// afterCommit runs in the writer's goroutine, between transactions.
	afterCommit func(*conn)
}

// run processes requests until the queue is closed and empty.
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

// gather takes the waiting requests from the queue. A request that would exceed a bound is held for the next group.
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

// commit runs a group as one transaction, and answers its requests. If the transaction fails and was certainly not
// committed, each request is run in a separate transaction, so that a request that cannot succeed (or that does not fit
// on a full disk) does not make the others fail.
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

// transact runs requests in one transaction. again is set if a smaller transaction may succeed.
func (w *writer) transact(group []*request) (again bool, err error) {
	if w.conn == nil {
		if w.conn, err = connect(context.Background(), w.db); err != nil {
			return false, failed(err)
		}
	}
	// IMMEDIATE takes the write lock at the beginning, so that no later statement of the transaction fails because of
	// it.
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

// noteRoom records whether the error means that the disk is full.
func (w *writer) noteRoom(err error) {
	if noRoom(err) {
		w.full.Store(true)
	}
}

// rollback ends a failed transaction. SQLite rolls back some transactions itself, and then ROLLBACK fails; if it fails
// for any reason, the connection is replaced.
func (w *writer) rollback() {
	if _, err := w.conn.exec("ROLLBACK"); err != nil {
		w.reset()
	}
}

// reset closes the connection. The next transaction opens a new one.
func (w *writer) reset() {
	w.conn.discard()
	w.conn = nil
}
