package kafkabus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/internal/bus/window"
)

// progress is a group's position in one partition, in Kafka's offsets. The next owner reads from the committed
// offset; the other fields are in the commit's metadata.
type progress struct {
	// next is the committed offset: every message before it is acknowledged.
	next int64
	// topic is the id of the topic to which the offsets belong: a commit may outlive its topic.
	topic string
	// reach bounds the delivered messages: no owner has delivered an offset at or beyond it. It is committed before
	// the deliveries. Only in Queue mode, otherwise 0.
	reach int64
	// acked are the acknowledged offsets at or after next, in order. Only in Queue mode.
	acked []window.Span
}

// metadataLimit is the maximum length of the metadata in bytes. The brokers accept 4,096 bytes
// (offset.metadata.max.bytes). Acknowledged messages whose spans do not fit are repeated after a take-over.
const metadataLimit = 4000

const metadataVersion = "1"

// metadata returns "1 TOPIC", and for queues " +REACH" and " SKIP+LENGTH" for each span, all relative to the offset
// before them.
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

// parseProgress parses a commit. If Timerbus did not write the metadata, for example after an operator has moved the
// group with Kafka's tools, the topic is empty.
func parseProgress(next int64, metadata string) (progress, error) {
	p := progress{next: next}
	fields := strings.Fields(metadata)
	if len(fields) < 2 || fields[0] != metadataVersion {
		if metadata == "" {
			return p, nil
		}
		return p, fmt.Errorf("commit metadata %.40q was not written by Timerbus", metadata)
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
			return p, fmt.Errorf("commit metadata %.40q: %q is not a span", metadata, field)
		case i == 0:
			parsed.reach = next + length
		case length == 0:
			return p, fmt.Errorf("commit metadata %.40q: span %q is empty", metadata, field)
		default:
			parsed.acked = append(parsed.acked, window.Span{First: at + skip, Last: at + skip + length - 1})
		}
	}
	return parsed, nil
}

// maxOffset prevents overflows of sums of foreign numbers.
const maxOffset = 1 << 60

// span parses "SKIP+LENGTH"; a missing SKIP is 0.
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

// beyond counts the acknowledged messages at or after an offset.
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
