package dynamostore

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/pkg/store"
)

// flowPartitions is the number of partitions of flows, because dispatchers write a flow that is in use every second. It is part
// of the schema.
const flowPartitions = 1024

// flowPartition returns the partition of a namespace's flows.
func flowPartition(namespace string) int64 {
	return clusterPartition - 1 - int64(crc32.ChecksumIEEE([]byte(namespace))%flowPartitions)
}

// flowsOf returns the beginning of the sort keys of a namespace's flows. Names of namespaces contain no #.
func flowsOf(namespace string) string { return flowStart + namespace + "#" }

func flowKey(k store.FlowKey) item {
	return key(flowPartition(k.Namespace), flowsOf(k.Namespace)+k.Key)
}

func readFlow(namespace string, it item) (store.Flow, error) {
	read := reader{item: it}
	f := store.Flow{Version: read.int(attrVersion), State: read.text(attrBody)}
	f.Namespace, f.Key = namespace, strings.TrimPrefix(read.text(sortKey), flowsOf(namespace))
	return f, read.err
}

// GetFlow implements store.Flows.
func (s *Store) GetFlow(ctx context.Context, k store.FlowKey) (store.Flow, error) {
	op := fmt.Sprintf("get flow %q of %q", k.Key, k.Namespace)
	if err := s.calls.Enter(ctx, op); err != nil {
		return store.Flow{}, err
	}
	defer s.calls.Leave()
	it, err := s.get(ctx, s.options.Table, flowKey(k))
	if err == nil && it == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Flow{}, fmt.Errorf("%s: %w", op, err)
	}
	return readFlow(k.Namespace, it)
}

// ListFlows implements store.Flows.
func (s *Store) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	if err := s.calls.Enter(ctx, "list flows"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	const keys = "#shard_id = :partition AND #sk BETWEEN :after AND :end"
	prefix := flowsOf(namespace)
	in := dynamodb.QueryInput{
		TableName: &s.options.Table, KeyConditionExpression: aws.String(keys), ExpressionAttributeNames: names(keys),
		ExpressionAttributeValues: item{
			":partition": number(flowPartition(namespace)), ":after": text(prefix + after + "\x00"), ":end": text(prefix + "\U0010ffff"),
		},
	}
	var found []store.Flow
	for {
		page, err := s.query(ctx, &in)
		if err != nil {
			return nil, fmt.Errorf("list flows: %w", err)
		}
		for _, it := range page.Items {
			f, err := readFlow(namespace, it)
			if err != nil {
				return nil, fmt.Errorf("list flows: %w", err)
			}
			if found = append(found, f); len(found) == limit {
				return found, nil
			}
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return found, nil
		}
	}
}

// SwapFlow implements store.Flows.
func (s *Store) SwapFlow(ctx context.Context, from int64, f store.Flow) error {
	op := fmt.Sprintf("write flow %q of %q", f.Key, f.Namespace)
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	only := condition{holds: nothingHere}
	if from != 0 {
		only = condition{"#version = :from", item{":from": number(from)}}
	}
	var held bool
	var err error
	if f.State == "" {
		_, held, err = s.remove(ctx, s.options.Table, flowKey(f.FlowKey), only)
	} else {
		it := item{attrVersion: number(f.Version)}
		it.text(attrBody, f.State)
		maps.Copy(it, flowKey(f.FlowKey))
		_, held, err = s.put(ctx, s.options.Table, it, only)
	}
	if err == nil && !held {
		err = store.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
