package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The names of the checks.
const (
	CheckSchema     = "schema"
	CheckStore      = "store"
	checkWrite      = "store write"
	checkClock      = "store clock"
	checkPartitions = "partitions"
)

const (
	reachAdvice   = "check --store and that the database runs; processes wait for it and continue without a restart"
	migrateAdvice = "run `" + store.MigrateCommand + "` with the newest release that runs, then start the processes"
)

// checkStore opens the store. The store is nil if it cannot be used.
func checkStore(ctx context.Context, o *Options) (store.Store, []Result) {
	unread := func(why string) []Result { return Skip(why, StoreChecks()...) }
	schema := Result{Check: CheckSchema, Status: OK, Found: "the store has no schema of its own"}
	if o.Schema != nil {
		s, err := within(ctx, o.Timeout, o.Schema)
		if err != nil {
			return nil, append([]Result{
				{Check: CheckStore, Status: Failed, Found: err.Error(), Advice: reachAdvice},
				{Check: CheckSchema, Status: Skipped, Found: "the store does not answer"},
			}, unread("the store does not answer")...)
		}
		schema.Found = fmt.Sprintf("version %d, this program supports up to %d", s.Version, s.Known)
		if err := s.Usable(); err != nil {
			schema.Status, schema.Found, schema.Advice = Failed, err.Error(), migrateAdvice
			return nil, append([]Result{{Check: CheckStore, Status: OK, Found: "the database answers"}, schema},
				unread("the schema cannot be used")...)
		}
	}
	began := time.Now()
	opened, err := within(ctx, o.Timeout, o.Store)
	if err == nil {
		_, err = within(ctx, o.Timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, opened.Ping(ctx) })
	}
	if err != nil {
		if opened != nil {
			closeStore(ctx, o, opened)
		}
		advice := reachAdvice
		if errors.Is(err, store.ErrFull) {
			advice = fullAdvice
		}
		return nil, append([]Result{{Check: CheckStore, Status: Failed, Found: err.Error(), Advice: advice}, schema},
			unread("the store cannot be used")...)
	}
	found := fmt.Sprintf("opened in %v", time.Since(began).Round(time.Millisecond))
	return opened, []Result{{Check: CheckStore, Status: OK, Found: found}, schema, storeClock(ctx, o, opened)}
}

// closeStore waits at most for Timeout. Its error is dropped, because nothing depends on it.
func closeStore(ctx context.Context, o *Options, s store.Store) {
	_, _ = within(ctx, o.Timeout, func(context.Context) (struct{}, error) { return struct{}{}, s.Close() })
}

const fullAdvice = "free disk space for the database; writes continue without a restart"

// clockBound is the longest reading that processes accept (I8), and wallBound the largest difference of the clocks that is not
// reported.
const (
	clockBound = 250 * time.Millisecond
	wallBound  = time.Second
	readings   = 3
)

// storeClock reads the store's clock. How long a reading takes decides whether processes can use it. The difference from
// this machine's clock delays no timer.
func storeClock(ctx context.Context, o *Options, s store.Store) Result {
	result := Result{Check: checkClock, Status: OK}
	fastest, offset := time.Duration(-1), time.Duration(0)
	for range readings {
		before, began := o.Clock(), time.Now()
		at, err := within(ctx, o.Timeout, s.Time)
		took, after := time.Since(began), o.Clock()
		if err != nil {
			return Result{
				Check: checkClock, Status: Failed, Found: err.Error(),
				Advice: "processes stop their work until they can read the clock: " + reachAdvice,
			}
		}
		if fastest < 0 || took < fastest {
			fastest, offset = took, least(at.At.Sub(after), at.At.Sub(before)+at.Within)
		}
	}
	result.Found = fmt.Sprintf("read in %v, %s", fastest.Round(time.Microsecond), ahead(offset))
	switch {
	case fastest >= clockBound:
		result.Status = Failed
		result.Advice = fmt.Sprintf("processes stop their work unless a reading takes less than %v: move them closer", clockBound)
	case offset.Abs() > wallBound:
		result.Status = Warning
		result.Advice = "timers follow the database's clock, so none is early or late by this; set the clocks by NTP, because " +
			"logs and the times of topic commands differ"
	}
	return result
}

// least returns the smallest absolute value in an interval.
func least(from, to time.Duration) time.Duration {
	switch {
	case from > 0:
		return from
	case to < 0:
		return to
	default:
		return 0
	}
}

func ahead(offset time.Duration) string {
	switch offset = offset.Round(time.Millisecond); {
	case offset > 0:
		return fmt.Sprintf("%v ahead of this machine's clock", offset)
	case offset < 0:
		return fmt.Sprintf("%v behind this machine's clock", -offset)
	default:
		return "as this machine's clock"
	}
}

// checkCluster checks the cluster record, and writes if there is one. It returns the stored number of partitions, and
// whether a process has ever started on the store.
func checkCluster(ctx context.Context, o *Options, s store.Store) (results []Result, partitions int, founded bool) {
	first, err := within(ctx, o.Timeout, func(ctx context.Context) (store.NamespacePage, error) { return s.ListNamespaces(ctx, "", 1) })
	switch {
	case err != nil:
		return append([]Result{{Check: checkPartitions, Status: Failed, Found: "read namespaces: " + err.Error(), Advice: reachAdvice}},
			Skip("namespaces cannot be read", checkWrite)...), o.Partitions, false
	case len(first.Namespaces) == 0: // Init would create the record
		return append([]Result{{
			Check: checkPartitions, Status: Warning, Found: "no process has started on this store yet",
			Advice: "start the processes: the first one creates the cluster with its --partitions",
		}}, Skip("there is no namespace to write to", checkWrite)...), o.Partitions, false
	}
	// The record exists, because a process creates it before its first namespace. So Init only reads.
	identity, err := within(ctx, o.Timeout, func(ctx context.Context) (store.Identity, error) {
		return s.Init(ctx, store.Identity{Partitions: o.Partitions, CreatedAt: o.Clock()})
	})
	result := Result{Check: checkPartitions, Status: OK, Found: strconv.Itoa(identity.Partitions) + ", as the setting"}
	switch {
	case err != nil:
		result = Result{Check: checkPartitions, Status: Failed, Found: "read the cluster record: " + err.Error(), Advice: reachAdvice}
		identity.Partitions = o.Partitions
	case identity.Partitions != o.Partitions:
		result.Status = Failed
		result.Found = fmt.Sprintf("the cluster has %d, the setting is %d", identity.Partitions, o.Partitions)
		result.Advice = fmt.Sprintf("set --partitions %d for every process: no process starts with another number", identity.Partitions)
	}
	return []Result{result, storeWrite(ctx, o, s, &first.Namespaces[0])}, identity.Partitions, true
}

// probePrefix begins the id of the timer that storeWrite creates.
const probePrefix = "timerbus-doctor-"

// storeWrite creates a timer for the year 9999 and deletes it.
func storeWrite(ctx context.Context, o *Options, s store.Store, ns *store.Namespace) Result {
	id := probePrefix + strconv.FormatUint(o.Random(), 16)
	ref := store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
	put := store.Put{
		Ref: ref, Namespace: ns.Name, ID: id, Revision: timer.NewRevisions(o.Clock, o.Random).Next(), OnConflict: store.Fail,
		Spec: timer.Spec{
			ExecuteAt: timer.MaxMillis, Deliver: timer.DeliverEvent,
			CallbackTimeout: timer.DefaultCallbackTimeout, Retry: timer.DefaultRetryPolicy(),
		},
	}
	began := time.Now()
	err := write(ctx, o, s, put)
	created := err == nil
	// After an unknown outcome the timer may exist. The deletion must also happen if ctx has ended.
	if created || errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, errNoAnswer) {
		deleted := write(context.WithoutCancel(ctx), o, s, store.Delete{Ref: ref})
		if created {
			err = deleted
		}
		if deleted != nil && !errors.Is(deleted, store.ErrNotFound) {
			return Result{
				Check: checkWrite, Status: Failed, Found: deleted.Error(),
				Advice: fmt.Sprintf("grant the user the rights of a process, and delete the timer %s in namespace %s, which may exist",
					id, ns.Name),
			}
		}
	}
	switch {
	case errors.Is(err, store.ErrFull):
		return Result{Check: checkWrite, Status: Failed, Found: err.Error(), Advice: fullAdvice}
	case err != nil:
		return Result{
			Check: checkWrite, Status: Failed, Found: err.Error(),
			Advice: "connect to the primary server, and grant the user the rights to read and write all tables",
		}
	}
	took := time.Since(began).Round(time.Millisecond)
	return Result{Check: checkWrite, Status: OK, Found: fmt.Sprintf("created and deleted a timer in %v", took)}
}

func write(ctx context.Context, o *Options, s store.Store, op store.Op) error {
	written, err := within(ctx, o.Timeout, func(ctx context.Context) ([]store.Written, error) {
		return s.Write(ctx, o.Clock(), []store.Op{op})
	})
	if err != nil {
		return err
	}
	return written[0].Err
}

// StoreChecks are the names of the checks that need an open store, in addition to CheckSchema and CheckStore.
func StoreChecks() []string { return []string{checkClock, checkPartitions, checkWrite} }
