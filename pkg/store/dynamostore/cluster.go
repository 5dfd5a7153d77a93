package dynamostore

import (
	"context"
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

// The attributes of the cluster's record; its id is in attrID.
const attrPartitions = "partitions"

// Init implements store.Cluster.
func (s *Store) Init(ctx context.Context, want store.Identity) (store.Identity, error) {
	if err := s.enter(ctx, "init cluster"); err != nil {
		return store.Identity{}, err
	}
	defer s.leave()
	it := key(clusterPartition, clusterRecord)
	it.text(attrID, want.ID.String())
	it[attrPartitions], it[attrCreatedAt] = number(want.Partitions), number(want.CreatedAt)
	there, held, err := s.put(ctx, s.options.Table, it, condition{holds: nothingHere})
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
		read.failf("%s is no UUID", attrID)
	}
	if read.err != nil {
		return store.Identity{}, fmt.Errorf("init cluster: %w", read.err)
	}
	return found, nil
}

// Ping implements store.Cluster. DynamoDB tells its clock in the Date of each answer, in whole seconds. So
// what is returned is the instant of that second that is nearest to when the answer came, by this machine's
// clock: an offset shows as far as it is certain, and one below a second may not show at all.
func (s *Store) Ping(ctx context.Context) (timer.Millis, error) {
	if err := s.enter(ctx, "ping"); err != nil {
		return 0, err
	}
	defer s.leave()
	var now timer.Millis
	err := s.read(ctx, func() error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &s.options.Table, Key: key(clusterPartition, clusterRecord), ConsistentRead: aws.Bool(true),
			ReturnConsumedCapacity: wantCapacity,
		})
		if err != nil {
			return err
		}
		s.consumed("GetItem", deref(out.ConsumedCapacity)...)
		now, err = clockOf(out.ResultMetadata)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("ping: %w", err)
	}
	return now, nil
}

func clockOf(answer smithymiddleware.Metadata) (timer.Millis, error) {
	raw, ok := awsmiddleware.GetRawResponse(answer).(*smithyhttp.Response)
	if !ok || raw == nil {
		return 0, fmt.Errorf("the answer has no header")
	}
	date, err := http.ParseTime(raw.Header.Get("Date"))
	if err != nil {
		return 0, fmt.Errorf("the answer's Date is %q", raw.Header.Get("Date"))
	}
	first := timer.FromTime(date)
	last := first.Add(time.Second - time.Millisecond)
	came, ok := awsmiddleware.GetResponseAt(answer)
	if !ok {
		return first, nil
	}
	return min(max(timer.FromTime(came), first), last), nil
}
