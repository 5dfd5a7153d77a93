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

// The key attributes of both tables, and the one that the index sorts by.
const (
	partitionKey = "shard_id" // N
	sortKey      = "sk"       // S
	dueKey       = "due"      // S; absent on what is not to be found by Due
	dueIndex     = "due"
)

// Partitions that are no shard. Shards are numbered from 0.
const (
	// clusterPartition of the table holds the cluster's record, the schema's, and the namespaces.
	clusterPartition = -1
	// marks stand in buckets of the history table, so that asking whether anything is to be announced
	// costs the same for one shard and for a thousand. markBuckets is the default number of partitions of
	// the bus, so that the shards of one owner are mostly in one bucket; it is part of the schema.
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
)

func bucketOf(id shard.ID) int64 { return firstBucket - int64(id%markBuckets) }

// key makes the primary key of an item.
func key(partition int64, sort string) item {
	return item{partitionKey: number(partition), sortKey: text(sort)}
}

func timerKey(ref store.Ref) item { return key(int64(ref.Shard), timerPrefix+ref.UUID.String()) }

func recordKey(id shard.ID) item { return key(int64(id), shardRecord) }

func historyKey(ref store.Ref, generation timer.Generation, attempt timer.Attempt) item {
	return key(int64(ref.Shard), historySort(ref.UUID, generation, attempt))
}

// historySort is fixed by what is unique of an attempt, so that a condition on the item can hold it.
func historySort(u timer.UUID, generation timer.Generation, attempt timer.Attempt) string {
	return fmt.Sprintf("%s%s#%016x#%08x", historyPrefix, u, uint64(generation), uint32(attempt))
}

// instantWidth is that of timeText.
const instantWidth = 16

// timeText orders as a text as instants order, for every value of the type: the number with its sign bit
// turned over, in hexadecimal digits.
func timeText(at timer.Millis) string { return fmt.Sprintf("%016x", uint64(at)^1<<63) }

// keyText orders as a text as keys order. All are of one width.
func keyText(k store.Key) string { return timeText(k.DueAt) + "#" + k.UUID.String() }

const (
	// justAfter makes the smallest text behind a key's: no key of the same width lies between.
	justAfter = "!"
	// pastAllKeys lies behind every key.
	pastAllKeys = "g"
	// pastAllNames sorts after every name of a namespace.
	pastAllNames = "~"
)

// parseKey reads keyText's form.
func parseKey(text string) (store.Key, error) {
	const width = instantWidth + 1 + 36
	bad := func() (store.Key, error) {
		return store.Key{}, fmt.Errorf("%q is no key: want %d hexadecimal digits, # and a UUID", text, instantWidth)
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
	if keyText(k) != text { // upper case would order elsewhere
		return bad()
	}
	return k, nil
}

// markSort orders marks by age; what follows only makes it unique. A parked row has one mark at a time.
func markSort(m *store.Mark, at timer.Millis) string {
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
