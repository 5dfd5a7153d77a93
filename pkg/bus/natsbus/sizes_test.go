package natsbus_test

import (
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// TestDefaultSizesFitIntoThreeGigabytes: a stream's maximum size counts against its account as soon as it is created.
func TestDefaultSizesFitIntoThreeGigabytes(t *testing.T) {
	server := startServer(t, embedded.Options{MaxStore: 3_000_000_000})
	b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestStreamsThatDoNotFitNameTheirSettings(t *testing.T) {
	server := startServer(t, embedded.Options{MaxStore: 1_000_000_000})
	_, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server})
	if err == nil {
		t.Fatal("streams of more than 1 GB were made in an account of 1 GB")
	}
	for _, want := range []string{"commands-size", "due-size", "events-size", "512 MiB", "insufficient storage"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	b, err := natsbus.Connect(t.Context(), natsbus.Options{
		InProcess: server, CommandsMaxBytes: 300 << 20, QueueMaxBytes: 200 << 20, LogMaxBytes: 100 << 20,
	})
	if err != nil {
		t.Fatalf("with the settings that the error names: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestSizesThatAreGivenHoldForStreamsThatExist: default sizes are not applied to existing streams, because an
// operator may have changed them.
func TestSizesThatAreGivenHoldForStreamsThatExist(t *testing.T) {
	server := startServer(t, embedded.Options{})
	_, js := raw(t, server)
	for _, step := range []struct {
		given, want int64
	}{{0, 512 << 20}, {100 << 20, 100 << 20}, {0, 100 << 20}, {300 << 20, 300 << 20}} {
		b, err := natsbus.Connect(t.Context(), natsbus.Options{InProcess: server, LogMaxBytes: step.given, QueueMaxBytes: step.given})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]int64{"timerbus-fired": step.want, "timerbus-due": step.want, "timerbus-commands": 512 << 20} {
			found, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if got := found.CachedInfo().Config.MaxBytes; got != want {
				t.Errorf("after sizes of %d: %s has %d, want %d", step.given, name, got, want)
			}
		}
	}
}
