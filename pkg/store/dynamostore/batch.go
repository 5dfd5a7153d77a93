package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/store"
)

// each runs do for 0 … n−1, several at a time, and returns when all have returned. After the first error it starts no
// others. It does not interrupt the running ones, because their outcome would be unknown.
func (s *Store) each(n int, do func(i int) error) error {
	if n == 1 {
		return do(0)
	}
	var next atomic.Int64
	var failed atomic.Bool
	var errs []error
	var mu sync.Mutex
	var group sync.WaitGroup
	for range min(n, s.options.MaxRequests) {
		group.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					failed.Store(true)
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return worst(errs)
}

// singly runs do for each item of each group: several groups at a time, the items of a group one after another. If an
// item fails, singly calls failed for it and for the later items of its group. It continues with the other groups if
// the service refused only this item or its shard (localError), for example a hot shard. After any other error it tries
// no further item. If no item succeeded then, it returns the worst error, as the error of the whole batch.
func (s *Store) singly(groups [][]int, do func(i int) error, failed func(i int, err error)) error {
	var mu sync.Mutex
	var errs []error
	dealt, stop := 0, false
	group := func(items []int) {
		for n, i := range items {
			mu.Lock()
			stopped := stop
			mu.Unlock()
			err := fmt.Errorf("%w: not tried because other items failed", store.ErrUnavailable)
			if !stopped {
				err = do(i)
			}
			mu.Lock()
			if err == nil {
				dealt++
				mu.Unlock()
				continue
			}
			if !stopped {
				stop = stop || !isLocal(err)
				errs = append(errs, err)
			}
			mu.Unlock()
			failed(i, err)
			for _, behind := range items[n+1:] {
				failed(behind, fmt.Errorf("%w: not tried because an earlier item for the same timer failed: %w",
					store.ErrUnavailable, hideKind(err)))
			}
			return
		}
	}
	_ = s.each(len(groups), func(g int) error {
		group(groups[g])
		return nil
	})
	if dealt > 0 || !stop {
		return nil
	}
	return worst(errs)
}

// alone returns n groups of one item each.
func alone(n int) [][]int {
	groups := make([][]int, n)
	for i := range groups {
		groups[i] = []int{i}
	}
	return groups
}

// worst returns the error of the batch: one with an unknown outcome, if there is one, otherwise the first.
func worst(errs []error) error {
	for _, err := range errs {
		if errors.Is(err, store.ErrOutcomeUnknown) {
			return err
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

// hideKind returns an error with the same text that wraps nothing.
func hideKind(err error) error { return errors.New(err.Error()) }

// turns groups the places 0 … n−1 by key. The places of a group are in order, and the groups are in the order of their
// first places.
func turns[K comparable](n int, of func(i int) K) [][]int {
	at := make(map[K]int, n)
	groups := make([][]int, 0, n)
	for i := range n {
		k := of(i)
		g, ok := at[k]
		if !ok {
			g = len(groups)
			at[k] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// maxBatchGet is the service's limit of keys per request.
const maxBatchGet = 100

// getAll reads items of one table, strongly consistent, with as few requests as possible. found has the existing items
// by their partition and sort key (describeKey). The keys must differ. missed has the error of each key that was
// refused (localError).
func (s *Store) getAll(
	ctx context.Context, table string, keys []item, projection string,
) (found map[string]item, missed map[string]error, err error) {
	found = make(map[string]item, len(keys))
	missed = map[string]error{}
	var mu sync.Mutex
	chunks := (len(keys) + maxBatchGet - 1) / maxBatchGet
	err = s.each(chunks, func(c int) error {
		chunk := keys[c*maxBatchGet : min(len(keys), (c+1)*maxBatchGet)]
		items, unread, err := s.getChunk(ctx, table, chunk, projection)
		mu.Lock()
		defer mu.Unlock()
		for _, it := range items {
			found[describeKey(it)] = it
		}
		if err == nil || !isLocal(err) {
			return err
		}
		for _, k := range unread {
			missed[describeKey(k)] = err
		}
		return nil
	})
	return found, missed, err
}

// barrenBeside is how many empty answers are allowed after a part of a request was answered. The remaining keys are
// then in a hot shard, and the callers of the answered part wait.
const barrenBeside = 2

// getChunk repeats the request until it has all items: an answer ends at 16 MB, or earlier if capacity is short. The
// SDK does not count the latter as an error, so getChunk waits with the SDK's backoff itself. With an error, unread are
// the keys that were not read.
func (s *Store) getChunk(ctx context.Context, table string, keys []item, projection string) (items, unread []item, err error) {
	ask := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, k := range keys {
		ask.Keys = append(ask.Keys, k)
	}
	if projection != "" {
		ask.ProjectionExpression, ask.ExpressionAttributeNames = &projection, names(projection)
	}
	left := func() (all []item) {
		for _, k := range ask.Keys {
			all = append(all, k)
		}
		return all
	}
	for barren := 0; ; {
		var out *dynamodb.BatchGetItemOutput
		err := s.read(ctx, func() (err error) {
			out, err = s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems:           map[string]types.KeysAndAttributes{table: ask},
				ReturnConsumedCapacity: wantCapacity,
			})
			return err
		})
		if err != nil {
			return items, left(), err
		}
		s.consumed("BatchGetItem", out.ConsumedCapacity...)
		for _, it := range out.Responses[table] {
			items = append(items, it)
		}
		rest, more := out.UnprocessedKeys[table]
		if !more || len(rest.Keys) == 0 {
			return items, nil, nil
		}
		if barren++; len(out.Responses[table]) > 0 {
			barren = 0
		} else {
			s.options.Observer.Throttled()
		}
		ask.Keys = rest.Keys
		if most := s.options.MaxAttempts; barren >= most || len(items) > 0 && barren >= barrenBeside {
			return items, left(), &localError{fmt.Errorf("%w: DynamoDB left %d of %d items unread because of a lack of capacity",
				store.ErrUnavailable, len(rest.Keys), len(keys))}
		}
		if barren > 0 {
			if err := s.pause(ctx, barren); err != nil {
				return items, left(), err
			}
		}
	}
}
