package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Cluster is the part that main uses.
type Cluster interface {
	// Init creates the cluster record if there is none, and returns the stored one, which may differ from want. The
	// caller compares the partition counts (ErrPartitions).
	Init(ctx context.Context, want Identity) (Identity, error)
	// Ping checks that the database answers calls. After a write that failed because the disk is full (ErrFull), it
	// returns ErrFull until the database has space for a timer.
	Ping(ctx context.Context) error
	// Time reads the database's clock. A Clock computes its own error from it (I8). It does not wait for other calls,
	// for a connection that other calls use, or for disk space. So only a slow network makes the answer slow, and a
	// busy or full store does not stop processes whose clocks are right.
	Time(ctx context.Context) (Instant, error)
	// Close waits for running calls. Later calls return ErrClosed.
	Close() error
}

// Instant is a reading of a database's clock. The clock's time was at least At and less than At + Within.
type Instant struct {
	At     timer.Millis
	Within time.Duration
}

// Identity is the cluster record. It never changes after the cluster is created.
type Identity struct {
	// ID is random.
	ID timer.UUID
	// Partitions is the bus's partition count. A timer's partition depends on it.
	Partitions int
	CreatedAt  timer.Millis
}

// Census is an optional capability, found through As, of engines that can count timers cheaply for the gauges.
type Census interface {
	Count(ctx context.Context, now timer.Millis) (Counts, error)
}

// Credentials is an optional capability, found through As, of engines whose user and password can change while they are open.
type Credentials interface {
	// SetCredentials makes new connections use a different user and password. It closes idle connections immediately and busy
	// ones at the end of their call, because servers do not close the connections of a revoked password. If the server refuses the
	// credentials, calls fail with ErrUnavailable until SetCredentials is called with correct ones.
	SetCredentials(*url.Userinfo)
}

// Counts are numbers of live rows, and of dead timers in history.
type Counts struct {
	// Pending rows are neither finished nor parked nor paused. Overdue counts the pending rows with due_at < now, and those that
	// were postponed with plannedAt < now. A leased row is being delivered, and does not count as overdue until its
	// lease ends.
	Pending, Overdue, Parked, Paused int64
	// OldestPlannedAt is the earliest time that Overdue compares: due_at of a pending row, or plannedAt of a row that
	// is not leased or whose lease has ended (due_at < now). It is Never if there is none.
	OldestPlannedAt timer.Millis
	// Dead are the timers without a live row that have the outcome "dead" in history. Rearm can start them again, except
	// those that were created again and ended as done since. It includes timers whose retention has ended until Purge
	// removes them. SQL engines look at 100,000 dead timers at most, so the number is exact only if there are no more.
	Dead int64
}

// Exclusive is an optional capability, found through As, of engines whose database only one process opens at a time.
// Every lease that exists when that process starts belongs to a process that has ended.
type Exclusive interface {
	// Leased returns live rows that are not parked and whose leases end after now, at most limit of them.
	Leased(ctx context.Context, now timer.Millis, limit int) ([]Lease, error)
}

// Lease is a row lease.
type Lease struct {
	Ref Ref
	// Until is when the lease ends: the row's due_at.
	Until    timer.Millis
	Revision timer.Revision
}

// As finds an optional capability of a store, also behind decorators that have `Unwrap() Store`.
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

// Shared reports whether several processes may use the store's database at the same time.
func Shared(s Store) bool {
	_, exclusive := As[Exclusive](s)
	return !exclusive
}

// Identify creates the cluster record if there is none, and returns the stored one. If the stored partition count is not
// partitions, the error wraps ErrPartitions. random returns random bits for the id of a new cluster.
func Identify(ctx context.Context, s Cluster, partitions int, now timer.Millis, random func() uint64) (Identity, error) {
	want := Identity{Partitions: partitions, CreatedAt: now}
	binary.BigEndian.PutUint64(want.ID[:8], random())
	binary.BigEndian.PutUint64(want.ID[8:], random())
	stored, err := s.Init(ctx, want)
	if err != nil {
		return Identity{}, fmt.Errorf("read the cluster record: %w", err)
	}
	if stored.Partitions != partitions {
		return Identity{}, fmt.Errorf("%w: the cluster has %d, the setting is %d; "+
			"the partition of a timer depends on this number, so set it to %d",
			ErrPartitions, stored.Partitions, partitions, stored.Partitions)
	}
	return stored, nil
}

// ErrPartitions means that the partition count of the configuration differs from that of the cluster record.
var ErrPartitions = errors.New("the cluster was created with a different partition count")
