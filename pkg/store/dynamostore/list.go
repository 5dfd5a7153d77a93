package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A page reads at most this many items and shards. If few items match the filter, or the namespace has few timers,
// pages are short and have a Next.
const (
	maxLooked = 1000
	maxShards = 64
	// countedTogether is how many shards CountLive reads at the same time.
	countedTogether = 8
)

// List implements store.Timers: shard by shard, by sort key.
func (s *Store) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if q.InDueOrder {
		return engine.DuePage(ctx, &q, s.DueKeys, s.liveRows)
	}
	op := fmt.Sprintf("list timers of %q", q.Namespace.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.Page{}, err
	}
	defer s.calls.Leave()
	from, err := startOf(&q)
	if err != nil {
		return store.Page{}, fmt.Errorf("%s: %w: %w", op, store.ErrInvalid, err)
	}
	p := pager{store: s, q: &q, now: now}
	for n := 0; q.Namespace.Shards.Contains(from.shard); n++ {
		if n == s.maxShards || p.full() {
			p.page.Next = from.encode()
			break
		}
		full, err := p.take(ctx, from)
		if err != nil {
			return store.Page{}, fmt.Errorf("%s: %w", op, err)
		}
		if full {
			break
		}
		from = cursor{finished: from.finished, shard: from.shard + 1}
	}
	return p.page, nil
}

// DueKeys implements store.Timers. It reads the index of each shard, many at the same time.
func (s *Store) DueKeys(ctx context.Context, q store.DueKeysQuery) (store.DueKeys, error) {
	op := fmt.Sprintf("read keys of %q", q.Namespace.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.DueKeys{}, err
	}
	defer s.calls.Leave()
	upto := pastAllKeys
	if q.Before != 0 {
		upto = keyText(store.MaxKeyAt(q.Before - 1))
	}
	shards := q.Namespace.Shards
	each := engine.KeysPerShard(q.Limit, shards.Count)
	read := make([][]store.DueKey, shards.Count)
	err := s.each(shards.Count, func(i int) error {
		id, after := shards.Base+shard.ID(i), q.After
		for len(read[i]) < each {
			page, err := s.page(ctx, id, keyText(after)+justAfter, upto, each-len(read[i]))
			if err != nil {
				return err
			}
			for j := range page.rows {
				after = page.rows[j].Key()
				read[i] = append(read[i], store.DueKey{Key: after, Shard: id})
			}
			if !page.more {
				break
			}
		}
		return nil
	})
	if err != nil {
		return store.DueKeys{}, fmt.Errorf("%s: %w", op, err)
	}
	return engine.MergeKeys(slices.Concat(read...), q.Limit, each), nil
}

// liveRows returns the timers that have a row.
func (s *Store) liveRows(ctx context.Context, refs []store.Ref) ([]timer.Timer, error) {
	checks := make([]store.Check, len(refs))
	for i, ref := range refs {
		checks[i].Ref = ref
	}
	checked, err := s.Current(ctx, checks)
	if err != nil {
		return nil, err
	}
	var found []timer.Timer
	for i := range checked {
		switch {
		case checked[i].Err != nil:
			return nil, checked[i].Err
		case checked[i].Found:
			found = append(found, checked[i].Timer)
		}
	}
	return found, nil
}

// CountLive implements store.Timers. It reads eight shards at a time.
func (s *Store) CountLive(ctx context.Context, ns store.Namespace, limit int) (int, error) {
	op := fmt.Sprintf("count timers of %q", ns.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return 0, err
	}
	defer s.calls.Leave()
	var total atomic.Int64
	counts, counting := errgroup.WithContext(ctx)
	counts.SetLimit(countedTogether)
	for id := ns.Shards.Base; ns.Shards.Contains(id) && total.Load() < int64(limit); id++ {
		counts.Go(func() error { return s.countShard(counting, id, &total, limit) })
	}
	if err := counts.Wait(); err != nil {
		return 0, fmt.Errorf("%s: %w", op, err)
	}
	return int(min(total.Load(), int64(limit))), nil
}

// countShard adds the timers of a shard to total, until total is at least limit.
func (s *Store) countShard(ctx context.Context, id shard.ID, total *atomic.Int64, limit int) error {
	const within, live = "#shard_id = :shard AND #sk BETWEEN :from AND :upto", "attribute_exists(#rev)"
	in := &dynamodb.QueryInput{
		TableName: &s.options.Table, KeyConditionExpression: aws.String(within), FilterExpression: aws.String(live),
		ExpressionAttributeNames: names(within, live), Select: types.SelectCount,
		ExpressionAttributeValues: item{
			":shard": number(int64(id)), ":from": text(timerPrefix), ":upto": text(timerPrefix + pastAllKeys),
		},
	}
	for total.Load() < int64(limit) {
		page, err := s.query(ctx, in)
		if err != nil {
			return fmt.Errorf("shard %s: %w", id, err)
		}
		total.Add(int64(page.Count))
		if page.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return nil
}

// pager fills one page.
type pager struct {
	store  *Store
	q      *store.ListQuery
	now    timer.Millis
	page   store.Page
	bytes  store.PageBytes
	looked int
}

// take adds the timers of one shard after from. If the page becomes full, its Next is the last position that it read.
func (p *pager) take(ctx context.Context, from cursor) (full bool, err error) {
	const within = "#shard_id = :shard AND #sk BETWEEN :from AND :upto"
	table, first, last := p.store.options.Table, timerPrefix, timerPrefix+pastAllKeys
	if from.finished {
		table, first, last = p.store.options.History, historyPrefix, historyPrefix+pastAllKeys
	}
	if from.started {
		first = from.sort() + justAfter
	}
	in := &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: aws.String(within), ExpressionAttributeNames: names(within),
		ExpressionAttributeValues: item{":shard": number(int64(from.shard)), ":from": text(first), ":upto": text(last)},
	}
	for {
		in.Limit = aws.Int32(int32(p.wanted()))
		page, err := p.store.query(ctx, in)
		if err != nil {
			return false, fmt.Errorf("shard %s: %w", from.shard, err)
		}
		for _, it := range page.Items {
			fits, err := p.look(it, from.finished)
			if err != nil {
				return false, err
			}
			if !fits {
				p.page.Next = from.encode()
				return true, nil
			}
			if err := from.moveTo(it); err != nil {
				return false, err
			}
		}
		switch {
		case page.LastEvaluatedKey == nil:
			return false, nil
		case p.full():
			p.page.Next = from.encode()
			return true, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

func (p *pager) full() bool { return len(p.page.Timers) >= p.q.Limit || p.looked >= p.store.maxLooked }

// wanted returns how many items the next request reads. Without a filter, each of them is a timer of the page.
func (p *pager) wanted() int {
	left := max(1, p.store.maxLooked-p.looked)
	if p.q.Status == "" && p.q.CorrelationID == "" && p.q.DueFrom == 0 && p.q.DueBefore == 0 {
		return min(left, max(1, p.q.Limit-len(p.page.Timers)))
	}
	return left
}

// look adds the item's timer to the page if it matches the query. It returns false if the page has no room for it.
func (p *pager) look(it item, finished bool) (fits bool, err error) {
	if p.full() {
		return false, nil
	}
	p.looked++
	t, listed, err := p.listed(it, finished)
	if err != nil || !listed || !p.q.Selects(&t) {
		return true, err
	}
	if p.q.WithoutPayloads {
		t.Payload = nil // a request reads at most 1 MB
	}
	if !p.bytes.Fits(&t) {
		return false, nil
	}
	p.page.Timers = append(p.page.Timers, t)
	return true, nil
}

// listed returns the timer of an item, and whether lists contain it.
func (p *pager) listed(it item, finished bool) (t timer.Timer, listed bool, err error) {
	if !finished {
		r, found, err := readRow(it)
		return r.timer, found, err
	}
	e, err := readEntry(it)
	if err != nil || !e.isEnd() || e.expires <= p.now {
		return t, false, err
	}
	t, err = readEnd(it)
	return t, err == nil, err
}
