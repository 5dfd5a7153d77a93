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

// span is what is asked of one shard's index: the rows with after < key ≤ upto.
type span struct {
	claim       store.Claim
	after, upto store.Key
}

// found is what was read of a span.
type found struct {
	rows []store.DueRow
	// next is the due_at of the first row behind rows; Never if there is none, or while open.
	next timer.Millis
	// open: behind rows nothing has been looked at.
	open bool
	// err: the service refused this shard, and not others.
	err error
}

// firstPage is how many entries of the index the first look at a shard reads. They are about 250 bytes
// each and a read unit pays for 4 KB, so this many cost what one costs.
const firstPage = 16

// readSpans reads at most perShard rows of a shard and total in all, spans filled in their order. peek
// also looks behind a span for where the next row is.
//
// Every shard is looked at once, at the price of one read unit; only what then has more is read on, in
// order and only as far as there is room, because what is read is paid for and thrown away otherwise.
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
		// As many of the next as certainly fit; or else one, with the room that there is.
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

// most is how many rows the answer may have in the end.
func (f *found) most(perShard int) int {
	if f.open {
		return perShard
	}
	return min(len(f.rows), perShard)
}

// cut takes away what is beyond the limit.
func (f *found) cut(limit int) {
	if len(f.rows) > limit {
		f.next, f.open = f.rows[limit].DueAt, false
		f.rows = f.rows[:limit]
	}
}

// look reads a first page.
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

// take adds rows as long as they are wanted; the first that is not is the next.
func (f *found) take(rows []store.DueRow, asked *span, limit int) {
	for i := range rows {
		if len(f.rows) == limit || rows[i].Key().After(asked.upto) {
			f.next = rows[i].DueAt
			return
		}
		f.rows = append(f.rows, rows[i])
	}
}

// readOn reads behind the first page, up to the limit and one more.
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

// indexPage is one page of the index. One without rows is the last.
type indexPage struct {
	rows []store.DueRow
	more bool
}

// page reads at most limit entries of a shard's index with from ≤ key ≤ upto, strongly consistent. DynamoDB may answer
// with no items and a key from which to continue; page then continues.
func (s *Store) page(ctx context.Context, id shard.ID, from, upto string, limit int) (indexPage, error) {
	if from > upto { // which the service refuses
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
