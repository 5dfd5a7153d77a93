package dynamostore

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
)

// Observer is told what operators of DynamoDB watch: units are money, throttling is a capacity that was
// set too low, and a collection that grows has an end. Its methods are called by many goroutines and must
// not wait.
type Observer interface {
	// Consumed is called for every request that was answered. total are read or write units, as the
	// operation is; index is what of them the index took. Of a write whose condition did not hold DynamoDB does not
	// tell what it took, which is as much as if it had: both are 0 then.
	Consumed(operation string, total, index float64)
	// Throttled is called for every attempt that was refused for lack of capacity.
	Throttled()
	// Collection tells how large a shard's item collection is at most, as estimated by the service; it is
	// asked now and then.
	Collection(id shard.ID, gigabytes float64)
	// CollectionFull is called for every write that the limit of 10 GB refused.
	CollectionFull(id shard.ID)
}

// observers are told one after another.
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

// askSizeEvery is how many writes go by between two that ask for the size of their collections.
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

// wantCapacity is what requests ask for.
const wantCapacity = types.ReturnConsumedCapacityIndexes

func (s *Store) wantSize() types.ReturnItemCollectionMetrics {
	if s.writes.Add(1)%askSizeEvery != 1 {
		return types.ReturnItemCollectionMetricsNone
	}
	return types.ReturnItemCollectionMetricsSize
}

// sizes passes on what a write was told about the collections it touched.
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
