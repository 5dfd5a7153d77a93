package natsbus

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// writerFunc receives log lines.
type writerFunc func(line []byte)

func (w writerFunc) Write(line []byte) (int, error) {
	w(line)
	return len(line), nil
}

// TestStreamsAreMadeAgainForACallerThatGivesUp deletes the streams, including the bucket of leases. The caller that
// creates them again loses its lease in the process. All streams must be created, and watchers of the old ones must
// start again.
func TestStreamsAreMadeAgainForACallerThatGivesUp(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(t.Context())
	log := slog.New(slog.NewTextHandler(writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("creating it again")) {
			giveUp()
		}
	}), nil))
	// The creation of all streams may take twice LeaseTTL: with its default of 1 s, a busy machine does not finish in time.
	b := connectEmbedded(t, Options{Logger: log, QueueStreams: 3, LeaseTTL: 30 * time.Second})
	var names []string
	for name := range b.js.StreamNames(t.Context()).Name() {
		names = append(names, name)
	}
	for _, name := range names {
		if err := b.js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	changed := b.link.next()
	b.restore(ctx, b.opts.stream(bus.Commands))
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Fatal("the caller has not given up: this proves nothing")
	}
	select {
	case <-changed:
	default:
		t.Error("the change is not announced")
	}
	for _, name := range names {
		if _, err := b.js.Stream(t.Context(), name); errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("stream %s is not created again", name)
		}
	}
}
