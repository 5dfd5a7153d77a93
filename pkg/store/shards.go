package store

import (
	"context"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Shards is the part that the scheduler uses. Every statement carries a Claim, except those whose comments say that
// they are not fenced. If the claim is not the newest of its shard, or was released, the answer is ErrFenced: nothing
// is written and no rows are returned (I5). An engine checks the claim in the statement itself, or reads it after the
// rows, but never before the statement.
type Shards interface {
	// Claim claims the shards for this owner, whether or not they have an owner: it increments the version. A shard
	// without a row gets one, with the watermark MinKey. Each shard of a call is claimed independently.
	//
	// PostgreSQL: one INSERT … ON CONFLICT (shard) DO UPDATE SET version = version + 1 … RETURNING over unnest, and a
	// SELECT of the watermarks in the same transaction. DynamoDB: one UpdateItem (ADD version) per shard with RETURN
	// ALL_NEW, in parallel.
	Claim(ctx context.Context, now timer.Millis, owner Owner, shards []shard.ID) ([]Claimed, error)

	// Release releases claims at an orderly shutdown. It raises the shard's Published to the item's key (and never
	// lowers it) and keeps the version, so that the released claim is fenced too. Item answers: nil or ErrFenced.
	//
	// PostgreSQL: one UPDATE … FROM unnest WHERE version and owner match. DynamoDB: a conditional UpdateItem each.
	Release(ctx context.Context, now timer.Millis, items []Release) ([]error, error)

	// Due returns, for each shard, the rows that are not parked, with key > After and due_at ≤ Horizon, ordered by key,
	// at most PerShard of a shard and Total in all. Shards are filled in the order of the query. A shard that gets no
	// rows because Total is reached is marked as cut. The answer also has the due time of each shard's next row.
	//
	// PostgreSQL: one LATERAL over unnest(shards, versions, cursors), each an index range with LIMIT PerShard + 1.
	// DynamoDB: one consistent Query of the index per shard, then one read of the claims of up to a hundred shards; the
	// scheduler queries only shards that have work or whose poll is due.
	Due(ctx context.Context, q DueQuery) ([]DueShard, error)

	// Overdue returns the rows that are not parked, with due_at < Before and From < key ≤ Upto, ordered by key within a
	// shard, shards in the order of the query, at most Limit in all. It stores no cursor: the same query returns the
	// same rows again while they exist (I4).
	//
	// PostgreSQL: as Due, with both bounds. DynamoDB: one Query per shard.
	Overdue(ctx context.Context, q OverdueQuery) ([]OverdueShard, error)

	// Advance moves watermarks forward. A watermark never moves back: for a key before the stored one the answer is
	// nil, and nothing changes. It does not change Published. Item answers: nil or ErrFenced.
	//
	// PostgreSQL: SELECT … FOR NO KEY UPDATE of the claims, and one UPDATE of the watermarks in the same transaction.
	// DynamoDB: a conditional UpdateItem each.
	Advance(ctx context.Context, now timer.Millis, items []Advance) ([]error, error)

	// Outbox returns the outbox entries of the shards that were written before `before` and are not yet published:
	// dead timers of history and parked rows (I14), oldest first within a shard, at most limit in all. It is not
	// fenced, because a second publication is harmless.
	//
	// There is no order between shards: one engine returns the oldest entries of all shards, another fills the page with
	// the shards in the order of the query. A caller therefore begins each query with another shard, and leaves out
	// shards whose entries it cannot publish. Entries of shards that are not in the query do not count for limit.
	//
	// PostgreSQL: a partial index over the entries of each table. DynamoDB: items in buckets of the history table.
	Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]OutboxEntry, error)

	// RemoveFromOutbox removes outbox entries after their publication. Entries that are already removed are ignored.
	RemoveFromOutbox(ctx context.Context, ids []OutboxID) error

	// Inspect returns the state of shards, in the order of the request, for operators. It is not fenced, and no
	// component makes decisions by it. A shard that was never claimed has version 0 and its keys at MinKey.
	//
	// PostgreSQL: one LATERAL over unnest(shards). DynamoDB: a GetItem and a Query with limit 1 each.
	Inspect(ctx context.Context, shards []shard.ID) ([]ShardState, error)
}

// ByShard is an optional capability, found through As, of engines that send one request per shard of Due and Overdue,
// which costs money whether or not the shard has rows. Schedulers then stop sweeping a shard as soon as a sweep has
// found no row in it, and write watermarks less often (docs/decisions/0041-idle-shards-on-all-engines.md).
//
// PostgreSQL: no, it sends one query for all shards. DynamoDB: yes.
type ByShard interface {
	// AsksByShard reports whether the engine sends one request per shard. Decorators pass the answer of their store on.
	AsksByShard() bool
}

// AsksByShard reports whether a store has ByShard and sends one request per shard.
func AsksByShard(s Store) bool {
	power, ok := As[ByShard](s)
	return ok && power.AsksByShard()
}

// Owner identifies the owner of a claim. Only Incarnation is used for fencing. Node is for operators.
type Owner struct {
	// Incarnation is random, and new for every partition session.
	Incarnation timer.UUID
	// Node is a readable name, such as the host's.
	Node string
}

// Claim is the fence of every scheduler statement.
type Claim struct {
	Shard   shard.ID
	Version int64
	Owner   timer.UUID
}

// Claimed is the answer for one shard: the claim and the shard's state when it was claimed.
type Claimed struct {
	// Err is nil if the shard was claimed. Otherwise only Claim.Shard is set. If Err is ErrOutcomeUnknown, the shard
	// may be claimed.
	Err   error
	Claim Claim
	// Watermark is W: all timers up to it are published and acknowledged.
	Watermark Key
	// Published is P: an earlier owner may have sent timers up to it to the bus.
	Published Key
}

// ShardState is the state of a shard when Inspect read it.
type ShardState struct {
	Shard shard.ID
	// Version is that of the newest claim, 0 if the shard was never claimed. Owner and ClaimedAt are those of this
	// claim.
	Version   int64
	Owner     Owner
	ClaimedAt timer.Millis
	// Held is set if the claim was not released. Its owner may be dead. If Held is false, Owner.Incarnation is zero.
	Held bool
	// Watermark and Published are W and P.
	Watermark, Published Key
	// NextDueAt is the earliest due_at of a row that is not parked, or Never if there is none.
	NextDueAt timer.Millis
}

// Release is one item of Shards.Release.
type Release struct {
	Claim Claim
	// Published is the largest key that this owner sent to the bus, including publications by the sweep and those with
	// an unknown outcome. It is MinKey if there is none.
	Published Key
}

// DueQuery selects the rows that are due soon.
type DueQuery struct {
	Shards []DueAfter
	// Horizon is the present time plus the look-ahead.
	Horizon timer.Millis
	// PerShard and Total bound the number of rows. Both are positive.
	PerShard, Total int
}

// DueAfter is one shard's cursor.
type DueAfter struct {
	Claim Claim
	After Key
}

// DueRow is the part of a timer that the scheduler needs. (UUID, Revision) names exactly one state. The dispatcher
// reads the rest when the timer is due.
type DueRow struct {
	Ref        Ref
	Revision   timer.Revision
	Generation timer.Generation
	// Attempt is the number of the next attempt: the row's attempts + 1.
	Attempt   timer.Attempt
	DueAt     timer.Millis
	UpdatedAt timer.Millis
	// Target is the timer's Target. An engine may return 0 for a row that was written before it stored targets.
	Target timer.Target
}

// Key returns the row's position in its shard.
func (r *DueRow) Key() Key { return Key{DueAt: r.DueAt, UUID: r.Ref.UUID} }

// DueShard is Due's answer for one shard.
type DueShard struct {
	// Err is nil, ErrFenced, or ErrUnavailable if only some of the shards can be read and this is not one of them.
	Err  error
	Rows []DueRow
	// Cut is set if the limits left out rows that are due by the horizon.
	Cut bool
	// NextDueAt is the due_at of the first row after Rows that is not parked, whether or not it is due by the horizon.
	// It is Never if there is none.
	NextDueAt timer.Millis
}

// OverdueQuery selects the rows that should have been finished.
type OverdueQuery struct {
	Shards []OverdueRange
	// Before excludes rows that are due at this time or later. Schedulers pass the present time plus 1 ms.
	Before timer.Millis
	// Limit is positive.
	Limit int
}

// OverdueRange is one shard's range: From < key ≤ Upto. From is the sweep floor, before which the owner knows of no
// row, or the end of the previous page. Every few minutes a sweep starts at MinKey. An engine must not read rows up to
// From: in engines where removed rows cost reads until they are vacuumed, From keeps the cost of a sweep independent of
// the number of timers that fired.
type OverdueRange struct {
	Claim      Claim
	From, Upto Key
}

// OverdueShard is Overdue's answer for one shard.
type OverdueShard struct {
	// Err is as in DueShard.
	Err  error
	Rows []DueRow
	// More is set if the limit cut this shard off. The next page starts with From at the last row's key, or with the
	// same From if the page has no row.
	More bool
}

// Advance is one item of Shards.Advance.
type Advance struct {
	Claim     Claim
	Watermark Key
}

// OutboxEntry is an outbox entry: a dead or parked timer whose event is not published yet.
type OutboxEntry struct {
	ID OutboxID
	// Timer is complete, payload included. Its LastError is the reason.
	Timer timer.Timer
	// MarkedAt is when the timer became dead or parked.
	MarkedAt timer.Millis
}

// OutboxID is the id of an outbox entry. It identifies a dead timer of history by generation and attempt, and a parked row
// by revision.
type OutboxID struct {
	Ref        Ref
	Status     timer.Status // dead or parked
	Generation timer.Generation
	Attempt    timer.Attempt
	Revision   timer.Revision
}
