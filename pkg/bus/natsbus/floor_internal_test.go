package natsbus

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestI12_AFloorCountsWhatTheConsumerHasNotCountedYet: the server counts a message for the consumer some time after it
// has acknowledged the publish. A floor at the end of the queue would then say that the message is acknowledged.
func TestI12_AFloorCountsWhatTheConsumerHasNotCountedYet(t *testing.T) {
	consumer := func(floor, delivered uint64, unacknowledged int, pending uint64) *jetstream.ConsumerInfo {
		c := &jetstream.ConsumerInfo{NumAckPending: unacknowledged, NumPending: pending}
		c.AckFloor.Stream, c.Delivered.Stream = floor, delivered
		return c
	}
	type state struct {
		first, end     uint64
		depth, waiting int
	}
	for name, c := range map[string]struct {
		stream   jetstream.StreamState
		consumer *jetstream.ConsumerInfo
		want     state
	}{
		"all is acknowledged":        {jetstream.StreamState{FirstSeq: 11, LastSeq: 10}, consumer(10, 10, 0, 0), state{11, 11, 0, 0}},
		"not counted, none before":   {jetstream.StreamState{Msgs: 2, FirstSeq: 1, LastSeq: 2}, consumer(0, 0, 0, 0), state{1, 3, 2, 2}},
		"not counted, some before":   {jetstream.StreamState{Msgs: 2, FirstSeq: 9, LastSeq: 10}, consumer(8, 8, 0, 0), state{9, 11, 2, 2}},
		"one counted":                {jetstream.StreamState{Msgs: 3, FirstSeq: 8, LastSeq: 10}, consumer(7, 8, 1, 1), state{8, 11, 3, 2}},
		"delivered, not acked":       {jetstream.StreamState{Msgs: 2, FirstSeq: 9, LastSeq: 10}, consumer(8, 10, 2, 0), state{9, 11, 2, 0}},
		"newer than the stream":      {jetstream.StreamState{FirstSeq: 11, LastSeq: 10}, consumer(10, 10, 0, 1), state{11, 12, 1, 1}},
		"the stream lost its end":    {jetstream.StreamState{Msgs: 1, FirstSeq: 5, LastSeq: 5}, consumer(8, 8, 0, 0), state{6, 6, 0, 0}},
		"restored, below the floor":  {jetstream.StreamState{Msgs: 3, FirstSeq: 4, LastSeq: 10}, consumer(10, 10, 0, 0), state{11, 11, 0, 0}},
		"removed before it was read": {jetstream.StreamState{FirstSeq: 11, LastSeq: 10}, consumer(7, 7, 0, 0), state{11, 11, 0, 0}},
		"no consumer":                {jetstream.StreamState{Msgs: 4, FirstSeq: 7, LastSeq: 10}, nil, state{7, 11, 4, 4}},
	} {
		part := &queuePart{}
		part.count(&c.stream, c.consumer)
		if got := (state{part.first, part.end, part.depth, part.waiting}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
