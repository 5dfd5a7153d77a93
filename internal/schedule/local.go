package schedule

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// localReach is more than the time between an instant and its local time, plus the longest gap, which is a day.
const localReach = 48 * time.Hour

// Resolve returns the instant of a local time by the policies of the local time, as schedules do. Its error names the field that has none:
// the zone is unknown, or the clocks skip the local time and its gap is GapSkip.
func Resolve(l *timer.LocalTime, zones Zones) (timer.Millis, error) {
	at, err := timer.ParseLocal(l.At)
	if err != nil {
		return 0, err
	}
	if l.Zone == "" { // for schedules, it is UTC
		return 0, l.Check()
	}
	zone, err := loadZone(l.Zone, zones)
	if err != nil {
		return 0, err
	}
	only := dates{at}
	gap, overlap := GapNext, OverlapFirst
	if l.Gap == timer.GapSkip {
		gap = GapSkip
	}
	if l.Repeated == timer.RepeatedSecond {
		overlap = OverlapBoth
	}
	m, found := nextIn(zone, only, at.Add(-localReach), gap, overlap)
	if !found {
		return 0, timer.Invalid("executeAtLocal", l.At, describeGap(zone, only))
	}
	if l.Repeated == timer.RepeatedSecond && m.remark == RemarkFirst {
		if second, found := nextIn(zone, only, m.at, gap, overlap); found {
			m = second
		}
	}
	instant := millis(m.at)
	if instant < timer.MinMillis || instant > timer.MaxMillis {
		return 0, timer.Invalid("executeAtLocal", l.At, "a local time whose instant is in the years 1 to 9999")
	}
	return instant, nil
}

// describeGap returns what is accepted instead of a skipped local time.
func describeGap(zone *time.Location, skipped dates) string {
	const form = "2006-01-02T15:04:05"
	end, found := nextIn(zone, skipped, skipped[0].Add(-localReach), GapNext, OverlapFirst)
	if !found {
		return "a local time that exists"
	}
	p := periodAt(zone, end.at)
	return fmt.Sprintf("a local time that exists, or gap \"next\": in %s, the clocks go from %s to %s",
		zone, p.from.UTC().Add(p.before).Format(form), p.toLocal(p.from).Format(form))
}
