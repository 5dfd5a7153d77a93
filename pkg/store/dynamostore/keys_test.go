package dynamostore

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func someKeys() []store.Key {
	var keys []store.Key
	for _, at := range []timer.Millis{
		math.MinInt64, timer.MinMillis, -1000, -1, 0, 1, 9, 10, 1_800_000_000_000, timer.MaxMillis, timer.Never,
	} {
		for _, u := range []timer.UUID{{}, {0x7f}, {0x80}, {0xff, 0xff}, timer.UUIDOf("a", "b")} {
			keys = append(keys, store.Key{DueAt: at, UUID: u})
		}
	}
	return keys
}

func TestTextsOrderAsKeysDo(t *testing.T) {
	for _, a := range someKeys() {
		for _, b := range someKeys() {
			if got, want := cmp.Compare(keyText(a), keyText(b)), a.Compare(b); got != want {
				t.Errorf("%q compares to %q as %d, want %d", keyText(a), keyText(b), got, want)
			}
			behind := keyText(a) + justAfter
			if got, want := keyText(b) >= behind, b.After(a); got != want {
				t.Errorf("%q lies at or behind %q: %t, want %t", keyText(b), behind, got, want)
			}
		}
		if keyText(a) >= pastAllKeys {
			t.Errorf("%q lies behind all keys", keyText(a))
		}
		if back, err := parseKey(keyText(a)); err != nil || back != a {
			t.Errorf("%q reads as %+v (%v), want %+v", keyText(a), back, err, a)
		}
	}
}

func TestMarksOrderByAge(t *testing.T) {
	mark := func(shard uint32, status timer.Status) *store.OutboxID {
		return &store.OutboxID{Ref: store.Ref{Shard: 7, UUID: timer.UUID{byte(shard)}}, Status: status, Generation: 5, Attempt: 1}
	}
	older := markSort(mark(9, timer.StatusDead), 10)
	newer := markSort(mark(1, timer.StatusParked), 11)
	if older >= newer {
		t.Errorf("%q does not come before %q", older, newer)
	}
	// The bound of a query is before the outbox items of its own time and after all earlier ones.
	if bound := markPrefix + timeText(11); older >= bound || newer <= bound {
		t.Errorf("%q is not between %q and %q", bound, older, newer)
	}
}

func TestNamesFindsEveryAttributeOnce(t *testing.T) {
	got := names("SET #due_at = :due_at, #rev = :rev REMOVE #due", "#rev = :was AND attribute_exists(#sk)", "")
	var all []string
	for placeholder, name := range got {
		if placeholder != "#"+name {
			t.Errorf("%q stands for %q", placeholder, name)
		}
		all = append(all, name)
	}
	slices.Sort(all)
	if want := "due due_at rev sk"; strings.Join(all, " ") != want {
		t.Errorf("names are %v, want %s", all, want)
	}
}

// FuzzParseKey: if a text can be parsed as a key, it is the text of that key, so that its order is right.
func FuzzParseKey(f *testing.F) {
	for _, k := range someKeys() {
		f.Add(keyText(k))
	}
	f.Add("8000000000000000#6BA7B810-9dad-51d1-80b4-00c04fd430c8")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := parseKey(text); err == nil && keyText(k) != text {
			t.Errorf("%q reads as %+v, which is %q", text, k, keyText(k))
		}
	})
}

// FuzzCursor: every cursor that is accepted is one that the engine generates, within the namespace.
func FuzzCursor(f *testing.F) {
	ns := store.Namespace{Name: "a"}
	ns.Shards.Base, ns.Shards.Count = 10, 5
	for _, c := range []cursor{{shard: 12}, {shard: 10, started: true, uuid: timer.UUID{1}}, {shard: 14, finished: true, generation: 7, attempt: 1}} {
		f.Add([]byte(c.encode()), c.finished)
	}
	f.Fuzz(func(t *testing.T, raw []byte, finished bool) {
		q := store.ListQuery{Namespace: ns, After: raw}
		if finished {
			q.Status = timer.StatusDead
		}
		c, err := startOf(&q)
		if err != nil || len(raw) == 0 {
			return
		}
		if !ns.Shards.Contains(c.shard) || c.finished != finished || string(c.encode()) != string(raw) {
			t.Errorf("%x reads as %+v, which is %x", raw, c, c.encode())
		}
	})
}
