package natsbus

import (
	"errors"
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// TestLateOwnerCannotCommit tests only the fence: no lease, clock or session can prevent the commit.
func TestLateOwnerCannotCommit(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	b, err := Connect(t.Context(), Options{InProcess: server})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()

	old := &holding{bus: b, key: "commands.g.0"}
	old.Owner = "old"
	if err := old.put(t.Context(), record{Owner: "old", Offset: 3}); err != nil {
		t.Fatal(err)
	}
	// If the reply to a write was lost, the next write detects that the record is its own and succeeds.
	unanswered := *old
	if err := old.put(t.Context(), record{Owner: "old", Offset: 4}); err != nil {
		t.Fatal(err)
	}
	if err := unanswered.put(t.Context(), record{Owner: "old", Offset: 5}); err != nil {
		t.Fatalf("after an unanswered write of our own: %v", err)
	}
	late := unanswered

	if _, err := b.write(t.Context(), "commands.g.0", record{Owner: "new", Offset: 5}, unanswered.revision); err != nil {
		t.Fatal(err)
	}
	if err := late.put(t.Context(), record{Owner: "old", Offset: 9}); !errors.Is(err, bus.ErrLost) {
		t.Fatalf("a late commit gave %v, want ErrLost", err)
	}
	if err := late.release(t.Context()); !errors.Is(err, bus.ErrLost) {
		t.Fatalf("a late release gave %v, want ErrLost", err)
	}
	found, err := b.owners.Get(t.Context(), "commands.g.0")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := decodeRecord(found.Value()); err != nil || r.Owner != "new" || r.Offset != 5 {
		t.Fatalf("the record is %+v, %v", r, err)
	}
}

func TestGroupNamesAreKeys(t *testing.T) {
	seen := map[string]string{}
	for _, group := range []string{"", "=", "a", "a.b", "a b", "a=2Eb", "ä", "*", ">"} {
		name := groupName(bus.Commands, group)
		if other, ok := seen[name]; ok {
			t.Errorf("groups %q and %q share the name %s", group, other, name)
		}
		seen[name] = group
		for _, c := range name[len("commands."):] {
			if c == '.' || c == '*' || c == '>' || c == ' ' || c > 127 {
				t.Errorf("group %q has the name %s", group, name)
			}
		}
	}
}
