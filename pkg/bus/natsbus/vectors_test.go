package natsbus_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// TestVectorsLieOnNATSAsPinned: a client without Timerbus reads every public message that Timerbus publishes, and
// Timerbus reads every one that the client publishes. Headers and body must equal the golden vectors, except for one
// additional header with the key.
func TestVectorsLieOnNATSAsPinned(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0", NoSync: true})
	b := connect(t, server)
	other, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fired, err := other.SubscribeSync("timerbus.fired.3")
	if err == nil {
		err = other.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	ours := make(enginetest.Inbox, 1)
	t.Cleanup(consumeInto(t, b, bus.Commands, bus.Ordered, ours))
	for _, v := range enginetest.Vectors(t, "../../../schemas/testdata", enginetest.Structured) { // on NATS the body is the whole event
		name := v.Name
		m := bus.Message{Partition: 3, Key: "default/order-17", Headers: v.Headers, Body: v.Body}
		if _, err := b.Publish(t.Context(), bus.Fired, m); err != nil {
			t.Fatal(err)
		}
		read, err := fired.NextMsgWithContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		headers := map[string]string{}
		for name, values := range read.Header {
			headers[name] = values[0]
		}
		want := maps.Clone(m.Headers)
		want[natsbus.HeaderKey] = m.Key
		if !maps.Equal(headers, want) || !bytes.Equal(read.Data, m.Body) {
			t.Errorf("%s: others read headers %v, body %s", name, read.Header, read.Data)
		}
		command := &nats.Msg{Subject: "timerbus.commands.5", Header: read.Header, Data: read.Data}
		if _, err := other.RequestMsg(command, patience); err != nil {
			t.Fatal(err)
		}
		d := ours.Next(t)
		if d.Key != m.Key || d.Partition != 5 || !maps.Equal(d.Headers, m.Headers) || !bytes.Equal(d.Body, m.Body) {
			t.Errorf("%s: we read key %q of partition %d, headers %v, body %s", name, d.Key, d.Partition, d.Headers, d.Body)
		}
		d.Ack()
	}
}
