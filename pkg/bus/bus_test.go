package bus_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
)

func TestPositionsOrderByIncarnationThenOffset(t *testing.T) {
	inOrder := []bus.Position{
		{}, {Offset: 1}, {Incarnation: 1}, {Incarnation: 1, Offset: 1}, {Incarnation: 1, Offset: 9}, {Incarnation: 2, Offset: 1},
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
	if k := bus.Topic("other").Kind(); k != 0 {
		t.Errorf("a topic that is not ours is of kind %d, want 0", k)
	}
}
