package faultstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// faulty is the decorator. Its methods classify each call: read or write, batch or not.
type faulty struct {
	inner  store.Store
	faults *Faults
}

// Unwrap returns the inner store, for store.As.
func (s *faulty) Unwrap() store.Store { return s.inner }

// Close implements store.Cluster. It never fails by plan.
func (s *faulty) Close() error { return s.inner.Close() }

func read[T any](ctx context.Context, s *faulty, method string, do func(ctx context.Context) (T, error)) (T, error) {
	return through(ctx, s.faults, call[T]{method: method, do: do})
}

func write[T any](ctx context.Context, s *faulty, method string, do func(ctx context.Context) (T, error)) (T, error) {
	return through(ctx, s.faults, call[T]{method: method, writes: true, do: do})
}

// batch is a write of independent items. It copies the slice, because the call may be applied after the caller got its
// answer.
func batch[I, T any](
	ctx context.Context, s *faulty, method string, items []I, do func(ctx context.Context, items []I) (T, error),
) (T, error) {
	if len(items) == 0 {
		return do(ctx, items)
	}
	own := slices.Clone(items)
	return through(ctx, s.faults, call[T]{
		method: method,
		writes: true,
		do:     func(ctx context.Context) (T, error) { return do(ctx, own) },
		partly: func(ctx context.Context) (T, error) { return do(ctx, own[:len(own)/2]) },
	})
}

// Write implements store.Timers.
func (s *faulty) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	return batch(ctx, s, "Write", copied(ops), func(ctx context.Context, ops []store.Op) ([]store.Written, error) {
		return s.inner.Write(ctx, now, ops)
	})
}

// copied returns the operations with copies of their payloads.
func copied(ops []store.Op) []store.Op {
	out := slices.Clone(ops)
	for i, op := range out {
		switch o := op.(type) {
		case store.Put:
			o.Spec.Payload = slices.Clone(o.Spec.Payload)
			out[i] = o
		case store.Update:
			if o.Patch.Payload != nil {
				o.Patch.Payload = new(slices.Clone(*o.Patch.Payload))
				out[i] = o
			}
		}
	}
	return out
}

// Get implements store.Timers.
func (s *faulty) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	return read(ctx, s, "Get", func(ctx context.Context) (timer.Timer, error) { return s.inner.Get(ctx, now, ref) })
}

// List implements store.Timers.
func (s *faulty) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	return read(ctx, s, "List", func(ctx context.Context) (store.Page, error) { return s.inner.List(ctx, now, q) })
}

// DueKeys implements store.Timers.
func (s *faulty) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	return read(ctx, s, "DueKeys", func(ctx context.Context) (store.DueKeys, error) { return s.inner.DueKeys(ctx, q) })
}

// CountLive implements store.Timers.
func (s *faulty) CountLive(ctx context.Context, ns store.Namespace, limit int) (int, error) {
	return read(ctx, s, "CountLive", func(ctx context.Context) (int, error) { return s.inner.CountLive(ctx, ns, limit) })
}

// History implements store.Timers.
func (s *faulty) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	return read(ctx, s, "History", func(ctx context.Context) ([]store.HistoryEntry, error) {
		return s.inner.History(ctx, now, ref, limit)
	})
}

// Claim implements store.Shards.
func (s *faulty) Claim(ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	return batch(ctx, s, "Claim", shards, func(ctx context.Context, shards []shard.ID) ([]store.Claimed, error) {
		return s.inner.Claim(ctx, now, owner, shards)
	})
}

// Release implements store.Shards.
func (s *faulty) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	return batch(ctx, s, "Release", items, func(ctx context.Context, items []store.Release) ([]error, error) {
		return s.inner.Release(ctx, now, items)
	})
}

// Due implements store.Shards.
func (s *faulty) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	if len(q.Shards) == 0 {
		return s.inner.Due(ctx, q)
	}
	return read(ctx, s, "Due", func(ctx context.Context) ([]store.DueShard, error) { return s.inner.Due(ctx, q) })
}

// Overdue implements store.Shards.
func (s *faulty) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if len(q.Shards) == 0 {
		return s.inner.Overdue(ctx, q)
	}
	return read(ctx, s, "Overdue", func(ctx context.Context) ([]store.OverdueShard, error) { return s.inner.Overdue(ctx, q) })
}

// Advance implements store.Shards.
func (s *faulty) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	return batch(ctx, s, "Advance", items, func(ctx context.Context, items []store.Advance) ([]error, error) {
		return s.inner.Advance(ctx, now, items)
	})
}

// Outbox implements store.Shards.
func (s *faulty) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return s.inner.Outbox(ctx, shards, before, limit)
	}
	return read(ctx, s, "Outbox", func(ctx context.Context) ([]store.OutboxEntry, error) {
		return s.inner.Outbox(ctx, shards, before, limit)
	})
}

// RemoveFromOutbox implements store.Shards.
func (s *faulty) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	_, err := batch(ctx, s, "RemoveFromOutbox", ids, func(ctx context.Context, ids []store.OutboxID) (struct{}, error) {
		return struct{}{}, s.inner.RemoveFromOutbox(ctx, ids)
	})
	return err
}

// Inspect implements store.Shards.
func (s *faulty) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	return read(ctx, s, "Inspect", func(ctx context.Context) ([]store.ShardState, error) { return s.inner.Inspect(ctx, shards) })
}

// Current implements store.Outcomes. It is a write if it counts starts.
func (s *faulty) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	if slices.ContainsFunc(checks, func(c store.Check) bool { return c.CountStart }) {
		return batch(ctx, s, "Current", checks, s.inner.Current)
	}
	if len(checks) == 0 {
		return s.inner.Current(ctx, checks)
	}
	return read(ctx, s, "Current", func(ctx context.Context) ([]store.Checked, error) { return s.inner.Current(ctx, checks) })
}

// Finish implements store.Outcomes.
func (s *faulty) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	return batch(ctx, s, "Finish", items, func(ctx context.Context, items []store.Finish) ([]error, error) {
		return s.inner.Finish(ctx, now, items)
	})
}

// Rearm implements store.Outcomes.
func (s *faulty) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	return batch(ctx, s, "Rearm", items, func(ctx context.Context, items []store.Rearm) ([]store.Written, error) {
		return s.inner.Rearm(ctx, now, items)
	})
}

// Forget implements store.Outcomes.
func (s *faulty) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	return batch(ctx, s, "Forget", items, func(ctx context.Context, items []store.Forget) ([]error, error) {
		return s.inner.Forget(ctx, now, items)
	})
}

// Purge implements store.Outcomes.
func (s *faulty) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	return write(ctx, s, "Purge", func(ctx context.Context) (int, error) { return s.inner.Purge(ctx, now, limit) })
}

// CreateNamespace implements store.Namespaces.
func (s *faulty) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	return write(ctx, s, "CreateNamespace", func(ctx context.Context) (store.Namespace, error) {
		return s.inner.CreateNamespace(ctx, ns)
	})
}

// GetNamespace implements store.Namespaces.
func (s *faulty) GetNamespace(ctx context.Context, name string) (store.Namespace, error) {
	return read(ctx, s, "GetNamespace", func(ctx context.Context) (store.Namespace, error) { return s.inner.GetNamespace(ctx, name) })
}

// ListNamespaces implements store.Namespaces.
func (s *faulty) ListNamespaces(ctx context.Context, after string, limit int) (store.NamespacePage, error) {
	return read(ctx, s, "ListNamespaces", func(ctx context.Context) (store.NamespacePage, error) {
		return s.inner.ListNamespaces(ctx, after, limit)
	})
}

// UpdateNamespace implements store.Namespaces.
func (s *faulty) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	return write(ctx, s, "UpdateNamespace", func(ctx context.Context) (store.Namespace, error) {
		return s.inner.UpdateNamespace(ctx, ns)
	})
}

// DeleteNamespace implements store.Namespaces.
func (s *faulty) DeleteNamespace(ctx context.Context, ns store.Namespace) error {
	_, err := write(ctx, s, "DeleteNamespace", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.inner.DeleteNamespace(ctx, ns)
	})
	return err
}

// Init implements store.Cluster.
func (s *faulty) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	return write(ctx, s, "Init", func(ctx context.Context) (store.Identity, error) { return s.inner.Init(ctx, want) })
}

// Ping implements store.Cluster.
func (s *faulty) Ping(ctx context.Context) error {
	_, err := read(ctx, s, "Ping", func(ctx context.Context) (struct{}, error) { return struct{}{}, s.inner.Ping(ctx) })
	return err
}

// Time implements store.Cluster.
func (s *faulty) Time(ctx context.Context) (store.Instant, error) {
	return read(ctx, s, "Time", s.inner.Time)
}
