package natsbus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/internal/bus/window"
)

// TestHeartbeatsCountOnlyBetweenMessages: the sequence in a heartbeat is valid for the partition only if every
// message that the consumer has sent is acknowledged.
func TestHeartbeatsCountOnlyBetweenMessages(t *testing.T) {
	beat := func(delivered, searched string) *nats.Msg {
		return &nats.Msg{Subject: "inbox", Header: nats.Header{
			"Status": {"100"}, "Nats-Last-Consumer": {delivered}, "Nats-Last-Stream": {searched},
		}}
	}
	o := &orderedSource{pull: &puller{inbox: "inbox"}, acks: &consume.Acks{Window: window.New(10, 1<<20, 4)}, last: 4}
	step := func(what string, m *nats.Msg, want int64) {
		t.Helper()
		if o.heartbeat(m); o.passed != want {
			t.Errorf("%s: passed %d, want %d", what, o.passed, want)
		}
	}
	step("nothing delivered", beat("0", "9"), 9)
	o.sequence, o.last = 1, 12
	slot, _ := o.acks.Push(12, 1)
	step("a message is not acknowledged", beat("1", "20"), 9)
	o.acks.Done(slot)
	step("a message is on its way", beat("2", "20"), 9)
	step("all is acknowledged", beat("1", "20"), 20)
	step("an earlier search", beat("1", "15"), 20)
	step("no numbers", beat("1", "x"), 20)
	m := beat("1", "30")
	m.Header.Set("Status", "408")
	step("another status", m, 20)
	m = beat("1", "30")
	m.Subject = "timerbus.commands.0"
	step("a message that looks like a heartbeat", m, 20)
	slot, _ = o.acks.Push(31, 1)
	o.sequence, o.last = 2, 31
	o.acks.Restart(slot)
	step("a message is delivered again", beat("2", "40"), 20)
}

func TestStalled(t *testing.T) {
	var o orderedSource
	start := time.Now()
	for _, step := range []struct {
		full  bool
		after time.Duration
		want  bool
	}{
		{false, 0, false},
		{true, 0, false},
		{true, time.Hour, false},
		{false, time.Hour, true},
		{false, time.Hour, false},
		{true, 2 * time.Hour, false},
		{false, 2*time.Hour + stalledAfter - 1, false},
		{true, 3 * time.Hour, false},
		{false, 3*time.Hour + stalledAfter, true},
	} {
		if got := o.stalled(step.full, start.Add(step.after)); got != step.want {
			t.Errorf("full %v after %v: %v, want %v", step.full, step.after, got, step.want)
		}
	}
}
