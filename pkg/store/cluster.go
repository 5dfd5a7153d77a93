package store

import (
	"context"
	"errors"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Cluster is what main needs.
type Cluster interface {
	// Init makes the cluster record if there is none, and returns the one that is there, which may differ from what was wanted. The caller
	// compares the partition counts (ErrPartitions).
	Init(ctx context.Context, want Identity) (Identity, error)
	// Ping asks whether the database answers calls. After a write that failed for lack of room (ErrFull), it returns ErrFull
	// until the database has room for a timer.
	Ping(ctx context.Context) error
	// Time reads the database's clock, from which a Clock computes its own error (I8). It waits for no other call: not for a
	// connection that other calls use, and not for room. So only a slow network makes the answer slow, and a busy or full store
	// stops no process whose clock is right.
	Time(ctx context.Context) (Instant, error)
	// Close waits for running calls; later ones return ErrClosed.
	Close() error
}

// Instant is a time by a database's clock: not before At, and less than Within after At.
type Instant struct {
	At     timer.Millis
	Within time.Duration
}

// Identity is fixed when a cluster is made.
type Identity struct {
	// ID is random.
	ID timer.UUID
	// Partitions is the bus's partition count: a timer's partition depends on it.
	Partitions int
	CreatedAt  timer.Millis
}

// Census is a rare power, found through As: an engine that can count cheaply feeds the gauges.
type Census interface {
	Count(ctx context.Context, now timer.Millis) (Counts, error)
}

// Counts are of live rows.
type Counts struct {
	// Pending rows are neither finished nor parked. Overdue ones of them have due_at < now, or were postponed
	// with plannedAt < now. A row that is leased is being delivered, and not overdue until its lease ends.
	Pending, Overdue, Parked int64
	// OldestPlannedAt is the earliest of what Overdue compares: due_at of a pending row, or plannedAt of one that
	// is not leased or whose lease has ended (due_at < now). It is Never if there is none.
	OldestPlannedAt timer.Millis
}

// Exclusive is a rare power, found through As, of an engine whose database one process opens at a time: what is leased when
// that process starts was leased by a process that has ended.
type Exclusive interface {
	// Leased returns live rows that are not parked and whose leases end after now, at most limit of them.
	Leased(ctx context.Context, now timer.Millis, limit int) ([]Lease, error)
}

// Lease is a row lease.
type Lease struct {
	Ref Ref
	// Until is its end: the row's due_at.
	Until    timer.Millis
	Revision timer.Revision
}

// As finds a rare power of a store, also behind decorators that have `Unwrap() Store`.
func As[T any](s Store) (T, bool) {
	for {
		if power, ok := s.(T); ok {
			return power, true
		}
		decorator, ok := s.(interface{ Unwrap() Store })
		if !ok {
			var none T
			return none, false
		}
		s = decorator.Unwrap()
	}
}

// ErrPartitions says that the configuration and the cluster record disagree.
var ErrPartitions = errors.New("the cluster was made with another partition count")
