package dynamostore

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/timerbus/timerbus/pkg/store"
)

// Each dispatcher writes a flow in use about every second, and DynamoDB allows 1,000 writes/s to a partition. So the flows of
// all namespaces are in flowPartitions partitions, and those of one namespace in up to flowParts of them. Both are part of the schema.
const (
	flowPartitions = 1024
	flowParts      = 16
)

// flowsOf returns the partition of a part of a namespace's flows, and the beginning of their sort keys. Names of namespaces
// contain no #.
func flowsOf(namespace string, part uint32) (partition int64, prefix string) {
	prefix = fmt.Sprintf("%s%s#%x#", flowStart, namespace, part)
	return clusterPartition - 1 - int64(crc32.ChecksumIEEE([]byte(prefix))%flowPartitions), prefix
}

func flowKey(k store.FlowKey) item {
	partition, prefix := flowsOf(k.Namespace, crc32.ChecksumIEEE([]byte(k.Key))%flowParts)
	return key(partition, prefix+k.Key)
}

func readFlow(k store.FlowKey, it item) (store.Flow, error) {
	read := reader{item: it}
	f := store.Flow{FlowKey: k, Version: read.int(attrVersion), State: read.text(attrBody)}
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
	return readFlow(k, it)
}

// ListFlows implements store.Flows. It reads a page of each part.
func (s *Store) ListFlows(ctx context.Context, namespace, after string, limit int) ([]store.Flow, error) {
	if err := s.calls.Enter(ctx, "list flows"); err != nil {
		return nil, err
	}
	defer s.calls.Leave()
	var parts [flowParts][]store.Flow
	err := s.each(flowParts, func(part int) (err error) {
		parts[part], err = s.listFlows(ctx, namespace, uint32(part), after, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list flows: %w", err)
	}
	found := slices.Concat(parts[:]...)
	slices.SortFunc(found, func(a, b store.Flow) int { return strings.Compare(a.Key, b.Key) })
	return found[:min(len(found), limit)], nil
}

// listFlows returns the first flows of a part after a key, in order.
func (s *Store) listFlows(ctx context.Context, namespace string, part uint32, after string, limit int) (found []store.Flow, err error) {
	const keys = "#shard_id = :partition AND #sk BETWEEN :after AND :end"
	partition, prefix := flowsOf(namespace, part)
	begin, end := prefix+after+"\x00", prefix+"\U0010ffff"
	if begin >= end { // DynamoDB refuses such a range
		return nil, nil
	}
	in := dynamodb.QueryInput{
		TableName: &s.options.Table, KeyConditionExpression: aws.String(keys), ExpressionAttributeNames: names(keys),
		ExpressionAttributeValues: item{
			":partition": number(partition), ":after": text(begin), ":end": text(end),
		},
		Limit: aws.Int32(int32(limit)),
	}
	for {
		page, err := s.query(ctx, &in)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			read := reader{item: it}
			f, err := readFlow(store.FlowKey{Namespace: namespace, Key: strings.TrimPrefix(read.text(sortKey), prefix)}, it)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil || len(found) >= limit {
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
