package kafkabus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus/internal/window"
)

// progress is how far a group is in one partition, in Kafka's offsets. The committed offset says where
// the next owner reads on; the rest travels as the commit's metadata.
type progress struct {
	// next is the committed offset: everything before it is acknowledged.
	next int64
	// topic is the id of the topic that the offsets are of: a commit may outlive its topic.
	topic string
	// reach bounds what was delivered: no owner has delivered an offset at or beyond it. Only in Queue
	// mode, where it is committed before it is made use of; else 0.
	reach int64
	// acked is what was acknowledged at or after next, in order. Only in Queue mode.
	acked []window.Span
}

// metadataLimit is how long metadata gets. The brokers take 4,096 bytes
// (offset.metadata.max.bytes); what does not fit is acknowledged in vain, and repeated.
const metadataLimit = 4000

const metadataVersion = "1"

// metadata writes "1 TOPIC", and for queues " +REACH" and " SKIP+LENGTH" for each span, all relative to
// the offset before them.
func (p *progress) metadata() string {
	out := []byte(metadataVersion + " " + p.topic)
	if p.reach == 0 {
		return string(out)
	}
	out = strconv.AppendInt(append(out, " +"...), p.reach-p.next, 36)
	at := p.next
	for _, s := range p.acked {
		length := len(out)
		out = strconv.AppendInt(append(out, ' '), s.First-at, 36)
		out = strconv.AppendInt(append(out, '+'), s.Last-s.First+1, 36)
		if len(out) > metadataLimit {
			return string(out[:length])
		}
		at = s.Last + 1
	}
	return string(out)
}

// parseProgress reads a commit. Metadata that is not ours, as after an operator has moved the group
// with Kafka's tools, leaves the topic empty.
func parseProgress(next int64, metadata string) (progress, error) {
	p := progress{next: next}
	fields := strings.Fields(metadata)
	if len(fields) < 2 || fields[0] != metadataVersion {
		if metadata == "" {
			return p, nil
		}
		return p, fmt.Errorf("commit metadata %.40q is not ours", metadata)
	}
	parsed := progress{next: next, topic: fields[1]}
	for i, field := range fields[2:] {
		skip, length, ok := span(field)
		at := next
		if n := len(parsed.acked); n > 0 {
			at = parsed.acked[n-1].Last + 1
		}
		switch {
		case !ok || skip > maxOffset-at || length > maxOffset-at-skip:
			return p, fmt.Errorf("commit metadata %.40q: %q is no span", metadata, field)
		case i == 0:
			parsed.reach = next + length
		case length == 0:
			return p, fmt.Errorf("commit metadata %.40q: %q is empty", metadata, field)
		default:
			parsed.acked = append(parsed.acked, window.Span{First: at + skip, Last: at + skip + length - 1})
		}
	}
	return parsed, nil
}

// maxOffset keeps sums of foreign numbers from running over.
const maxOffset = 1 << 60

// span reads "SKIP+LENGTH"; without SKIP it is 0.
func span(field string) (skip, length int64, ok bool) {
	before, after, found := strings.Cut(field, "+")
	if !found {
		return 0, 0, false
	}
	if before == "" {
		before = "0"
	}
	skip, err := strconv.ParseInt(before, 36, 64)
	if err != nil || skip < 0 {
		return 0, 0, false
	}
	length, err = strconv.ParseInt(after, 36, 64)
	return skip, length, err == nil && length >= 0
}

// beyond counts what is acknowledged at or after an offset.
func (p *progress) beyond(from int64) (n int64) {
	for _, s := range p.acked {
		if s.Last >= from {
			n += s.Last - max(s.First, from) + 1
		}
	}
	return n
}

// isAcked reports whether an offset is in one of the spans.
func (p *progress) isAcked(offset int64) bool {
	i, found := slices.BinarySearchFunc(p.acked, offset, func(s window.Span, offset int64) int { return cmp.Compare(s.Last, offset) })
	return found || i < len(p.acked) && offset >= p.acked[i].First
}
