package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// slot waits until another request is allowed.
func (s *Store) slot(ctx context.Context) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
}

func (s *Store) free() { <-s.slots }

// read sends one request that changes nothing.
func (s *Store) read(ctx context.Context, ask func() error) error {
	if err := s.slot(ctx); err != nil {
		return err
	}
	defer s.free()
	if err := ask(); err != nil {
		return failed(ctx, err, false)
	}
	return nil
}

// write sends one request that may change items. ask must use the given context and option.
func (s *Store) write(
	ctx context.Context, by aws.Retryer, ask func(ctx context.Context, retries func(*dynamodb.Options)) error,
) error {
	if err := s.slot(ctx); err != nil {
		return err
	}
	defer s.free()
	var out sent
	err := ask(out.follow(ctx), func(o *dynamodb.Options) {
		o.Retryer = by
		o.APIOptions = append(o.APIOptions, out.judge)
	})
	if err == nil {
		return nil
	}
	return failed(ctx, err, out.unclear.Load())
}

// get reads one item, strongly consistent, or nil if there is none.
func (s *Store) get(ctx context.Context, table string, key item) (it item, err error) {
	err = s.read(ctx, func() error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &table, Key: key, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: wantCapacity,
		})
		if err == nil {
			it = out.Item
			s.consumed("GetItem", deref(out.ConsumedCapacity)...)
		}
		return err
	})
	return it, err
}

// query reads one page of a partition, strongly consistent.
func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput) (page *dynamodb.QueryOutput, err error) {
	in.ConsistentRead = aws.Bool(true)
	in.ReturnConsumedCapacity = wantCapacity
	err = s.read(ctx, func() (err error) {
		page, err = s.client.Query(ctx, in)
		if err == nil {
			s.consumed("Query", deref(page.ConsumedCapacity)...)
		}
		return err
	})
	return page, err
}

// condition is the condition of a write, with its values.
type condition struct {
	holds  string
	values item
}

// names returns the placeholders for every attribute in the expressions, because some attribute names are reserved
// words. Requests must contain the placeholders that they use and no others.
func names(expressions ...string) map[string]string {
	used := map[string]string{}
	for _, e := range expressions {
		for i := 0; i < len(e); i++ {
			if e[i] != '#' {
				continue
			}
			end := i + 1
			for end < len(e) && (e[end] == '_' || e[end] >= 'a' && e[end] <= 'z') {
				end++
			}
			used[e[i:end]] = e[i+1 : end]
			i = end - 1
		}
	}
	return used
}

// put writes a whole item. If the condition fails, held is false and there is the existing item.
func (s *Store) put(ctx context.Context, table string, it item, only condition) (there item, held bool, err error) {
	err = s.write(ctx, s.writeRetries, func(ctx context.Context, retries func(*dynamodb.Options)) error {
		out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table, Item: it,
			ConditionExpression: &only.holds, ExpressionAttributeNames: names(only.holds), ExpressionAttributeValues: values(only.values),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			ReturnConsumedCapacity:              wantCapacity, ReturnItemCollectionMetrics: s.sizeOf(table),
		}, retries)
		if err == nil {
			held = true
			s.consumed("PutItem", deref(out.ConsumedCapacity)...)
			s.sizes(deref(out.ItemCollectionMetrics)...)
		}
		there, err = s.inTheWay("PutItem", err)
		return err
	})
	return there, held, s.noteFull(err, it)
}

// update changes some attributes. answer is the item before or after, depending on returns. If the condition fails,
// held is false and answer is the existing item.
func (s *Store) update(
	ctx context.Context, key item, change string, only condition, returns types.ReturnValue,
) (answer item, held bool, err error) {
	err = s.write(ctx, s.writeRetries, func(ctx context.Context, retries func(*dynamodb.Options)) error {
		in := &dynamodb.UpdateItemInput{
			TableName: &s.options.Table, Key: key, UpdateExpression: &change,
			ExpressionAttributeNames: names(change, only.holds), ExpressionAttributeValues: values(only.values), ReturnValues: returns,
			ReturnConsumedCapacity: wantCapacity, ReturnItemCollectionMetrics: s.wantSize(),
		}
		if only.holds != "" {
			in.ConditionExpression = &only.holds
			in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		}
		out, err := s.client.UpdateItem(ctx, in, retries)
		if err == nil {
			answer, held = out.Attributes, true
			s.consumed("UpdateItem", deref(out.ConsumedCapacity)...)
			s.sizes(deref(out.ItemCollectionMetrics)...)
			return nil
		}
		answer, err = s.inTheWay("UpdateItem", err)
		return err
	})
	return answer, held, s.noteFull(err, key)
}

// remove deletes an item. there is the item before, or the existing item if the condition fails.
func (s *Store) remove(ctx context.Context, table string, key item, only condition) (there item, held bool, err error) {
	err = s.write(ctx, s.writeRetries, func(ctx context.Context, retries func(*dynamodb.Options)) error {
		in := &dynamodb.DeleteItemInput{
			TableName: &table, Key: key, ReturnValues: types.ReturnValueAllOld, ReturnConsumedCapacity: wantCapacity,
		}
		if only.holds != "" {
			in.ConditionExpression, in.ExpressionAttributeNames = &only.holds, names(only.holds)
			in.ExpressionAttributeValues = values(only.values)
			in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		}
		out, err := s.client.DeleteItem(ctx, in, retries)
		if err == nil {
			there, held = out.Attributes, true
			s.consumed("DeleteItem", deref(out.ConsumedCapacity)...)
			return nil
		}
		there, err = s.inTheWay("DeleteItem", err)
		return err
	})
	return there, held, err
}

// obstacle is the reason why one item of a transaction was not written.
type obstacle struct {
	// missed is set if its condition failed; there is then the existing item, nil if there is none.
	missed bool
	there  item
}

// transact writes several items or none. It returns nil if it has written them, otherwise an obstacle for each item.
// The SDK gives each call a token, by which the service recognizes a retry of an attempt whose answer was lost and does
// not apply it twice.
func (s *Store) transact(ctx context.Context, items []types.TransactWriteItem) (obstacles []obstacle, err error) {
	err = s.write(ctx, s.transactRetries, func(ctx context.Context, retries func(*dynamodb.Options)) error {
		out, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: items, ReturnConsumedCapacity: wantCapacity, ReturnItemCollectionMetrics: s.wantSize(),
		}, retries)
		if err == nil {
			s.consumed("TransactWriteItems", out.ConsumedCapacity...)
			for _, of := range out.ItemCollectionMetrics {
				s.sizes(of...)
			}
			return nil
		}
		cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok || !has(err, conditionFailed) {
			return err
		}
		s.consumed("TransactWriteItems")
		obstacles = make([]obstacle, len(items))
		for i, reason := range cancelled.CancellationReasons[:min(len(items), len(cancelled.CancellationReasons))] {
			obstacles[i] = obstacle{missed: aws.ToString(reason.Code) == conditionFailed, there: reason.Item}
		}
		return nil
	})
	if err != nil && len(items) > 0 && errors.Is(err, ErrCollectionFull) {
		return nil, s.noteFull(err, firstKey(&items[0]))
	}
	return obstacles, err
}

func firstKey(it *types.TransactWriteItem) item {
	switch {
	case it.Put != nil:
		return it.Put.Item
	case it.Update != nil:
		return it.Update.Key
	case it.Delete != nil:
		return it.Delete.Key
	default:
		return nil
	}
}

// inTheWay returns the existing item if the error is a failed condition.
func (s *Store) inTheWay(operation string, err error) (item, error) {
	if missed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		s.consumed(operation)
		return missed.Item, nil
	}
	return nil, err
}

// noteFull adds the shard to an ErrCollectionFull, and reports it to the Observer.
func (s *Store) noteFull(err error, key item) error {
	if !errors.Is(err, ErrCollectionFull) {
		return err
	}
	read := reader{item: key}
	id := shard.ID(read.int(partitionKey))
	s.options.Observer.CollectionFull(id)
	return fmt.Errorf("shard %s: %w", id, err)
}

// sizeOf requests sizes only for the table with a size limit: the history table has no local index.
func (s *Store) sizeOf(table string) types.ReturnItemCollectionMetrics {
	if table != s.options.Table {
		return types.ReturnItemCollectionMetricsNone
	}
	return s.wantSize()
}

// values returns nil for an empty item, because the service refuses empty values.
func values(it item) map[string]types.AttributeValue {
	if len(it) == 0 {
		return nil
	}
	return it
}

func deref[T any](v *T) []T {
	if v == nil {
		return nil
	}
	return []T{*v}
}
