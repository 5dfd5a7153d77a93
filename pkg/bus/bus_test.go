package bus_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
)

func TestPositionsOrderByEpochThenOffset(t *testing.T) {
	inOrder := []bus.Position{
		{}, {Offset: 1}, {Epoch: 1}, {Epoch: 1, Offset: 1}, {Epoch: 1, Offset: 9}, {Epoch: 2, Offset: 1},
	}
	for i, p := range inOrder {
		for j, q := range inOrder {
			if got := p.Before(q); got != (i < j) {
				t.Errorf("%v before %v: %v", p, q, got)
			}
		}
	}
}

func TestEveryTopicHasAKindAndNoOther(t *testing.T) {
	want := map[bus.Topic]bus.Kind{
		bus.Commands: bus.KindLog, bus.Shards: bus.KindHints, bus.Due: bus.KindQueue,
		bus.Fired: bus.KindLog, bus.Results: bus.KindLog, bus.Dead: bus.KindLog,
	}
	all := bus.Topics()
	if len(all) != len(want) {
		t.Fatalf("topics %v, want %d", all, len(want))
	}
	for _, topic := range all {
		if topic.Kind() != want[topic] {
			t.Errorf("%s is of kind %d, want %d", topic, topic.Kind(), want[topic])
		}
	}
	for _, none := range []bus.Topic{"other", "", bus.Own("")} {
		if k := none.Kind(); k != 0 {
			t.Errorf("%q, which is no topic, is of kind %d, want 0", none, k)
		}
	}
}

func TestATopicOfAUsersOwnIsALog(t *testing.T) {
	own := bus.Own("due") // not the queue of that name
	if name, ok := own.OwnName(); !ok || name != "due" || own == bus.Due || own.Kind() != bus.KindLog {
		t.Errorf("%q: name %q, own %v, kind %d", own, name, ok, own.Kind())
	}
	for _, topic := range bus.Topics() {
		if name, ok := topic.OwnName(); ok {
			t.Errorf("%s is the user's own %q", topic, name)
		}
	}
}
