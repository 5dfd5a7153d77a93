package dynamostore

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/timerbus/timerbus/pkg/timer"
)

// item is an item of a table, or a part of one. Zero values are omitted, because every attribute's name is stored and
// billed with every item.
type item map[string]types.AttributeValue

func (it item) text(name, value string) {
	if value != "" {
		it[name] = text(value)
	}
}

func (it item) int(name string, value int64) {
	if value != 0 {
		it[name] = number(value)
	}
}

func (it item) time(name string, at timer.Millis) { it.int(name, int64(at)) }

func (it item) bytes(name string, value []byte) {
	if value != nil {
		it[name] = &types.AttributeValueMemberB{Value: value}
	}
}

// reader reads attributes of one item. Missing ones are zero. An attribute with an unexpected type is an error of the
// whole item, because another program has written it.
type reader struct {
	item item
	err  error
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("read item %s: "+format, append([]any{describeKey(r.item)}, args...)...)
	}
}

func (r *reader) text(name string) string {
	switch v := r.item[name].(type) {
	case nil:
		return ""
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		r.failf("%s is not a text", name)
		return ""
	}
}

func (r *reader) int(name string) int64 {
	switch v := r.item[name].(type) {
	case nil:
		return 0
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			r.failf("%s is %q, want a whole number of 64 bits", name, v.Value)
		}
		return n
	default:
		r.failf("%s is not a number", name)
		return 0
	}
}

func (r *reader) time(name string) timer.Millis { return timer.Millis(r.int(name)) }

func (r *reader) bytes(name string) []byte {
	switch v := r.item[name].(type) {
	case nil:
		return nil
	case *types.AttributeValueMemberB:
		return v.Value // decoded for this answer only
	default:
		r.failf("%s is not binary", name)
		return nil
	}
}

// uuidAfter reads the UUID that follows a prefix in the sort key.
func (r *reader) uuidAfter(prefix string) timer.UUID {
	const width = 36
	s := r.text(sortKey)
	if len(s) < len(prefix)+width || s[:len(prefix)] != prefix {
		r.failf("its sort key does not begin with %q and a UUID", prefix)
		return timer.UUID{}
	}
	u, ok := timer.ParseUUID(s[len(prefix) : len(prefix)+width])
	if !ok {
		r.failf("its sort key has no UUID after %q", prefix)
	}
	return u
}

func (r *reader) duration(name string) time.Duration { return time.Duration(r.int(name)) }

// describeKey returns the key of an item as text.
func describeKey(it item) string {
	partition, sort := "?", "?"
	if n, ok := it[partitionKey].(*types.AttributeValueMemberN); ok {
		partition = n.Value
	}
	if s, ok := it[sortKey].(*types.AttributeValueMemberS); ok {
		sort = s.Value
	}
	return partition + "/" + sort
}
