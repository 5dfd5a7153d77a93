package natsbus

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// TestAStatusMayOvertakeMessages: on a cluster the server sends a message when its delivery is replicated, but the
// end of the request immediately. The bytes of messages in transit stay reserved.
func TestAStatusMayOvertakeMessages(t *testing.T) {
	p := &puller{inbox: "inbox", limit: 1024, bytes: 100_000, asked: 1024, askedBytes: 100_000}
	end := &nats.Msg{Subject: "inbox", Header: nats.Header{
		"Status": {"409"}, "Description": {"Message Size Exceeds MaxBytes"},
		"Nats-Pending-Messages": {"1022"}, "Nats-Pending-Bytes": {"20000"},
	}}
	step := func(what string, m *nats.Msg, asked, bytes int) {
		t.Helper()
		if _, err := p.sort(m); err != nil {
			t.Fatal(err)
		}
		if p.asked != asked || p.askedBytes != bytes {
			t.Errorf("%s: %d messages of %d bytes are requested, want %d of %d", what, p.asked, p.askedBytes, asked, bytes)
		}
	}
	message := &nats.Msg{Subject: "timerbus.due.0", Data: make([]byte, 40_000)}
	step("the request has ended", end, 2, 80_000)
	step("the first message", message, 1, 40_000)
	step("the last message", message, 0, 0)

	p.asked, p.askedBytes = 1024, 100_000
	step("a message in order", message, 1023, 100_000-100_000/1024)
	end.Header.Set("Nats-Pending-Messages", "1023")
	step("the end in order", end, 0, 0)
}

// TestARefusalEndsWithTheNextRequest: another member may have received the message that was too large, so that no
// message of this stream follows. The other streams must not wait for one.
func TestARefusalEndsWithTheNextRequest(t *testing.T) {
	p := &puller{inbox: "inbox", limit: 8, bytes: 100_000, asked: 8, askedBytes: 100_000}
	end := func(description string) {
		t.Helper()
		if _, err := p.sort(&nats.Msg{Subject: "inbox", Header: nats.Header{
			"Status": {"409"}, "Description": {description}, "Nats-Pending-Messages": {"8"}, "Nats-Pending-Bytes": {"20000"},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	end("Message Size Exceeds MaxBytes")
	if p.refused == 0 {
		t.Error("the refusal is not noted")
	}
	p.asked, p.askedBytes = 8, 100_000
	end("Batch Completed")
	if p.refused != 0 {
		t.Errorf("a request has ended otherwise, and %d bytes are still refused", p.refused)
	}
}
