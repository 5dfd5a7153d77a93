package natsbus

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
)

// TestRememberedStreamsAreBounded: with a stream that captures "orders.>", every subject that a timer names is a
// topic.
func TestRememberedStreamsAreBounded(t *testing.T) {
	f := foreign{by: map[bus.Topic]*stream{}}
	var last bus.Topic
	for n := range maxForeign + 100 {
		last = bus.Own(fmt.Sprintf("orders.%d", n))
		f.set(last, &stream{name: "ORDERS"})
	}
	if len(f.by) != maxForeign || f.get(last) == nil {
		t.Errorf("%d are remembered, want %d with the last one", len(f.by), maxForeign)
	}
}
