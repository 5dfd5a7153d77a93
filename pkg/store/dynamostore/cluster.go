package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The attributes of the cluster record. Its id is in attrID.
const attrPartitions = "partitions"

// Init implements store.Cluster.
func (s *Store) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	if err := s.calls.Enter(ctx, "init cluster"); err != nil {
		return store.Identity{}, err
	}
	defer s.calls.Leave()
	it := key(clusterPartition, clusterRecord)
	it.text(attrID, want.ID.String())
	it[attrPartitions], it[attrCreatedAt] = number(want.Partitions), number(want.CreatedAt)
	// Read first: only the first process of a cluster writes the record, so other processes need no right to write it.
	there, err := s.get(ctx, s.options.Table, key(clusterPartition, clusterRecord))
	held := false
	if err == nil && there == nil {
		there, held, err = s.put(ctx, s.options.Table, it, condition{holds: nothingHere})
	}
	if err != nil {
		return store.Identity{}, fmt.Errorf("init cluster: %w", err)
	}
	if held {
		return want, nil
	}
	read := reader{item: there}
	found := store.Identity{Partitions: int(read.int(attrPartitions)), CreatedAt: read.time(attrCreatedAt)}
	var ok bool
	if found.ID, ok = timer.ParseUUID(read.text(attrID)); !ok {
		read.failf("%s is not a UUID", attrID)
	}
	if read.err != nil {
		return store.Identity{}, fmt.Errorf("init cluster: %w", read.err)
	}
	return found, nil
}

// Ping implements store.Cluster.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.calls.Enter(ctx, "ping"); err != nil {
		return err
	}
	defer s.calls.Leave()
	err := s.read(ctx, func() error {
		_, err := s.clusterRecord(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// Time implements store.Cluster. DynamoDB reports its clock in the Date header of each answer, in whole seconds. The
// request takes no slot and is not retried.
func (s *Store) Time(ctx context.Context) (store.Instant, error) {
	if err := s.calls.Enter(ctx, "time"); err != nil {
		return store.Instant{}, err
	}
	defer s.calls.Leave()
	out, err := s.clusterRecord(ctx, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if err != nil {
		return store.Instant{}, fmt.Errorf("time: %w", failed(ctx, err, false))
	}
	now, err := dateOf(out.ResultMetadata)
	if err != nil {
		return store.Instant{}, fmt.Errorf("time: %w", err)
	}
	return now, nil
}

// clusterRecord reads the cluster record, which is small.
func (s *Store) clusterRecord(ctx context.Context, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.options.Table, Key: key(clusterPartition, clusterRecord), ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: wantCapacity,
	}, options...)
	if err != nil {
		return nil, err
	}
	s.consumed("GetItem", deref(out.ConsumedCapacity)...)
	return out, nil
}

func dateOf(answer smithymiddleware.Metadata) (store.Instant, error) {
	raw, ok := awsmiddleware.GetRawResponse(answer).(*smithyhttp.Response)
	if !ok || raw == nil {
		return store.Instant{}, errors.New("the answer has no header")
	}
	date, err := http.ParseTime(raw.Header.Get("Date"))
	if err != nil {
		return store.Instant{}, fmt.Errorf("the answer's Date is %q", raw.Header.Get("Date"))
	}
	return store.Instant{At: timer.FromTime(date), Within: time.Second}, nil
}
