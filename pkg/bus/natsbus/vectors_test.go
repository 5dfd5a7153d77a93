package natsbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
	"github.com/timerbus/timerbus/pkg/shard"
)

// vector is a public message from schemas/testdata: on NATS the body is the whole event.
type vector struct {
	Structured struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"structured"`
}

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
	ctx, cancel := context.WithCancel(t.Context())
	got, ended := make(chan *bus.Delivery, 1), make(chan error, 1)
	go func() {
		ended <- b.Consume(ctx, bus.Spec{Topic: bus.Commands, Group: "g", Mode: bus.Ordered},
			func(context.Context, shard.Partition) (bus.Session, error) { return passing(got), nil })
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	files, err := filepath.Glob("../../../schemas/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var v vector
		if err := json.Unmarshal(text, &v); err != nil || v.Structured.Headers == nil {
			continue // a vector of something else
		}
		tried++
		name := filepath.Base(file)
		m := bus.Message{Partition: 3, Key: "default/order-17", Headers: v.Structured.Headers, Body: []byte(v.Structured.Body)}
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
		select {
		case d := <-got:
			if d.Key != m.Key || d.Partition != 5 || !maps.Equal(d.Headers, m.Headers) || !bytes.Equal(d.Body, m.Body) {
				t.Errorf("%s: we read key %q of partition %d, headers %v, body %s", name, d.Key, d.Partition, d.Headers, d.Body)
			}
			d.Ack()
		case <-time.After(patience):
			t.Fatalf("%s: nothing was delivered", name)
		}
	}
	if tried < 13 {
		t.Errorf("only %d messages were tried", tried)
	}
}

// passing is a session that forwards deliveries.
type passing chan *bus.Delivery

func (p passing) Deliver(_ context.Context, d *bus.Delivery) error {
	p <- d
	return nil
}

func (p passing) Close(context.Context, error) error { return nil }
