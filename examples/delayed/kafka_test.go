package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client/watermillclient"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

//testenv:need kafka

// TestDelayOnKafka: Watermill's Kafka Pub/Sub has no delays. A message with arbitrary bytes and Watermill's delay
// metadata arrives on Kafka unchanged after its delay. Its reader needs no code of Timerbus.
func TestDelayOnKafka(t *testing.T) {
	broker := os.Getenv("TIMERBUS_TEST_KAFKA")
	if broker == "" {
		if slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), "kafka") {
			t.Fatal("TIMERBUS_REQUIRE names kafka, and TIMERBUS_TEST_KAFKA is not set")
		}
		t.Skip("no kafka: `make test MODULES=examples` starts one")
	}
	publisher, subscriber, err := pubsub(broker)
	if err != nil {
		t.Fatal(err)
	}
	service, stop, err := program.InMemory(t.Context(), timerbus.Options{
		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
	}, "orders.*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(stop(), subscriber.Close(), publisher.Close()); err != nil {
			t.Error(err)
		}
	})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, timers := range map[string]watermillclient.Timers{
		"http":     service.Client(),
		"commands": watermillclient.Through(publisher, watermillclient.Commands, "orders"),
	} {
		t.Run(name, func(t *testing.T) {
			delayed, err := watermillclient.NewDelayed(watermillclient.DelayedConfig{Publisher: publisher, Timers: timers})
			if err != nil {
				t.Fatal(err)
			}
			topic := "orders." + watermill.NewShortUUID()
			if err := makeTopic(subscriber, topic); err != nil {
				t.Fatal(err)
			}
			messages, err := subscriber.Subscribe(t.Context(), topic)
			if err != nil {
				t.Fatal(err)
			}
			m := message.NewMessage(watermill.NewUUID(), every)
			m.Metadata.Set("order", "17")
			const wait = 1500 * time.Millisecond
			due := time.Now().Add(wait)
			delay.Message(m, delay.For(wait))
			if err := delayed.Publish(topic, m); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			select {
			case got := <-messages:
				late := time.Since(due)
				got.Ack()
				if late < 0 {
					t.Errorf("came %v too early", -late)
				}
				if got.UUID != m.UUID || !bytes.Equal(got.Payload, every) || got.Metadata.Get("order") != "17" {
					t.Errorf("came as %s %v %q", got.UUID, got.Metadata, got.Payload)
				}
				t.Logf("came %v late", late)
			case <-ctx.Done():
				t.Fatal("no message")
			}
		})
	}
}
