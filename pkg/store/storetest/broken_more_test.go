package storetest

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// --- namespaces that are not isolated

// everywhere is a block that contains the blocks of all namespaces of a subtest.
var everywhere = shard.Block{Base: 0, Count: 1 << 16}

// sharedList lists the timers of all namespaces.
type sharedList struct{ broken }

func (b *sharedList) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	q.Namespace.Shards = everywhere
	return b.Store.List(ctx, now, q)
}

func TestSuiteCatchesNamespacesThatSeeEachOther(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &sharedList{broken{Store: s}} },
		"Isolation/ListShowsItsOwnNamespace", "Isolation/EveryWriteLeavesTheOtherNamespaceAsItWas")
}

// sameBlock starts every namespace at shard 0, as in designs that number shards per namespace.
type sameBlock struct{ broken }

func (b *sameBlock) CreateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	out, err := b.Store.CreateNamespace(ctx, ns)
	out.Shards.Base = 0
	return out, err
}

func TestSuiteCatchesNamespacesThatShareShards(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &sameBlock{broken{Store: s}} },
		"Namespaces/BlocksNeverOverlap", "Isolation/ListShowsItsOwnNamespace")
}

// sharedIDs identifies rows by id only, without the namespace.
type sharedIDs struct {
	broken

	ids map[timer.UUID]string
}

func (b *sharedIDs) shared(ref store.Ref) store.Ref {
	if id, ok := b.ids[ref.UUID]; ok {
		return store.Ref{UUID: timer.UUIDOf("", id)}
	}
	return ref
}

func (b *sharedIDs) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops = slices.Clone(ops)
	for i, op := range ops {
		switch o := op.(type) {
		case store.Put:
			b.ids[o.Ref.UUID] = o.ID
			o.Ref = b.shared(o.Ref)
			ops[i] = o
		case store.Update:
			o.Ref = b.shared(o.Ref)
			ops[i] = o
		case store.Delete:
			o.Ref = b.shared(o.Ref)
			ops[i] = o
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func (b *sharedIDs) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Store.Get(ctx, now, b.shared(ref))
}

func TestSuiteCatchesTimersKeptByIDAlone(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &sharedIDs{broken{Store: s}, map[timer.UUID]string{}}
	}, "Isolation/TheSameIdsInTwoNamespacesNeverMeet")
}

// commonLimit applies the limit of the outbox to the entries of all shards, before it selects those in the query.
type commonLimit struct{ broken }

func (b *commonLimit) Outbox(ctx context.Context, asked []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	all, err := b.Store.Outbox(ctx, everywhere.In(0, 1), before, 1000)
	slices.SortStableFunc(all, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	all = all[:min(limit, len(all))]
	return slices.DeleteFunc(all, func(n store.OutboxEntry) bool { return !slices.Contains(asked, n.ID.Ref.Shard) }), err
}

func TestSuiteCatchesShardsThatHideOutboxEntriesOfOthers(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &commonLimit{broken{Store: s}} },
		"Outbox/OtherShardsDoNotUseTheLimit", "Outbox/EveryShardMakesProgress")
}

// newestFirst returns the newest outbox entries of a shard first, so the oldest ones may never be published.
type newestFirst struct{ broken }

func (b *newestFirst) Outbox(ctx context.Context, asked []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	all, err := b.Store.Outbox(ctx, asked, before, 1000)
	slices.SortStableFunc(all, func(a, b store.OutboxEntry) int { return cmp.Compare(b.MarkedAt, a.MarkedAt) })
	return all[:min(limit, len(all))], err
}

func TestSuiteCatchesAnOutboxWithTheNewestFirst(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &newestFirst{broken{Store: s}} },
		"Outbox/OldestFirstWithinAShard", "Outbox/OtherShardsDoNotUseTheLimit")
}

// sharedOutbox returns the outbox entries of all shards.
type sharedOutbox struct{ broken }

func (b *sharedOutbox) Outbox(ctx context.Context, _ []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	return b.Store.Outbox(ctx, everywhere.In(0, 1), before, limit)
}

func TestSuiteCatchesOutboxEntriesOfOtherNamespaces(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &sharedOutbox{broken{Store: s}} },
		"Outbox/OnlyTheShardsAsked", "Isolation/OutboxIsOfTheShardsAsked")
}

// --- other mistakes of designs of this kind

// rewrite changes operations before it forwards them.
type rewrite struct {
	broken

	change func(b *broken, ctx context.Context, now timer.Millis, op store.Op) store.Op
	when   func(now timer.Millis) timer.Millis
}

func rewriting(change func(b *broken, ctx context.Context, now timer.Millis, op store.Op) store.Op) func(*memstore.Store) store.Store {
	return func(s *memstore.Store) store.Store { return &rewrite{broken: broken{Store: s}, change: change} }
}

func (b *rewrite) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops = slices.Clone(ops)
	for i := range ops {
		if b.change != nil {
			ops[i] = b.change(&b.broken, ctx, now, ops[i])
		}
	}
	if b.when != nil {
		now = b.when(now)
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesUpdatesThatBlankFields(t *testing.T) {
	catches(t, rewriting(func(_ *broken, _ context.Context, _ timer.Millis, op store.Op) store.Op {
		if u, ok := op.(store.Update); ok && u.Patch.Payload == nil {
			u.Patch.Payload = new([]byte)
			return u
		}
		return op
	}), "Update/AnEmptyPatchStartsANewGenerationAndKeepsTheRest", "Update/EachFieldByItself", "Concurrency/UpdatesOfDifferentFieldsAllSurvive")
}

func TestSuiteCatchesCreatesThatFireAgain(t *testing.T) {
	catches(t, rewriting(func(b *broken, ctx context.Context, _ timer.Millis, op store.Op) store.Op {
		if p, ok := op.(store.Put); ok {
			if _, live := b.current(ctx, p.Ref); !live {
				p.OnConflict = store.Replace // history is not checked
			}
			return p
		}
		return op
	}), "Put/KeepCountsFinishedTimersUntilTheyExpire", "Put/FailCountsFinishedTimersUntilTheyExpire")
}

func TestSuiteCatchesAPutThatSilencesADeath(t *testing.T) {
	catches(t, rewriting(func(b *broken, ctx context.Context, _ timer.Millis, op store.Op) store.Op {
		p, ok := op.(store.Put)
		if !ok {
			return op
		}
		entries, err := b.Outbox(ctx, []shard.ID{p.Ref.Shard}, timer.MaxMillis, 1000)
		if err != nil {
			return op
		}
		for _, n := range entries {
			if n.ID.Ref == p.Ref {
				_ = b.RemoveFromOutbox(ctx, []store.OutboxID{n.ID})
			}
		}
		return op
	}), "I14_PutRearmAndPurgeLeaveADeadMark")
}

func TestSuiteCatchesAnEngineThatReadsItsClock(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store {
		return &rewrite{broken: broken{Store: s}, when: func(timer.Millis) timer.Millis { return timer.SystemClock() }}
	}, "Common/TheTimeIsTheCallers", "Common/EveryWriteSetsUpdatedAt")
}

// eagerCount counts a start whatever the revision is.
type eagerCount struct{ broken }

func (b *eagerCount) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	checks = slices.Clone(checks)
	for i := range checks {
		if row, ok := b.current(ctx, checks[i].Ref); ok {
			checks[i].Revision = row.Revision
		}
	}
	return b.Store.Current(ctx, checks)
}

func TestSuiteCatchesStartsCountedWithoutTheRevision(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &eagerCount{broken{Store: s}} },
		"I13_CountStartNeedsTheRevision")
}

// movingCount changes the revision when it counts a start.
type movingCount struct{ broken }

func (b *movingCount) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := b.Store.Current(ctx, checks)
	for i := range out {
		if t := out[i].Timer; out[i].Counted {
			_, err := b.Finish(ctx, t.UpdatedAt+1, []store.Finish{{
				Ref: checks[i].Ref, Kind: store.FinishPostponed, If: store.Guard{Revision: t.Revision}, Next: t.Revision, NextAt: t.DueAt,
			}})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, err
}

func TestSuiteCatchesAStartCountThatTouchesUpdatedAt(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &movingCount{broken{Store: s}} },
		"I13_CountStartGrowsStartsAndNothingElse")
}

// blindPosition moves a position without comparing it.
type blindPosition struct{ broken }

func (b *blindPosition) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, m store.Move) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from, err := b.Position(ctx, m.Topic, m.Partition)
	if err != nil {
		return nil, err
	}
	m.From = from
	return b.Store.WriteAt(ctx, now, ops, m)
}

func TestSuiteCatchesAPositionWithoutCompareAndSet(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &blindPosition{broken{Store: s}} },
		"Positions/AnotherStoredPositionWritesNothing", "Positions/OfManyThatMoveFromTheSamePlaceOneWins")
}

// halfPosition writes the operations in a separate transaction.
type halfPosition struct{ broken }

func (b *halfPosition) WriteAt(ctx context.Context, now timer.Millis, ops []store.Op, m store.Move) ([]store.Written, error) {
	out, err := b.Write(ctx, now, ops)
	if err != nil {
		return nil, err
	}
	if _, err := b.Store.WriteAt(ctx, now, nil, m); err != nil {
		return nil, err
	}
	return out, nil
}

func TestSuiteCatchesAPositionBesideItsBatch(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &halfPosition{broken{Store: s}} },
		"Positions/AnotherStoredPositionWritesNothing")
}

// offsetPages orders a list by due time and uses the row number as cursor.
type offsetPages struct{ broken }

func (b *offsetPages) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	var from uint64
	if len(q.After) == 8 {
		from = binary.BigEndian.Uint64(q.After)
	} else if len(q.After) != 0 {
		return store.Page{}, store.ErrInvalid
	}
	limit := q.Limit
	q.After, q.Limit = nil, 1000
	page, err := b.Store.List(ctx, now, q)
	if err != nil {
		return store.Page{}, err
	}
	slices.SortStableFunc(page.Timers, func(a, b timer.Timer) int { return int(a.DueAt - b.DueAt) })
	page.Timers = page.Timers[min(from, uint64(len(page.Timers))):]
	page.Next = nil
	if len(page.Timers) > limit {
		page.Timers = page.Timers[:limit]
		page.Next = binary.BigEndian.AppendUint64(nil, from+uint64(limit))
	}
	return page, nil
}

func TestSuiteCatchesPagesByNumber(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &offsetPages{broken{Store: s}} },
		"List/AWalkIsStableWhileTimersComeAndGo")
}

// greedyPurge removes the outbox entries of expired rows, so that it can delete the rows.
type greedyPurge struct{ broken }

func (b *greedyPurge) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	entries, err := b.Outbox(ctx, everywhere.In(0, 1), timer.MaxMillis, 1000)
	if err != nil {
		return 0, err
	}
	for _, n := range entries {
		if err := b.RemoveFromOutbox(ctx, []store.OutboxID{n.ID}); err != nil {
			return 0, err
		}
	}
	return b.Store.Purge(ctx, now, limit)
}

func TestSuiteCatchesAPurgeOfUnpublishedDeaths(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &greedyPurge{broken{Store: s}} },
		"Purge/LeavesMarkedRows", "I14_PutRearmAndPurgeLeaveADeadMark")
}

// sharedPayload returns the caller's own slice.
type sharedPayload struct{ broken }

func (b *sharedPayload) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	out, err := b.Store.Write(ctx, now, ops)
	for i := range out {
		if put, ok := ops[i].(store.Put); ok && out[i].Err == nil && !out[i].Kept {
			out[i].Timer.Payload = put.Spec.Payload
		}
	}
	return out, err
}

func TestSuiteCatchesSharedMemory(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &sharedPayload{broken{Store: s}} },
		"Common/NothingPassedInIsKeptOrChanged")
}

// watermarkAsNext makes Inspect return the watermark as NextDueAt.
type watermarkAsNext struct{ broken }

func (b *watermarkAsNext) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	out, err := b.Store.Inspect(ctx, shards)
	for i := range out {
		out[i].NextDueAt = out[i].Watermark.DueAt
	}
	return out, err
}

func TestSuiteCatchesAnInspectionThatNeverLooksAtRows(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &watermarkAsNext{broken{Store: s}} },
		"Inspect/TellsWhenTheNextRowIsDue")
}

// headersOutlive keeps the headers of a timer when it is replaced by one without headers.
type headersOutlive struct{ broken }

func (b *headersOutlive) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ops = slices.Clone(ops)
	for i, op := range ops {
		put, ok := op.(store.Put)
		if !ok || put.Spec.Headers != "" {
			continue
		}
		if row, there := b.current(ctx, put.Ref); there {
			put.Spec.Headers = row.Headers
			ops[i] = put
		}
	}
	return b.Store.Write(ctx, now, ops)
}

func TestSuiteCatchesHeadersThatOutliveAReplacement(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &headersOutlive{broken{Store: s}} },
		"Put/ReplaceKeepsCreatedAtAndNothingElse")
}

// bareDead drops the headers of dead timers, so a re-armed timer would have none.
type bareDead struct{ broken }

func (b *bareDead) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	t, err := b.Store.Get(ctx, now, ref)
	if t.Status == timer.StatusDead {
		t.Headers = ""
	}
	return t, err
}

func (b *bareDead) Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error) {
	out, err := b.Store.Rearm(ctx, now, items)
	for i := range out {
		if out[i].Prior == nil {
			out[i].Timer.Headers = ""
		}
	}
	return out, err
}

func TestSuiteCatchesDeadTimersWithoutTheirHeaders(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &bareDead{broken{Store: s}} },
		"Finish/ADeadTimerKeepsAllOfItself", "Rearm/ADeadTimerLivesAgain")
}

// oldSecret updates only the first settings that the contract had, and not the later ones.
type oldSecret struct{ broken }

func (b *oldSecret) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, err := b.GetNamespace(ctx, ns.Name)
	if err != nil {
		return old, err
	}
	ns.Settings.Secrets = old.Settings.Secrets
	return b.Store.UpdateNamespace(ctx, ns)
}

func TestSuiteCatchesAnUpdateThatForgetsSecrets(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &oldSecret{broken{Store: s}} },
		"Namespaces/EverySettingSurvives")
}

// oldAuth updates all settings but the authentication of callbacks.
type oldAuth struct{ broken }

func (b *oldAuth) UpdateNamespace(ctx context.Context, ns store.Namespace) (store.Namespace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old, err := b.GetNamespace(ctx, ns.Name)
	if err != nil {
		return old, err
	}
	ns.Settings.Auth = old.Settings.Auth
	return b.Store.UpdateNamespace(ctx, ns)
}

func TestSuiteCatchesAnUpdateThatForgetsCallbackAuth(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &oldAuth{broken{Store: s}} },
		"Namespaces/EverySettingSurvives")
}

// doneKeeping changes whether history keeps the payloads of done timers.
type doneKeeping struct {
	broken

	keep bool
}

func (b *doneKeeping) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	items = slices.Clone(items)
	for i := range items {
		items[i].Record.KeepPayload = b.keep
	}
	return b.Store.Finish(ctx, now, items)
}

func TestSuiteCatchesPayloadsThatAreNotKept(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &doneKeeping{broken: broken{Store: s}} }, "Rearm/ADoneTimerWhosePayloadIsKept")
}

func TestSuiteCatchesPayloadsThatAreAlwaysKept(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &doneKeeping{broken: broken{Store: s}, keep: true} },
		"Rearm/ADoneTimerWithoutItsPayloadIsErrNotFound")
}
