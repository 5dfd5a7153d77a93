package dynamostore

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/pkg/store"
)

// attrBody is an API key's body. Its name is in the sort key.
const attrBody = "body"

func apiKeyKey(name string) item { return key(clusterPartition, apiKeyStart+name) }

func readAPIKey(it item) (store.APIKey, error) {
	read := reader{item: it}
	k := store.APIKey{Name: read.text(sortKey), Version: read.int(attrVersion), Body: read.text(attrBody)}
	k.Name = strings.TrimPrefix(k.Name, apiKeyStart)
	return k, read.err
}

// GetAPIKey implements store.APIKeys.
func (s *Store) GetAPIKey(ctx context.Context, name string) (store.APIKey, error) {
	op := fmt.Sprintf("get API key %q", name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.APIKey{}, err
	}
	defer s.calls.Leave()
	it, err := s.get(ctx, s.options.Table, apiKeyKey(name))
	if err == nil && it == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.APIKey{}, fmt.Errorf("%s: %w", op, err)
	}
	return readAPIKey(it)
}

// ListAPIKeys implements store.APIKeys.
func (s *Store) ListAPIKeys(ctx context.Context) ([]store.APIKey, error) {
	if err := s.calls.Enter(ctx, "list API keys"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	const keys = "#shard_id = :cluster AND begins_with(#sk, :start)"
	in := dynamodb.QueryInput{
		TableName: &s.options.Table, KeyConditionExpression: aws.String(keys), ExpressionAttributeNames: names(keys),
		ExpressionAttributeValues: item{":cluster": number(clusterPartition), ":start": text(apiKeyStart)},
	}
	var all []store.APIKey
	for {
		page, err := s.query(ctx, &in)
		if err != nil {
			return nil, fmt.Errorf("list API keys: %w", err)
		}
		for _, it := range page.Items {
			k, err := readAPIKey(it)
			if err != nil {
				return nil, fmt.Errorf("list API keys: %w", err)
			}
			all = append(all, k)
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all, nil
		}
	}
}

// PutAPIKey implements store.APIKeys.
func (s *Store) PutAPIKey(ctx context.Context, k store.APIKey) error {
	op := fmt.Sprintf("put API key %q", k.Name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	it := item{attrVersion: number(k.Version + 1)}
	it.text(attrBody, k.Body)
	maps.Copy(it, apiKeyKey(k.Name))
	only := condition{holds: nothingHere}
	if k.Version != 0 {
		only = condition{"#version = :from", item{":from": number(k.Version)}}
	}
	there, held, err := s.put(ctx, s.options.Table, it, only)
	switch {
	case err != nil || held:
	case there == nil:
		err = store.ErrNotFound
	case k.Version == 0:
		err = store.ErrExists
	default:
		err = store.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// DeleteAPIKey implements store.APIKeys.
func (s *Store) DeleteAPIKey(ctx context.Context, name string) error {
	op := fmt.Sprintf("delete API key %q", name)
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	there, _, err := s.remove(ctx, s.options.Table, apiKeyKey(name), condition{})
	if err == nil && there == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
