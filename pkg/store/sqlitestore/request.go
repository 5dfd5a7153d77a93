package sqlitestore

import (
	"context"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
)

// request is one write for the writer.
type request struct {
	ctx context.Context
	// rows and bytes are the approximate size of the request in its group.
	rows, bytes int
	// apply runs inside the group's transaction and sets the request's answers. It may run again in a second
	// transaction if the first one failed. It returns only errors of the database; refusals are answers.
	apply func(*conn) error
	done  chan error

	// mu is held while apply runs, so that the caller does not return while apply reads the caller's memory.
	mu    sync.Mutex
	taken bool
	gone  bool
}

// write sends a request to the writer and waits for its commit.
func (s *Store) write(ctx context.Context, op string, rows, bytes int, apply func(*conn) error) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	r := &request{ctx: ctx, rows: rows, bytes: bytes, apply: apply, done: make(chan error, 1)}
	select {
	case s.writer.queue <- r:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, notTaken(ctx.Err()))
	}
	var err error
	select {
	case err = <-r.done:
	case <-ctx.Done():
		err = r.leave()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// leave ends the wait for a request whose caller's context has ended.
func (r *request) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	if !r.taken {
		return notTaken(r.ctx.Err())
	}
	select {
	case err := <-r.done: // it was answered in the meantime
		return err
	default:
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, r.ctx.Err())
	}
}

// notTaken is the error of a request whose caller has stopped waiting before the writer began it.
func notTaken(why error) error {
	return fmt.Errorf("%w: request not started: %w", store.ErrUnavailable, why)
}

// run applies the request, unless its caller has returned.
func (r *request) run(c *conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || !r.taken && r.ctx.Err() != nil {
		return nil
	}
	r.taken = true
	return r.apply(c)
}

// answer answers the request; nil means committed.
func (r *request) answer(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !r.taken {
		err = notTaken(r.ctx.Err())
	}
	r.done <- err
}
