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

// each runs do for 0 … n−1, several at a time, and returns when all have ended. After the first error it
// begins no others, and does not interrupt those under way, which would leave their outcome unknown.
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

// worst is the error that says least about what was done.
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

// eachWrite is each for writes. ErrUnavailable speaks of the whole batch and means that nothing was
// applied; where a part of it may have been, the outcome is unknown.
func (s *Store) eachWrite(n int, do func(i int) error) error {
	var done atomic.Int64
	err := s.each(n, func(i int) error {
		err := do(i)
		if err == nil {
			done.Add(1)
		}
		return err
	})
	if err != nil && done.Load() > 0 && !errors.Is(err, store.ErrOutcomeUnknown) {
		return fmt.Errorf("%w: %d of %d items were dealt with, then: %w", store.ErrOutcomeUnknown, done.Load(), n, hideUnavailable(err))
	}
	return err
}

// hideUnavailable keeps an error's text and not what it is.
func hideUnavailable(err error) error { return errors.New(err.Error()) }

// turns groups the places 0 … n−1 by what they are about, each group in order, groups by their first.
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

// maxBatchGet is the service's.
const maxBatchGet = 100

// getAll reads items of one table, strongly consistent, as few requests as there can be. Those that are
// there are in the answer by their sort and partition key (describeKey). The keys must differ.
func (s *Store) getAll(ctx context.Context, table string, keys []item, projection string) (map[string]item, error) {
	found := make(map[string]item, len(keys))
	var mu sync.Mutex
	chunks := (len(keys) + maxBatchGet - 1) / maxBatchGet
	err := s.each(chunks, func(c int) error {
		chunk := keys[c*maxBatchGet : min(len(keys), (c+1)*maxBatchGet)]
		items, err := s.getChunk(ctx, table, chunk, projection)
		mu.Lock()
		defer mu.Unlock()
		for _, it := range items {
			found[describeKey(it)] = it
		}
		return err
	})
	return found, err
}

// getChunk asks until it has all of them: an answer is cut at 16 MB, and where capacity is short. The
// latter is no error to the SDK, so its backoff is borrowed.
func (s *Store) getChunk(ctx context.Context, table string, keys []item, projection string) ([]item, error) {
	ask := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, k := range keys {
		ask.Keys = append(ask.Keys, k)
	}
	if projection != "" {
		ask.ProjectionExpression, ask.ExpressionAttributeNames = &projection, names(projection)
	}
	var items []item
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
			return nil, err
		}
		s.consumed("BatchGetItem", out.ConsumedCapacity...)
		for _, it := range out.Responses[table] {
			items = append(items, it)
		}
		rest, more := out.UnprocessedKeys[table]
		if !more || len(rest.Keys) == 0 {
			return items, nil
		}
		if barren++; len(out.Responses[table]) > 0 {
			barren = 0
		} else {
			s.options.Observer.Throttled()
		}
		if barren >= s.options.MaxAttempts {
			return nil, fmt.Errorf("%w: DynamoDB left %d of %d items unread for lack of capacity",
				store.ErrUnavailable, len(rest.Keys), len(keys))
		}
		ask.Keys = rest.Keys
		if barren > 0 {
			if err := s.pause(ctx, barren); err != nil {
				return nil, err
			}
		}
	}
}
