package natsbus

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/internal/outage"
)

// keys is a bucket that supports only the calls that a test sets.
type keys struct {
	jetstream.KeyValue
	get   func() (jetstream.KeyValueEntry, error)
	write func() (uint64, error)
}

func (k *keys) Get(context.Context, string) (jetstream.KeyValueEntry, error) { return k.get() }

func (k *keys) Create(context.Context, string, []byte, ...jetstream.KVCreateOpt) (uint64, error) {
	return k.write()
}

func (k *keys) Update(context.Context, string, []byte, uint64) (uint64, error) { return k.write() }

// value is an entry that has only a value.
type value struct {
	jetstream.KeyValueEntry
	text string
}

func (v value) Value() []byte { return []byte(v.text) }

const testTTL = time.Second

func leaseOn(members *keys) *lease {
	b := &Bus{opts: Options{LeaseTTL: testTTL}, members: members, log: slog.New(slog.DiscardHandler)}
	b.outage = outage.New(b.log, "nats", "operation")
	b.lease = newLease(b)
	return b.lease
}

// TestI5_ALeaseCountsFromWhenItWasAskedFor: the server counts a key's lifetime from when it receives the request. If
// the process counted from the reply, it would still own its partitions when another member takes them.
func TestI5_ALeaseCountsFromWhenItWasAskedFor(t *testing.T) {
	const slow = 300 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		l := leaseOn(&keys{write: func() (uint64, error) {
			switch writes++; {
			case writes > 100: // ends a lease that is kept for too long
				return 0, jetstream.ErrKeyNotFound
			case writes > 2:
				return 0, errors.New("no answer")
			}
			time.Sleep(slow)
			return uint64(writes), nil
		}})
		asked := time.Now()
		term, revision, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check := func(until time.Time) {
			t.Helper()
			time.Sleep(time.Until(until) - time.Nanosecond)
			if !term.valid() {
				t.Errorf("over before %v", until.Sub(asked))
			}
			time.Sleep(time.Nanosecond)
			if term.valid() {
				t.Errorf("valid at %v, when the server may have dropped the key", until.Sub(asked))
			}
		}
		ended := make(chan time.Duration, 1)
		go func() {
			_ = l.keep(t.Context(), term, revision)
			ended <- time.Since(asked)
		}()
		// One renewal succeeds. It is sent a third of the TTL after the reply.
		renewed := asked.Add(slow + testTTL/3)
		check(renewed.Add(testTTL))
		if at := <-ended; at > renewed.Sub(asked)+testTTL+testTTL/20 {
			t.Errorf("kept for %v after the request", at)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := leaseOn(&keys{write: func() (uint64, error) { time.Sleep(slow); return 1, nil }})
		asked := time.Now()
		term, _, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(asked.Add(testTTL)) - time.Nanosecond)
		if !term.valid() {
			t.Error("a new lease is over before its time")
		}
		time.Sleep(time.Nanosecond)
		if term.valid() {
			t.Error("a new lease is valid for longer than its time to live after the request")
		}
	})
}

// TestI5_OnlyTheServerSaysThatAnOwnerIsGone: a partition is taken from an owner only if the owner's key has expired
// or shows that it has no session in the group. If that is unknown, the partition is not taken.
func TestI5_OnlyTheServerSaysThatAnOwnerIsGone(t *testing.T) {
	const name = "commands.g"
	member := func(v memberValue) func() (jetstream.KeyValueEntry, error) {
		text, err := json.Marshal(v)
		return func() (jetstream.KeyValueEntry, error) { return value{text: string(text)}, err }
	}
	fails := func(err error) func() (jetstream.KeyValueEntry, error) {
		return func() (jetstream.KeyValueEntry, error) { return nil, err }
	}
	for why, c := range map[string]struct {
		get  func() (jetstream.KeyValueEntry, error)
		gone bool
	}{
		"expired":         {fails(jetstream.ErrKeyNotFound), true},
		"deleted":         {fails(jetstream.ErrKeyDeleted), true},
		"in other groups": {member(memberValue{Groups: []string{"due.g"}, Leaving: []string{"shards.g"}}), true},
		"in the group":    {member(memberValue{Groups: []string{"due.g", name}}), false},
		"leaving":         {member(memberValue{Leaving: []string{name}}), false},
		"no answer":       {fails(context.DeadlineExceeded), false},
		"no connection":   {fails(errors.New("nats: no responders")), false},
		"not understood":  {func() (jetstream.KeyValueEntry, error) { return value{text: "{"}, nil }, false},
	} {
		l := leaseOn(&keys{get: c.get})
		gone, err := l.gone(t.Context(), "owner", name)
		if gone != c.gone || gone && err != nil {
			t.Errorf("%s: gone is %t (%v), want %t", why, gone, err, c.gone)
		}
		// The write fails, so that a take-over begins no session.
		written := errors.New("written")
		writes := 0
		l.bus.owners = &keys{write: func() (uint64, error) { writes++; return 0, written }}
		g := &group{bus: l.bus, base: t.Context(), name: name, entries: []entry{{record: record{Owner: "owner"}, revision: 7}}}
		err = g.take(&term{id: "self"}, 0)
		if tried := writes == 1 && errors.Is(err, written); tried != c.gone || err == nil {
			t.Errorf("%s: %d writes and %v, want a take-over: %t", why, writes, err, c.gone)
		}
	}
}
