package store

import (
	"context"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Shards is what the scheduler needs. Every statement carries a Claim; one that is not the shard's
// newest, or that was released, gets ErrFenced and neither writes nor learns anything (I5). The fence
// is part of the statement itself, never a read before it.
type Shards interface {
	// Claim takes the shards over, whoever holds them: version + 1, this owner. A shard without a
	// row gets one, with the watermark at MinKey. Shards of one call are claimed each by itself.
	//
	// PostgreSQL: one INSERT … ON CONFLICT (shard) DO UPDATE SET version = version + 1 … RETURNING
	// over unnest, and a SELECT of the watermarks in the same transaction.
	// DynamoDB: one UpdateItem (ADD version) with RETURN ALL_NEW a shard, in parallel.
	Claim(ctx context.Context, now timer.Millis, owner Owner, shards []shard.ID) ([]Claimed, error)

	// Release gives claims up in good order. It raises the shard's Published to the item's key
	// (never lowers it) and leaves the version, so that the released claim is fenced too. Item
	// answers: nil or ErrFenced.
	//
	// PostgreSQL: one UPDATE … FROM unnest WHERE version and owner match. DynamoDB: a conditional
	// UpdateItem each.
	Release(ctx context.Context, now timer.Millis, items []Release) ([]error, error)

	// Due returns, for each shard, the rows that are not parked, with key > After and due_at ≤
	// Horizon, ordered by key, at most PerShard of a shard and Total in all; shards are filled in the
	// order asked, and one that gets nothing for lack of room is cut. It also tells when each shard's
	// next row is due.
	//
	// PostgreSQL: one LATERAL over unnest(shards, versions, cursors), each an index range with LIMIT
	// PerShard + 1. DynamoDB: one consistent Query of the index a shard, the shard record's claim
	// read in the same round; only shards that have work or are due to be looked at are asked.
	Due(ctx context.Context, q DueQuery) ([]DueShard, error)

	// Overdue returns the rows that are not parked, with due_at < Before and From < key ≤ Upto,
	// ordered by key within a shard, shards in the order asked, at most Limit in all. It keeps no
	// cursor of its own: the same question gets the same rows again while they are there (I4).
	//
	// PostgreSQL: as Due, with both bounds. DynamoDB: one Query a shard.
	Overdue(ctx context.Context, q OverdueQuery) ([]OverdueShard, error)

	// Advance moves watermarks forward. A watermark never goes back: an earlier one than stored is
	// answered nil and changes nothing. It does not touch Published. Item answers: nil or ErrFenced.
	//
	// PostgreSQL: SELECT … FOR NO KEY UPDATE of the claims, and one UPDATE of the watermarks in the same
	// transaction. DynamoDB: a conditional
	// UpdateItem each.
	Advance(ctx context.Context, now timer.Millis, items []Advance) ([]error, error)

	// Unannounced returns dead timers of history and parked rows of the shards whose mark was set
	// before `before` and not yet taken off (I14), oldest first, at most limit. It is not fenced:
	// announcing twice is harmless.
	//
	// PostgreSQL: a partial index over marked rows of each table. DynamoDB: a sparse index.
	Unannounced(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]Notice, error)

	// Announced takes marks off. Marks that are gone already are passed over.
	Announced(ctx context.Context, marks []Mark) error

	// Inspect tells people how shards stand, in the order asked; it is not fenced, and decides nothing.
	// A shard that nobody has claimed has version 0 and its keys at MinKey.
	//
	// PostgreSQL: one LATERAL over unnest(shards). DynamoDB: a GetItem and a Query with limit 1 each.
	Inspect(ctx context.Context, shards []shard.ID) ([]ShardState, error)
}

// ByShard is an optional capability, found through As: every shard of Due and of Overdue is a request, which costs money
// whether the shard has rows or not. Schedulers then stop sweeping a shard as soon as a sweep has found no row in it, and
// write watermarks less often (docs/decisions/0041-idle-shards-on-all-engines.md).
//
// PostgreSQL: one query for all shards, so no. DynamoDB: yes.
type ByShard interface {
	// AsksByShard reports whether it is so; decorators pass it on.
	AsksByShard() bool
}

// AsksByShard reports whether a store has that power.
func AsksByShard(s Store) bool {
	power, ok := As[ByShard](s)
	return ok && power.AsksByShard()
}

// Owner says who claims. Only Incarnation takes part in fencing; the rest is for humans.
type Owner struct {
	// Incarnation is random, made anew for every partition session.
	Incarnation timer.UUID
	// Node is a name for people, such as the host's.
	Node string
}

// Claim is the fence that every scheduler statement carries.
type Claim struct {
	Shard   shard.ID
	Version int64
	Owner   timer.UUID
}

// Claimed is a claim and the shard's state as found by it.
type Claimed struct {
	// Err is nil if the shard was claimed. Else only Claim.Shard is set, and the shard may be claimed if
	// it is ErrOutcomeUnknown.
	Err   error
	Claim Claim
	// Watermark is W: everything up to it has been published and acknowledged.
	Watermark Key
	// Published is P: an earlier owner may have sent keys up to it to the bus.
	Published Key
}

// ShardState is how a shard stood a moment ago.
type ShardState struct {
	Shard shard.ID
	// Version is the newest claim's, 0 if there never was one; Owner and ClaimedAt are its as well.
	Version   int64
	Owner     Owner
	ClaimedAt timer.Millis
	// Held: the claim was not released. Its owner may be dead all the same. Where it is false,
	// Owner.Incarnation is zero.
	Held bool
	// Watermark and Published are W and P.
	Watermark, Published Key
	// NextDueAt is the earliest due_at of a row that is not parked; Never if there is none.
	NextDueAt timer.Millis
}

// Release is one item of Shards.Release.
type Release struct {
	Claim Claim
	// Published is the largest key this owner sent to the bus, by sweep or with unknown answer too;
	// MinKey if none.
	Published Key
}

// DueQuery asks for what is due soon.
type DueQuery struct {
	Shards []DueAfter
	// Horizon is the present plus the look-ahead.
	Horizon timer.Millis
	// PerShard and Total bound the rows; both positive.
	PerShard, Total int
}

// DueAfter is one shard's cursor.
type DueAfter struct {
	Claim Claim
	After Key
}

// DueRow is what the scheduler knows of a timer. (UUID, Revision) names exactly one state; the
// dispatcher reads the rest when it is time.
type DueRow struct {
	Ref        Ref
	Revision   timer.Revision
	Generation timer.Generation
	// Attempt is the number the next attempt has: the row's attempts + 1.
	Attempt   timer.Attempt
	DueAt     timer.Millis
	UpdatedAt timer.Millis
	// Target is the timer's Target. An engine may return 0 for a row that was written before it stored targets.
	Target timer.Target
}

// Key is the row's place in its shard.
func (r *DueRow) Key() Key { return Key{DueAt: r.DueAt, UUID: r.Ref.UUID} }

// DueShard is Due's answer for one shard.
type DueShard struct {
	// Err is nil, ErrFenced, or ErrUnavailable for a shard that cannot be read while others can.
	Err  error
	Rows []DueRow
	// Cut: there are more rows up to the horizon than the limits let through.
	Cut bool
	// NextDueAt is the due_at of the first row behind Rows that is not parked, whether within the
	// horizon or not; Never if there is none.
	NextDueAt timer.Millis
}

// OverdueQuery asks for what should have been finished.
type OverdueQuery struct {
	Shards []OverdueRange
	// Before is the present minus the grace.
	Before timer.Millis
	// Limit is positive.
	Limit int
}

// OverdueRange is one shard's range: From < key ≤ Upto. From is the sweep floor, before which the owner knows of no row,
// or the end of the page before. Every few minutes a sweep starts at MinKey. An engine must not read rows up to From:
// where removed rows cost reads until they are cleaned up, From makes a sweep independent of how many timers fired.
type OverdueRange struct {
	Claim      Claim
	From, Upto Key
}

// OverdueShard is Overdue's answer for one shard.
type OverdueShard struct {
	// Err is as in DueShard.
	Err  error
	Rows []DueRow
	// More: the limit cut this shard off; go on with From at the last row's key, or with the same
	// From if there is none.
	More bool
}

// Advance is one item of Shards.Advance.
type Advance struct {
	Claim     Claim
	Watermark Key
}

// Notice is a dead or parked timer that nobody has been told of yet.
type Notice struct {
	Mark Mark
	// Timer is whole, payload included; its LastError is the reason.
	Timer timer.Timer
	// MarkedAt is when it became dead or parked.
	MarkedAt timer.Millis
}

// Mark addresses a notice: a dead row of history by generation and attempt, a parked row by revision.
type Mark struct {
	Ref        Ref
	Status     timer.Status // dead or parked
	Generation timer.Generation
	Attempt    timer.Attempt
	Revision   timer.Revision
}
