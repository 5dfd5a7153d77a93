package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// span is a range of one shard's index: the rows with after < key ≤ upto.
type span struct {
	claim       store.Claim
	after, upto store.Key
}

// found is the result of reading a span.
type found struct {
	rows []store.DueRow
	// next is the due_at of the first row after rows. It is Never if there is none, or while open is set.
	next timer.Millis
	// open is set if nothing after rows was read yet.
	open bool
	// err is set if the service refused this shard only.
	err error
}

// firstPage is how many entries of the index the first request to a shard reads. They have about 250 bytes each and a
// read unit covers 4 KB, so this many cost as much as one.
const firstPage = 16

// readSpans reads at most perShard rows of a shard and total in all. Spans are filled in their order. If peek is set,
// it also reads when the next row after a span is due.
//
// It reads the first page of every shard, at the cost of one read unit each. It reads further pages only of shards that
// have more rows, in order and only as far as total allows, because rows that are read and dropped cost money.
func (s *Store) readSpans(ctx context.Context, spans []span, perShard, total int, peek bool) ([]found, error) {
	out := make([]found, len(spans))
	err := s.singly(alone(len(spans)), func(i int) (err error) {
		out[i], err = s.look(ctx, &spans[i], min(perShard, total), peek)
		return err
	}, func(i int, err error) { out[i] = found{err: err} })
	if err != nil {
		return nil, err
	}
	for room, i := total, 0; i < len(spans); {
		// Read as many of the next spans as certainly fit, or one span with the remaining limit.
		end, budget := i, room
		for end < len(spans) {
			most := out[end].most(perShard)
			if most > budget && end > i {
				break
			}
			budget -= most
			end++
		}
		limit := perShard
		if end == i+1 {
			limit = min(perShard, room)
		}
		err := s.each(end-i, func(n int) error {
			err := s.readOn(ctx, &spans[i+n], &out[i+n], limit, peek)
			if isLocal(err) {
				out[i+n], err = found{err: err}, nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for ; i < end; i++ {
			out[i].cut(limit)
			room -= len(out[i].rows)
		}
	}
	return out, nil
}

// most returns how many rows the answer may have at most.
func (f *found) most(perShard int) int {
	if f.open {
		return perShard
	}
	return min(len(f.rows), perShard)
}

// cut removes the rows beyond the limit.
func (f *found) cut(limit int) {
	if len(f.rows) > limit {
		f.next, f.open = f.rows[limit].DueAt, false
		f.rows = f.rows[:limit]
	}
}

// look reads the first page.
func (s *Store) look(ctx context.Context, asked *span, limit int, peek bool) (found, error) {
	f := found{next: timer.Never}
	upto := keyText(asked.upto)
	if peek {
		upto = pastAllKeys
	}
	page, err := s.page(ctx, asked.claim.Shard, keyText(asked.after)+justAfter, upto, min(limit+1, firstPage))
	if err != nil {
		return f, err
	}
	f.take(page.rows, asked, limit)
	f.open = f.next == timer.Never && page.more
	return f, nil
}

// take adds rows up to the limit and the end of the span. The first row after them is the next one.
func (f *found) take(rows []store.DueRow, asked *span, limit int) {
	for i := range rows {
		if len(f.rows) == limit || rows[i].Key().After(asked.upto) {
			f.next = rows[i].DueAt
			return
		}
		f.rows = append(f.rows, rows[i])
	}
}

// readOn reads the pages after the first one, up to one row more than the limit.
func (s *Store) readOn(ctx context.Context, asked *span, f *found, limit int, peek bool) error {
	id, upto := asked.claim.Shard, keyText(asked.upto)
	for f.open && len(f.rows) <= limit {
		last := f.rows[len(f.rows)-1].Key()
		page, err := s.page(ctx, id, keyText(last)+justAfter, upto, limit+1-len(f.rows))
		if err != nil {
			return err
		}
		f.take(page.rows, asked, limit)
		if f.next != timer.Never || page.more {
			f.open = f.next == timer.Never
			continue
		}
		f.open = false
		if !peek {
			return nil
		}
		behind, err := s.page(ctx, id, upto+justAfter, pastAllKeys, 1)
		if err != nil {
			return err
		}
		if len(behind.rows) > 0 {
			f.next = behind.rows[0].DueAt
		}
	}
	return nil
}

// indexPage is one page of the index. A page without rows is the last one.
type indexPage struct {
	rows []store.DueRow
	more bool
}

// page reads at most limit entries of a shard's index with from ≤ key ≤ upto, strongly consistent. DynamoDB may answer
// with no items and a key from which to continue; page then continues.
func (s *Store) page(ctx context.Context, id shard.ID, from, upto string, limit int) (indexPage, error) {
	if from > upto { // the service refuses such a range
		return indexPage{}, nil
	}
	const between = "#shard_id = :shard AND #due BETWEEN :from AND :upto"
	in := &dynamodb.QueryInput{
		TableName: &s.options.Table, IndexName: aws.String(dueIndex), Limit: aws.Int32(int32(limit)),
		KeyConditionExpression: aws.String(between), ExpressionAttributeNames: names(between),
		ExpressionAttributeValues: item{":shard": number(int64(id)), ":from": text(from), ":upto": text(upto)},
	}
	for {
		out, err := s.query(ctx, in)
		if err != nil {
			return indexPage{}, fmt.Errorf("shard %s: %w", id, err)
		}
		p := indexPage{more: out.LastEvaluatedKey != nil}
		for _, it := range out.Items {
			r, err := readDueRow(id, it)
			if err != nil {
				return indexPage{}, err
			}
			p.rows = append(p.rows, r)
		}
		if len(p.rows) > 0 || !p.more {
			return p, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// readDueRow reads an entry of the index.
func readDueRow(id shard.ID, it item) (store.DueRow, error) {
	read := reader{item: it}
	at := read.key(dueKey)
	return store.DueRow{
		Ref:        store.Ref{Shard: id, UUID: at.UUID},
		Revision:   timer.Revision(read.int(attrRevision)),
		Generation: timer.Generation(read.int(attrGeneration)),
		Attempt:    timer.Attempt(read.int(attrAttempts)) + 1,
		DueAt:      at.DueAt,
		UpdatedAt:  read.time(attrUpdatedAt),
		Target:     timer.Target(read.int(attrTarget)),
	}, read.err
}
