package natsbus

import (
	"log/slog"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// connectEmbedded returns a bus on an embedded server of the test.
func connectEmbedded(t *testing.T, opts Options) *Bus {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), NoSync: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	opts.InProcess = server
	b, err := Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestProcessesNoteRemovedCommandsTogether: every process that applies commands removes the applied ones, and all of
// them find the stream half full at the same time.
func TestProcessesNoteRemovedCommandsTogether(t *testing.T) {
	t.Parallel()
	b := connectEmbedded(t, Options{Partitions: 1})
	info, err := b.info(t.Context(), b.streams[bus.Commands])
	if err != nil {
		t.Fatal(err)
	}
	const processes, rounds = 8, 10
	for round := range uint64(rounds) {
		var noting sync.WaitGroup
		for p := range uint64(processes) {
			noting.Go(func() {
				if err := b.noteTrim(t.Context(), info, round*processes+p+1); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		noting.Wait()
		last, err := b.trimmed(t.Context(), groupName(bus.Commands, bus.GroupIngest), info)
		if want := int64((round + 1) * processes); err != nil || last != want {
			t.Fatalf("removed up to %d, %v; want %d", last, err, want)
		}
	}
}
