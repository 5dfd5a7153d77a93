package sim

import (
	"testing"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
)

// TestReleasesReadEachOther: targets are read only if both releases have them.
func TestReleasesReadEachOther(t *testing.T) {
	due, hint := event.Due{Shard: 7, Sequence: 9, Target: 5}, event.Hint{Shard: 7, UpdatedAt: 9, Target: 5}
	releases := []Release{Present, Earlier, Later}
	for _, writer := range releases {
		for _, reader := range releases {
			wantDue, wantHint := due, hint
			if writer == Earlier || reader == Earlier {
				wantDue.Target, wantHint.Target = 0, 0
			}
			gotDue, err := event.UnmarshalDue(reader.read(writer.write(event.MarshalDue(due)), sizes[bus.Due]))
			if err != nil || gotDue != wantDue {
				t.Errorf("the %s release reads %+v (%v) from the %s one, want %+v", reader, gotDue, err, writer, wantDue)
			}
			gotHint, err := event.UnmarshalHint(reader.read(writer.write(event.MarshalHint(hint)), sizes[bus.Shards]))
			if err != nil || gotHint != wantHint {
				t.Errorf("the %s release reads %+v (%v) from the %s one, want %+v", reader, gotHint, err, writer, wantHint)
			}
		}
	}
	// The messages before decision 0036 had these sizes.
	if due, hint := len(Earlier.write(event.MarshalDue(due))), len(Earlier.write(event.MarshalHint(hint))); due != 81 || hint != 57 {
		t.Errorf("the earlier release writes due events of %d and hints of %d bytes, want 81 and 57", due, hint)
	}
}
