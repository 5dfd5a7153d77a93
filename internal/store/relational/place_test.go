package relational

import (
	"errors"
	"math"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var (
	block   = shard.Block{Base: 0, Count: 16}
	cursors = Cursors{Live: "te1l", Finished: "te1f"}
)

func TestCursorsComeBack(t *testing.T) {
	want := Place{Shard: 7, UUID: timer.UUID{1, 2, 255}, Generation: math.MaxInt64, Attempt: 3}
	for _, status := range timer.Statuses() {
		q := store.ListQuery{Status: status, Namespace: store.Namespace{Shards: block}}
		q.After = cursors.At(want, status.Finished())
		got, err := cursors.Start(&q)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", status, got, err, want)
		}
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	good := cursors.At(Place{Shard: 7}, false)
	foreign := Cursors{Live: "xx1l", Finished: "xx1f"}.At(Place{Shard: 7}, false)
	damaged := append(store.Cursor{}, good...)
	damaged[10] ^= 1
	elsewhere := store.ListQuery{After: good, Namespace: store.Namespace{Shards: shard.Block{Base: 16, Count: 16}}}
	for name, q := range map[string]store.ListQuery{
		"damaged":           {After: damaged, Namespace: store.Namespace{Shards: block}},
		"cut":               {After: good[:len(good)-1], Namespace: store.Namespace{Shards: block}},
		"another kind":      {After: good, Status: timer.StatusDone, Namespace: store.Namespace{Shards: block}},
		"another engine":    {After: foreign, Namespace: store.Namespace{Shards: block}},
		"another namespace": elsewhere,
	} {
		var invalid *timer.InvalidError
		if _, err := cursors.Start(&q); !errors.As(err, &invalid) {
			t.Errorf("%s: got %v, want an InvalidError", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte(cursors.At(Place{Shard: 7}, false)), false)
	f.Add([]byte(cursors.At(BehindAll(), true)), true)
	f.Add([]byte("te1l"), false)
	f.Fuzz(func(t *testing.T, raw []byte, finished bool) {
		q := store.ListQuery{After: raw, Namespace: store.Namespace{Shards: block}}
		if finished {
			q.Status = timer.StatusDead
		}
		p, err := cursors.Start(&q)
		if err == nil && len(raw) > 0 && string(cursors.At(p, finished)) != string(raw) {
			t.Errorf("%x is read as %+v, which is %x", raw, p, cursors.At(p, finished))
		}
	})
}
