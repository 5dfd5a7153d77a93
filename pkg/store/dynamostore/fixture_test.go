package dynamostore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/timer"
)

const present = timer.Millis(1_800_000_000_000)

var revisions = timer.NewRevisions(timer.SystemClock, rand.Uint64)

// putIn returns a create of a timer with a payload of 200 bytes, in the given shard.
func putIn(id shard.ID, name string, at timer.Millis) store.Put {
	return store.Put{
		Ref: store.Ref{Shard: id, UUID: timer.UUIDOf("default", name)}, Namespace: "default", ID: name, Revision: revisions.Next(),
		Spec: timer.Spec{
			ExecuteAt: at, CallbackURL: "https://example.com/hooks/orders", CallbackTimeout: timer.DefaultCallbackTimeout,
			Retry: timer.DefaultRetryPolicy(), Payload: fmt.Appendf(nil, `{"text":"%0190d"}`, 7),
		},
	}
}

// made writes operations and returns the timers after them.
func made(tb testing.TB, s *dynamostore.Store, ops ...store.Op) []timer.Timer {
	tb.Helper()
	out, err := s.Write(tb.Context(), present, ops)
	if err != nil {
		tb.Fatal(err)
	}
	timers := make([]timer.Timer, len(out))
	for i := range out {
		if out[i].Err != nil {
			tb.Fatal(out[i].Err)
		}
		timers[i] = out[i].Timer
	}
	return timers
}

func claimed(tb testing.TB, s *dynamostore.Store, ids ...shard.ID) []store.Claim {
	tb.Helper()
	got, err := s.Claim(tb.Context(), present, store.Owner{Incarnation: timer.UUIDOf("owner", fmt.Sprint(rand.Uint64()))}, ids)
	if err != nil {
		tb.Fatal(err)
	}
	claims := make([]store.Claim, len(got))
	for i := range got {
		claims[i] = got[i].Claim
	}
	return claims
}

// finishOf returns an outcome for a timer in the given state.
func finishOf(id shard.ID, t *timer.Timer, kind store.FinishKind) store.Finish {
	return store.Finish{
		Ref: store.Ref{Shard: id, UUID: t.UUID}, DueAt: t.DueAt, Kind: kind, If: store.Guard{Revision: t.Revision},
		Next: revisions.Next(), NextAt: present + 60_000,
		Record: store.Record{
			Attempt: t.Attempts + 1, StartedAt: present, FinishedAt: present + 20, StatusCode: 200, KeepFor: 24 * time.Hour,
		},
	}
}

// count returns consecutive shards.
func count(n int) []shard.ID {
	ids := make([]shard.ID, n)
	for i := range ids {
		ids[i] = shard.ID(i)
	}
	return ids
}

func dueIn(claims []store.Claim) store.DueQuery {
	q := store.DueQuery{Horizon: present, PerShard: 1000, Total: 10_000}
	for _, c := range claims {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c, After: store.MinKey()})
	}
	return q
}

func overdueIn(claims []store.Claim) store.OverdueQuery {
	q := store.OverdueQuery{Before: present + 1, Limit: 1000}
	for _, c := range claims {
		q.Shards = append(q.Shards, store.OverdueRange{Claim: c, From: store.MinKey(), Upto: store.MaxKeyAt(present)})
	}
	return q
}
