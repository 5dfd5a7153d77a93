package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Zones is a time zone database. It has one zone, place, whose offset changes once. Other zones are those of the release.
type Zones struct {
	// Shift is the offset of the zone before ChangeAt, a time since the beginning of the life. Change is added to it from then on.
	Shift, ChangeAt, Change time.Duration
	// Missing: the zone does not exist.
	Missing bool
}

// place is the zone of local times.
const place = "Sim/Place"

// zoneVersion is the version of Plan.Zones[i].
func zoneVersion(i int) string { return fmt.Sprintf("2000%c", 'a'+rune(i)) }

// lifeBegins is the time at which a bubble begins.
var lifeBegins = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// load returns a zone, as time.LoadLocation does.
func (z Zones) load(name string) (*time.Location, error) {
	switch {
	case name != place:
		return zone.Load(name)
	case z.Missing:
		return nil, fmt.Errorf("there is no time zone %q", name)
	}
	// RFC 8536, version 1: one transition, two offsets, one abbreviation.
	data := append([]byte("TZif"), make([]byte, 16)...)
	for _, count := range []uint32{0, 0, 0, 1, 2, 4} {
		data = binary.BigEndian.AppendUint32(data, count)
	}
	data = binary.BigEndian.AppendUint32(data, uint32(lifeBegins.Add(z.ChangeAt).Unix()))
	data = append(data, 1)
	for _, offset := range []time.Duration{z.Shift, z.Shift + z.Change} {
		data = binary.BigEndian.AppendUint32(data, uint32(offset/time.Second))
		data = append(data, 0, 0)
	}
	return time.LoadLocationFromTZData(name, append(data, "SIM\x00"...))
}

// Local is a local time in place.
type Local struct {
	// At is the time since the midnight at which the life begins, by the clocks of the place; 0 means no local time.
	At            time.Duration
	Gap, Repeated string
}

// text returns the local time as the API accepts it.
func (l *Local) text() string { return lifeBegins.Add(l.At).Format("2006-01-02T15:04:05.000") }

// instant returns the instant of a local time; ok is false if it has none.
func (z Zones) instant(l *Local) (at timer.Millis, ok bool) {
	before, after := l.At-z.Shift, l.At-z.Shift-z.Change
	exists, again := before < z.ChangeAt, after >= z.ChangeAt
	switch {
	case z.Missing:
		return 0, false
	case exists && again && l.Repeated == "second", !exists && again:
		before = after
	case exists:
	case l.Gap == "skip":
		return 0, false
	default:
		before = z.ChangeAt
	}
	return timer.FromTime(lifeBegins.Add(before)), true
}

// upgradeZones replaces the process of the node by one with another time zone database.
func (n *node) upgradeZones(ctx context.Context, f Fault) {
	if f.Count == 0 {
		n.mu.Lock()
		release := n.release
		n.mu.Unlock()
		n.replace(ctx, release, &f.Nth)
		return
	}
	n.mu.Lock()
	n.zones = f.Nth
	n.mu.Unlock()
	n.crash()
	n.begin()
}
