package dynamostore

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
)

// Observer receives measurements for operators of DynamoDB: consumed units cost money, throttling means that the
// capacity is too low, and an item collection has a size limit. Many goroutines call its methods, which must not block.
type Observer interface {
	// Consumed is called for every answered request. total are read or write units, depending on the operation, and
	// index is the part of them that the index consumed. If the condition of a write failed, DynamoDB does not report
	// the units, which are as many as for a successful write. Both are 0 then.
	Consumed(operation string, total, index float64)
	// Throttled is called for every attempt that was refused for lack of capacity.
	Throttled()
	// Collection reports the upper bound of the service's estimate of a shard's item collection size. Only some of the
	// writes request it.
	Collection(id shard.ID, gigabytes float64)
	// CollectionFull is called for every write that was refused because of the limit of 10 GB.
	CollectionFull(id shard.ID)
}

// observers calls several Observers one after another.
type observers []Observer

func (all observers) Consumed(operation string, total, index float64) {
	for _, o := range all {
		o.Consumed(operation, total, index)
	}
}

func (all observers) Throttled() {
	for _, o := range all {
		o.Throttled()
	}
}

func (all observers) Collection(id shard.ID, gigabytes float64) {
	for _, o := range all {
		o.Collection(id, gigabytes)
	}
}

func (all observers) CollectionFull(id shard.ID) {
	for _, o := range all {
		o.CollectionFull(id)
	}
}

// askSizeEvery: one of this many writes requests the size of its item collections.
const askSizeEvery = 256

func (s *Store) consumed(operation string, all ...types.ConsumedCapacity) {
	total, index := 0.0, 0.0
	for i := range all {
		total += aws.ToFloat64(all[i].CapacityUnits)
		for _, c := range all[i].LocalSecondaryIndexes {
			index += aws.ToFloat64(c.CapacityUnits)
		}
	}
	s.options.Observer.Consumed(operation, total, index)
}

// wantCapacity makes answers report consumed units.
const wantCapacity = types.ReturnConsumedCapacityIndexes

func (s *Store) wantSize() types.ReturnItemCollectionMetrics {
	if s.writes.Add(1)%askSizeEvery != 1 {
		return types.ReturnItemCollectionMetricsNone
	}
	return types.ReturnItemCollectionMetricsSize
}

// sizes reports the collection sizes of a write's answer to the Observer.
func (s *Store) sizes(all ...types.ItemCollectionMetrics) {
	for i := range all {
		estimate := all[i].SizeEstimateRangeGB
		if len(estimate) == 0 {
			continue
		}
		read := reader{item: all[i].ItemCollectionKey}
		if id := read.int(partitionKey); id >= 0 && read.err == nil {
			s.options.Observer.Collection(shard.ID(id), estimate[len(estimate)-1])
		}
	}
}
