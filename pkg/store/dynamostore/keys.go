package dynamostore

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The key attributes of both tables, and the sort attribute of the index.
const (
	partitionKey = "shard_id" // N
	sortKey      = "sk"       // S
	dueKey       = "due"      // S; absent from items that Due must not return
	dueIndex     = "due"
)

// Partitions that are not shards. Shards are numbered from 0.
const (
	// clusterPartition is the partition of the table with the cluster's record, the schema's record, the
	// namespaces and the API keys.
	clusterPartition = -1
	// Outbox items are in buckets of the history table, so that a query for them costs the same for one shard and for a
	// thousand. markBuckets is the default number of partitions of the bus, so that the shards of one owner are mostly
	// in one bucket. It is part of the schema.
	markBuckets    = 16
	firstBucket    = -1
	markPrefix     = "m#"
	timerPrefix    = "t#"
	historyPrefix  = "h#"
	shardRecord    = "s#"
	clusterRecord  = "c#"
	schemaRecord   = "v#"
	counterRecord  = "b#" // the next free shard number
	namespaceStart = "n#"
	apiKeyStart    = "k#"
	flowStart      = "f#"
)

func bucketOf(id shard.ID) int64 { return firstBucket - int64(id%markBuckets) }

// key returns the primary key of an item.
func key(partition int64, sort string) item {
	return item{partitionKey: number(partition), sortKey: text(sort)}
}

func timerKey(ref store.Ref) item { return key(int64(ref.Shard), timerPrefix+ref.UUID.String()) }

func recordKey(id shard.ID) item { return key(int64(id), shardRecord) }

func historyKey(ref store.Ref, generation timer.Generation, attempt timer.Attempt) item {
	return key(int64(ref.Shard), historySort(ref.UUID, generation, attempt))
}

// historySort is computed from the unique key of an attempt, so that a condition on the item can enforce it.
func historySort(u timer.UUID, generation timer.Generation, attempt timer.Attempt) string {
	return generationSort(u, generation) + fmt.Sprintf("%08x", uint32(attempt))
}

// generationSort is the beginning of the sort keys of a generation's history.
func generationSort(u timer.UUID, generation timer.Generation) string {
	return fmt.Sprintf("%s%s#%016x#", historyPrefix, u, uint64(generation))
}

// instantWidth is the length of timeText's results.
const instantWidth = 16

// timeText returns a text whose order is that of times, for every value of the type: the number with its sign bit
// inverted, in hexadecimal digits.
func timeText(at timer.Millis) string { return fmt.Sprintf("%016x", uint64(at)^1<<63) }

// keyText returns a text whose order is that of keys. All have the same length.
func keyText(k store.Key) string { return timeText(k.DueAt) + "#" + k.UUID.String() }

const (
	// justAfter is a suffix that makes the smallest text after a key: no key of the same length is between the two.
	justAfter = "!"
	// pastAllKeys is after every key.
	pastAllKeys = "g"
	// pastAllNames is after every name of a namespace.
	pastAllNames = "~"
)

// parseKey parses the result of keyText.
func parseKey(text string) (store.Key, error) {
	const width = instantWidth + 1 + 36
	bad := func() (store.Key, error) {
		return store.Key{}, fmt.Errorf("%q is not a key: want %d hexadecimal digits, # and a UUID", text, instantWidth)
	}
	if len(text) != width || text[instantWidth] != '#' {
		return bad()
	}
	at, err := hex.DecodeString(text[:instantWidth])
	if err != nil {
		return bad()
	}
	u, ok := timer.ParseUUID(text[instantWidth+1:])
	if !ok {
		return bad()
	}
	var flipped uint64
	for _, b := range at {
		flipped = flipped<<8 | uint64(b)
	}
	k := store.Key{DueAt: timer.Millis(flipped ^ 1<<63), UUID: u}
	if keyText(k) != text { // upper case has another order
		return bad()
	}
	return k, nil
}

// markSort orders outbox items by age. The other fields make it unique. A parked row has one outbox entry at a time.
func markSort(m *store.OutboxID, at timer.Millis) string {
	s := markPrefix + timeText(at) + "#" + fmt.Sprintf("%08x", uint32(m.Ref.Shard)) + "#" + m.Ref.UUID.String()
	if m.Status == timer.StatusParked {
		return s + "#p"
	}
	return s + fmt.Sprintf("#%016x#%08x", uint64(m.Generation), uint32(m.Attempt))
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number[T ~int | ~int32 | ~int64 | ~uint32](n T) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}
