package zone_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
)

func TestLoad(t *testing.T) {
	names, err := zone.Names()
	if err != nil || len(names) < 500 {
		t.Fatalf("%d zones, %v", len(names), err)
	}
	for _, name := range names {
		if _, err := zone.Load(name); err != nil {
			t.Error(err)
		}
	}
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2030, 7, 1, 12, 0, 0, 0, time.UTC).In(berlin)
	if name, offset := at.Zone(); name != "CEST" || offset != 7200 || berlin.String() != "Europe/Berlin" {
		t.Errorf("Berlin in summer: %s, %d s, zone %s", name, offset, berlin)
	}
	for _, name := range []string{"", "Local", "Europe/Atlantis", "Europe/", "../etc/passwd"} {
		if _, err := zone.Load(name); err == nil {
			t.Errorf("%q was loaded", name)
		}
	}
}
