package kafkabus

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
)

// offline returns a session of a membership without brokers.
func offline(t *testing.T, inFlight int) *session {
	t.Helper()
	m := &membership{
		bus:       &Bus{opts: Options{CloseWait: time.Second}, log: slog.New(slog.DiscardHandler)},
		spec:      bus.Spec{MaxInFlight: inFlight, MaxBytes: 1 << 30},
		base:      t.Context(),
		committer: &committer{wake: make(chan struct{}, 1), sources: map[int32]*ledger{}},
		reader:    &reader{wake: make(chan struct{}, 1), feeds: map[int32]*feed{}},
	}
	a := &assignment{membership: m}
	a.ended, a.cancel = context.WithCancelCause(m.base)
	return newSession(a, nil)
}

// TestI13_NothingIsDeliveredBeyondTheCommittedReach: a killed owner commits nothing more, so the next owner knows
// which messages may have been started only from the reach that was committed before.
func TestI13_NothingIsDeliveredBeyondTheCommittedReach(t *testing.T) {
	const first = 100
	q := newQueueSource(offline(t, 64))
	q.start(place{next: first, end: 10_000})
	committed := int64(0) // the reach in the last commit
	delivered := int64(first)
	for rounds := 0; delivered < 1000; rounds++ {
		if rounds > 1000 {
			t.Fatalf("offset %d is not delivered although its reach is committed", delivered)
		}
		d, wait := q.accept(&kgo.Record{Offset: delivered})
		if d == nil {
			if !wait {
				t.Fatalf("offset %d is skipped", delivered)
			}
			p, ok := q.progress()
			if !ok || p.reach <= delivered {
				t.Fatalf("offset %d waits, and the next commit has the reach %d", delivered, p.reach)
			}
			committed = p.reach
			q.wrote(p)
			continue
		}
		if delivered >= committed {
			t.Fatalf("offset %d was delivered, and the committed reach is %d", delivered, committed)
		}
		if d.Deliveries != 1 {
			t.Fatalf("offset %d has %d deliveries, want 1", delivered, d.Deliveries)
		}
		d.Ack()
		delivered++
	}

	// The next owner, after a kill.
	p, _ := q.progress()
	p.next = first
	type delivery struct {
		end, offset int64
		deliveries  int
	}
	for _, c := range []delivery{
		{10_000, first, 2},
		{10_000, delivered - 1, 2},
		{10_000, p.reach - 1, 2},
		{10_000, p.reach, 1},
		// Messages published after the kill have no earlier delivery.
		{delivered, delivered - 1, 2},
		{delivered, delivered, 1},
		{delivered, p.reach - 1, 1},
	} {
		next := newQueueSource(offline(t, 64))
		next.start(place{next: first, end: c.end, found: true, progress: p})
		if kept, _ := next.progress(); kept.reach < p.reach {
			t.Errorf("the next owner commits the reach %d after %d", kept.reach, p.reach)
		}
		next.before.progress.acked = nil // as if no message had been acknowledged
		next.written = c.offset + 1
		d, _ := next.accept(&kgo.Record{Offset: c.offset})
		if d == nil || d.Deliveries != c.deliveries {
			t.Errorf("offset %d after a kill, with reach %d and end %d: %+v, want %d deliveries", c.offset, p.reach, c.end, d, c.deliveries)
		}
	}
}

// TestI10_NothingIsCommittedAfterALoss: the partition may have another owner, whose position a commit would move
// back.
func TestI10_NothingIsCommittedAfterALoss(t *testing.T) {
	for cause, commits := range map[error]bool{bus.ErrRevoked: true, bus.ErrLost: false} {
		s := offline(t, 64)
		q, o := newQueueSource(s), &orderedSource{session: s}
		q.start(place{next: 1})
		o.start(place{next: 1})
		s.End(cause)
		if _, ok := q.progress(); ok != commits {
			t.Errorf("%v: a queue's progress would be committed: %t, want %t", cause, ok, commits)
		}
		if _, ok := o.progress(); ok != commits {
			t.Errorf("%v: a log's progress would be committed: %t, want %t", cause, ok, commits)
		}
	}
}

// TestI10_ACommitCarriesTheMembershipFromBeforeItsProgress: if the partition is lost between the two, the coordinator
// must refuse the commit. With the later membership it would accept the position of a partition that another member
// has.
func TestI10_ACommitCarriesTheMembershipFromBeforeItsProgress(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var sent []*kmsg.OffsetCommitRequest
	cluster.ControlKey(int16(kmsg.OffsetCommit), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req := r.(*kmsg.OffsetCommitRequest) //nolint:errcheck // the broker passes only requests of this key.
		sent = append(sent, req)
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse) //nolint:errcheck // as above.
		topic := kmsg.NewOffsetCommitResponseTopic()
		partition := kmsg.NewOffsetCommitResponseTopicPartition()
		partition.ErrorCode = kerr.IllegalGeneration.Code
		topic.Partitions = append(topic.Partitions, partition)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	member, generation := "before", int32(1)
	wrote := false
	l := &ledger{
		progress: func() (progress, bool) {
			member, generation = "after", 2 // a rebalance, seen by the client
			return progress{next: 7, topic: "id"}, true
		},
		wrote: func(progress) { wrote = true },
	}
	c := &committer{
		group: client, groupID: "g", topic: "t", member: func() (string, int32) { return member, generation },
		sources: map[int32]*ledger{0: l},
	}
	err = c.commit(t.Context(), nil)
	if len(sent) != 1 || sent[0].MemberID != "before" || sent[0].Generation != 1 {
		t.Fatalf("sent %+v (%v), want the membership before the progress was read", sent, err)
	}
	if !errors.Is(err, kerr.IllegalGeneration) || wrote {
		t.Errorf("the refusal gave %v; taken for written: %t", err, wrote)
	}
}
