package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Creation is a set of timers to create. Programs that compare the service with other systems use it instead of Run.
type Creation struct {
	// Namespace is created with Shards shards if it does not exist.
	Namespace string
	Shards    int
	// Prefix and a number of eight digits are the id of a timer.
	Prefix string
	Count  int
	// Callback is the URL that timers call.
	Callback string
	// At returns when the n-th timer is due.
	At func(n int) time.Time
	// Connections send one request at a time, each with Batch timers; with 1 it is a request to create a single timer.
	Connections, Batch int
}

// Create creates the timers, and returns how long that took. It stops at the first failure.
func (t *Target) Create(ctx context.Context, c Creation) (time.Duration, error) {
	if c.Connections < 1 || c.Batch < 1 {
		return 0, errors.New("connections and batch: want at least 1")
	}
	if err := t.createNamespace(ctx, c.Namespace, c.Shards, `{}`); err != nil {
		return 0, err
	}
	s := newSet(c.Namespace, c.Prefix, []string{c.Callback}, SmallPayload, c.Count, c.At)
	l := load{
		target: t, path: createPath, connections: c.Connections, requests: c.Count, body: s.appendCreate, done: new(atomic.Int64),
	}
	if c.Batch > 1 {
		l.path, l.requests, l.check = batchPath, (c.Count+c.Batch-1)/c.Batch, allTaken
		l.body = func(to []byte, i int) []byte { return s.appendBatch(to, i*c.Batch, min((i+1)*c.Batch, c.Count)) }
	}
	sent, err := l.run(ctx)
	return sent.took, err
}

// AppendID appends the id of the n-th timer of the set with a prefix.
func AppendID(to []byte, prefix string, n int) []byte { return appendNumber(append(to, prefix...), n) }

// AppendDelivery appends a body that a Receiver counts as the callback of the n-th timer of the set with a prefix. It has
// SmallPayload bytes of payload.
func AppendDelivery(to []byte, prefix string, n int, due time.Time) []byte {
	to = AppendID(append(to, `{"timerId":"`...), prefix, n)
	to = due.UTC().AppendFormat(append(to, `","executeAt":"`...), instantLayout)
	return append(append(append(to, `","payload":`...), smallPayload...), '}')
}

var smallPayload = payloadOf(SmallPayload)
