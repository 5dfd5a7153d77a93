package dynamostore

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// An outbox entry is stored twice: as marked_at of the parked row or of the dead timer's item of history, which decides
// whether the entry exists, and as an item of a bucket, by which it is found (the outbox item). Both are written in one
// transaction. Overwriting a row removes its marked_at. The outbox item is then stale, and the next reader deletes it.

// The attributes of an outbox item.
const (
	attrShard = "of_shard"
	attrUUID  = "uuid"
)

// putMark returns the part of a transaction that writes an outbox item.
func (s *Store) putMark(m *store.OutboxID, at timer.Millis) *types.TransactWriteItem {
	it := markKey(m, at)
	it[attrShard] = number(int64(m.Ref.Shard))
	it.text(attrUUID, m.Ref.UUID.String())
	it.text(attrStatus, string(m.Status))
	it.int(attrGeneration, int64(m.Generation))
	it.int(attrAttempts, int64(m.Attempt))
	it[attrMarkedAt] = number(at)
	return &types.TransactWriteItem{Put: &types.Put{TableName: &s.options.History, Item: it}}
}

func markKey(m *store.OutboxID, at timer.Millis) item {
	return key(bucketOf(m.Ref.Shard), markSort(m, at))
}

// marked is an outbox item.
type marked struct {
	mark store.OutboxID
	at   timer.Millis
}

func readMark(it item) (marked, error) {
	read := reader{item: it}
	m := marked{
		mark: store.OutboxID{
			Ref:        store.Ref{Shard: shard.ID(read.int(attrShard))},
			Status:     timer.Status(read.text(attrStatus)),
			Generation: timer.Generation(read.int(attrGeneration)),
			Attempt:    timer.Attempt(read.int(attrAttempts)),
		},
		at: read.time(attrMarkedAt),
	}
	var ok bool
	if m.mark.Ref.UUID, ok = timer.ParseUUID(read.text(attrUUID)); !ok {
		read.failf("%s is not a UUID", attrUUID)
	}
	return m, read.err
}

// Outbox implements store.Shards. It queries each bucket that the shards belong to. An empty bucket costs one
// request.
func (s *Store) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	if err := s.calls.Enter(ctx, "outbox"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	asked := make(map[shard.ID]bool, len(shards))
	for _, id := range shards {
		asked[id] = true
	}
	groups := turns(len(shards), func(i int) int64 { return bucketOf(shards[i]) })
	found := make([][]store.OutboxEntry, len(groups))
	refused := make([]error, len(groups))
	err := s.each(len(groups), func(g int) (err error) {
		found[g], err = s.bucket(ctx, bucketOf(shards[groups[g][0]]), asked, before, limit)
		if isLocal(err) {
			refused[g], err = err, nil // a later query finds its entries
		}
		return err
	})
	if err == nil && !slices.Contains(refused, nil) {
		err = refused[0]
	}
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	out := slices.Concat(found...) // a shard belongs to one bucket
	return out[:min(limit, len(out))], nil
}

// bucket reads the oldest outbox entries of one bucket that belong to the given shards.
func (s *Store) bucket(
	ctx context.Context, bucket int64, asked map[shard.ID]bool, before timer.Millis, limit int,
) ([]store.OutboxEntry, error) {
	const older = "#shard_id = :bucket AND #sk BETWEEN :first AND :before"
	in := dynamodb.QueryInput{
		TableName: &s.options.History, Limit: aws.Int32(int32(limit)),
		KeyConditionExpression: aws.String(older), ExpressionAttributeNames: names(older),
		ExpressionAttributeValues: item{
			// No sort key of an entry equals this bound, because it is only the prefix of those of its time.
			":bucket": number(bucket), ":first": text(markPrefix), ":before": text(markPrefix + timeText(before)),
		},
	}
	var out []store.OutboxEntry
	for {
		page, err := s.query(ctx, &in)
		if err != nil {
			return nil, err
		}
		var marks []marked
		for _, it := range page.Items {
			m, err := readMark(it)
			if err != nil {
				return nil, err
			}
			if asked[m.mark.Ref.Shard] {
				marks = append(marks, m)
			}
		}
		entries, err := s.outboxEntries(ctx, marks)
		if err != nil {
			return nil, err
		}
		if out = append(out, entries...); len(out) >= limit || page.LastEvaluatedKey == nil {
			return out[:min(limit, len(out))], nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// outboxEntries reads the rows and history items of outbox items, and deletes stale outbox items.
func (s *Store) outboxEntries(ctx context.Context, marks []marked) ([]store.OutboxEntry, error) {
	var parked, dead []item
	for i := range marks {
		if marks[i].mark.Status == timer.StatusParked {
			parked = append(parked, timerKey(marks[i].mark.Ref))
		} else {
			dead = append(dead, marks[i].deadKey())
		}
	}
	rows, missedRows, err := s.getAll(ctx, s.options.Table, distinct(parked), "")
	if err != nil {
		return nil, err
	}
	ends, missedEnds, err := s.getAll(ctx, s.options.History, distinct(dead), "")
	if err != nil {
		return nil, err
	}
	var out []store.OutboxEntry
	for i := range marks {
		if missedRows[describeKey(timerKey(marks[i].mark.Ref))] != nil || missedEnds[describeKey(marks[i].deadKey())] != nil {
			continue // a later query finds the entry again
		}
		n, stands, err := marks[i].outboxEntry(rows, ends)
		if err != nil {
			return nil, err
		}
		if stands {
			out = append(out, n)
			continue
		}
		if _, _, err := s.remove(ctx, s.options.History, markKey(&marks[i].mark, marks[i].at), condition{}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *marked) deadKey() item { return historyKey(m.mark.Ref, m.mark.Generation, m.mark.Attempt) }

// outboxEntry returns the outbox entry of an outbox item. stands is false if the outbox item is stale.
func (m *marked) outboxEntry(rows, ends map[string]item) (n store.OutboxEntry, stands bool, err error) {
	n = store.OutboxEntry{ID: m.mark, MarkedAt: m.at}
	if m.mark.Status == timer.StatusParked {
		r, found, err := readRow(rows[describeKey(timerKey(m.mark.Ref))])
		if err != nil || !found || !r.marked || r.markedAt != m.at || r.timer.Status != timer.StatusParked {
			return n, false, err
		}
		n.Timer = r.timer
		n.ID.Generation, n.ID.Attempt, n.ID.Revision = r.timer.Generation, r.timer.Attempts, r.timer.Revision
		return n, true, nil
	}
	it := ends[describeKey(m.deadKey())]
	if it == nil {
		return n, false, nil
	}
	e, err := readEntry(it)
	if err != nil || !e.marked || e.markedAt != m.at {
		return n, false, err
	}
	n.Timer, err = readEnd(it)
	n.ID.Revision = n.Timer.Revision
	return n, true, err
}

// distinct removes duplicates, which a request must not have.
func distinct(keys []item) []item {
	seen := make(map[string]bool, len(keys))
	return slices.DeleteFunc(keys, func(k item) bool {
		name := describeKey(k)
		again := seen[name]
		seen[name] = true
		return again
	})
}

// RemoveFromOutbox implements store.Shards.
func (s *Store) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := s.calls.Enter(ctx, "remove from outbox"); err != nil {
		return err
	}
	defer s.calls.Leave()
	groups := turns(len(ids), func(i int) store.Ref { return ids[i].Ref })
	left := make([]error, len(ids))
	err := s.singly(groups, func(i int) error {
		if err := s.unmark(ctx, &ids[i]); err != nil {
			return fmt.Errorf("timer %s: %w", ids[i].Ref.UUID, err)
		}
		return nil
	}, func(i int, err error) { left[i] = err })
	if err == nil {
		if err = worst(slices.DeleteFunc(left, func(err error) bool { return err == nil })); err != nil {
			err = fmt.Errorf("%w: some outbox entries were removed: %w", store.ErrOutcomeUnknown, hideKind(err))
		}
	}
	if err != nil {
		return fmt.Errorf("remove from outbox: %w", err)
	}
	return nil
}

// unmark removes an outbox entry, in both places. For a dead timer it sets the TTL.
func (s *Store) unmark(ctx context.Context, m *store.OutboxID) error {
	table, at := s.options.History, historyKey(m.Ref, m.Generation, m.Attempt)
	if m.Status == timer.StatusParked {
		table, at = s.options.Table, timerKey(m.Ref)
	}
	it, err := s.get(ctx, table, at)
	read := reader{item: it}
	if err != nil || it[attrMarkedAt] == nil || m.Status == timer.StatusParked && read.int(attrRevision) != int64(m.Revision) {
		return err
	}
	set := read.time(attrMarkedAt)
	change, only := "REMOVE #marked_at", condition{"#marked_at = :set", item{":set": number(set)}}
	if m.Status == timer.StatusParked {
		only.holds += " AND " + sameState
		only.values[":was"] = number(m.Revision)
	} else {
		change = "SET #ttl = :ttl " + change
		only.values[":ttl"] = number(ttl(read.time(attrExpires)))
	}
	if read.err != nil {
		return read.err
	}
	// If the condition fails, another process has removed the entry or overwritten the row. In both cases the entry is
	// gone.
	_, err = s.transact(ctx, []types.TransactWriteItem{
		{Update: &types.Update{
			TableName: &table, Key: at, UpdateExpression: &change, ConditionExpression: &only.holds,
			ExpressionAttributeNames: names(change, only.holds), ExpressionAttributeValues: only.values,
		}},
		{Delete: &types.Delete{TableName: &s.options.History, Key: markKey(m, set)}},
	})
	return err
}
