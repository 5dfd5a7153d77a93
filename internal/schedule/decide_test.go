package schedule_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

const noon = timer.Millis(1_900_000_800_000)

// each returns a schedule with an occurrence in each minute from noon on.
func each(t *testing.T, d schedule.Definition) *schedule.Schedule {
	t.Helper()
	d.Specs, d.Version = []schedule.Spec{{Every: time.Minute, Anchor: noon}}, 1
	s, err := schedule.Check(d, zone.Load)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func minutes(n int) timer.Millis { return noon.Add(time.Duration(n) * time.Minute) }

// TestI22_Decide compares decisions with expected ones.
func TestI22_Decide(t *testing.T) {
	unfinished := []schedule.Occurred{{Result: schedule.Unfinished}}
	done := func(at timer.Millis) []schedule.Occurred {
		return []schedule.Occurred{{Result: schedule.Done, FinishedAt: at}}
	}
	recent := schedule.State{Created: 1, Recent: []timer.Millis{minutes(0)}}
	for _, c := range []struct {
		name   string
		d      schedule.Definition
		due    schedule.Due
		create bool
		next   timer.Millis
		reason string // a part of it
		wait   bool
		cancel []timer.Millis
	}{
		{name: "on time", due: schedule.Due{At: minutes(1), Now: minutes(1)}, create: true, next: minutes(2)},
		{
			name: "9 s late", d: schedule.Definition{CatchUp: schedule.CatchUpNone}, due: schedule.Due{At: minutes(1), Now: minutes(1).Add(9 * time.Second)},
			create: true, next: minutes(2),
		},
		{name: "late within the window", due: schedule.Due{At: minutes(1), Now: minutes(1).Add(59 * time.Second)}, create: true, next: minutes(2)},
		{name: "late beyond the window", due: schedule.Due{At: minutes(1), Now: minutes(5).Add(30 * time.Second)}, next: minutes(5), reason: "catchUpWindow, 1m"},
		{
			name: "a wider window", d: schedule.Definition{CatchUpWindow: time.Hour}, due: schedule.Due{At: minutes(1), Now: minutes(50)},
			create: true, next: minutes(2),
		},
		{
			name: "only the last", d: schedule.Definition{CatchUp: schedule.CatchUpLast}, due: schedule.Due{At: minutes(1), Now: minutes(5_000).Add(30 * time.Second)},
			next: minutes(5_000), reason: `catchUp is "last"`,
		},
		{
			name: "the last itself", d: schedule.Definition{CatchUp: schedule.CatchUpLast}, due: schedule.Due{At: minutes(1), Now: minutes(1).Add(50 * time.Second)},
			create: true, next: minutes(2),
		},
		{
			name: "no catch-up", d: schedule.Definition{CatchUp: schedule.CatchUpNone}, due: schedule.Due{At: minutes(1), Now: minutes(5).Add(30 * time.Second)},
			next: minutes(6), reason: `catchUp is "none"`,
		},
		{
			name: "resumed", d: schedule.Definition{CatchUpWindow: time.Hour}, due: schedule.Due{At: minutes(1), Now: minutes(5), ResumedAt: minutes(5).Add(-time.Second)},
			next: minutes(5), reason: "was paused",
		},
		{name: "allowed overlap", due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent}, create: true, next: minutes(2)},
		{
			name: "skipped", d: schedule.Definition{OnOverlap: schedule.Skip}, due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent, Recent: unfinished},
			next: minutes(2), reason: "is not finished",
		},
		{
			name: "not skipped", d: schedule.Definition{OnOverlap: schedule.Skip},
			due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent, Recent: done(minutes(0))}, create: true, next: minutes(2),
		},
		{
			name: "a deleted one is no overlap", d: schedule.Definition{OnOverlap: schedule.Skip},
			due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent, Recent: make([]schedule.Occurred, 1)}, create: true, next: minutes(2),
		},
		{
			name: "queued", d: schedule.Definition{OnOverlap: schedule.Queue}, due: schedule.Due{At: minutes(1), Now: minutes(9), State: recent, Recent: unfinished},
			wait: true,
		},
		{
			name: "after the queue", d: schedule.Definition{OnOverlap: schedule.Queue},
			due: schedule.Due{At: minutes(1), Now: minutes(9).Add(time.Second), State: recent, Recent: done(minutes(9))}, create: true, next: minutes(10),
			reason: "were due while it waited",
		},
		{
			name: "queued during a pause", d: schedule.Definition{OnOverlap: schedule.Queue},
			due:  schedule.Due{At: minutes(1), Now: minutes(9), ResumedAt: minutes(9), State: recent, Recent: done(minutes(5))},
			next: minutes(9), reason: "was paused",
		},
		{
			name: "it exists", due: schedule.Due{At: minutes(1), Now: minutes(1), Exists: true}, next: minutes(2),
			reason: "there is an occurrence at this instant already",
		},
		{
			name: "a lowered count", d: schedule.Definition{Count: 3}, due: schedule.Due{At: minutes(1), Now: minutes(1), State: schedule.State{Created: 5}},
			reason: "count is 3",
		},
		{
			name: "moved by an earlier definition",
			due:  schedule.Due{At: minutes(1), Now: minutes(1), State: schedule.State{Replaced: minutes(1000), ReplacedIn: 7}}, create: true, next: minutes(2),
		},
		{
			name: "moved and late", d: schedule.Definition{CatchUp: schedule.CatchUpNone},
			due:  schedule.Due{At: minutes(0).Add(time.Second), Now: minutes(1).Add(-time.Second), State: schedule.State{Replaced: minutes(1), ReplacedIn: 1}},
			next: minutes(2), reason: "catchUp",
		},
		{
			name: "an outage, not the queue", d: schedule.Definition{OnOverlap: schedule.Queue},
			due: schedule.Due{At: minutes(1), Now: minutes(9).Add(time.Second), State: recent, Recent: done(minutes(0))}, next: minutes(9), reason: "late",
		},
		{
			name: "cancelled", d: schedule.Definition{OnOverlap: schedule.CancelOther},
			due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent, Recent: unfinished}, create: true, next: minutes(2),
			cancel: []timer.Millis{minutes(0)},
		},
		{name: "the last of count", d: schedule.Definition{Count: 2}, due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent}, create: true},
		{name: "not the last of count", d: schedule.Definition{Count: 3}, due: schedule.Due{At: minutes(1), Now: minutes(1), State: recent}, create: true, next: minutes(2)},
		{name: "end", d: schedule.Definition{Settings: schedule.Settings{End: minutes(2)}}, due: schedule.Due{At: minutes(1), Now: minutes(1)}, create: true},
		{
			name: "moved", due: schedule.Due{At: minutes(0).Add(time.Second), Now: minutes(0).Add(time.Second), State: schedule.State{Replaced: minutes(1), ReplacedIn: 1}},
			create: true, next: minutes(2),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := each(t, c.d)
			got := s.Decide(&c.due)
			if got.Create != c.create || got.Next != c.next || (got.Wait > 0) != c.wait || !slices.Equal(got.Cancel, c.cancel) ||
				!strings.Contains(got.Reason, c.reason) || (got.Reason == "") != (c.reason == "") || got.Pause != "" {
				t.Errorf("got %+v", got)
			}
			if c.create && (got.State.Created != c.due.State.Created+1 || !slices.Contains(got.State.Recent, c.due.At)) {
				t.Errorf("the state after the create: %+v", got.State)
			}
		})
	}
}

// TestI22_PauseOnDead counts dead occurrences in a row.
func TestI22_PauseOnDead(t *testing.T) {
	s := each(t, schedule.Definition{PauseOnDead: 3})
	state := schedule.State{}
	decide := func(i int, last schedule.Result) schedule.Decision {
		d := schedule.Due{At: minutes(i), Now: minutes(i), State: state, Recent: make([]schedule.Occurred, len(state.Recent))}
		for j := range d.Recent {
			d.Recent[j].Result = last
		}
		out := s.Decide(&d)
		if out.Pause == "" {
			state = out.State
		}
		return out
	}
	decide(0, schedule.Gone)
	for i, result := range []schedule.Result{schedule.Dead, schedule.Dead, schedule.Done, schedule.Dead, schedule.Gone, schedule.Dead, schedule.Dead} {
		if out := decide(1+i, result); out.Pause != "" {
			t.Fatalf("paused after result %d: %s", i, out.Pause)
		}
	}
	if out := decide(8, schedule.Dead); !strings.Contains(out.Pause, "3 occurrences in a row") {
		t.Fatalf("after three dead occurrences: %+v, state %+v", out, state)
	}
	d := schedule.Due{At: minutes(8), Now: minutes(9), State: state, Recent: []schedule.Occurred{{Result: schedule.Dead}}, ResumedAt: minutes(9)}
	if out := s.Decide(&d); out.Pause != "" || out.State.Dead != 0 || out.Next != minutes(9) {
		t.Fatalf("after a resume: %+v", out)
	}
}

// TestRecentIsBounded creates more occurrences than a state keeps.
func TestRecentIsBounded(t *testing.T) {
	s := each(t, schedule.Definition{})
	var state schedule.State
	for i := range 40 {
		state = s.Decide(&schedule.Due{At: minutes(i), Now: minutes(i), State: state}).State
	}
	if len(state.Recent) != 16 || state.Recent[15] != minutes(39) || state.Created != 40 {
		t.Errorf("state %+v", state)
	}
	read, err := schedule.ParseState(state.Text())
	if err != nil || !slices.Equal(read.Recent, state.Recent) || read.Created != 40 {
		t.Errorf("the state from its text: %+v, %v", read, err)
	}
}

// TestDefinitionText parses the text of a definition.
func TestDefinitionText(t *testing.T) {
	d := schedule.Definition{
		Settings: schedule.Settings{
			Specs:    []schedule.Spec{{Cron: "0 8 * * MON-FRI"}, {Every: time.Hour, Anchor: noon}, {RRule: "FREQ=DAILY"}, {Dates: []string{"2030-12-24T08:00:00"}}},
			TimeZone: "Europe/Berlin", Start: noon, End: minutes(1 << 20), Exclude: []schedule.Exclusion{{From: "2030-12-24", Until: "2030-12-26"}},
			Gap: schedule.GapSkip, Overlap: schedule.OverlapBoth,
		},
		Count: 7, OnOverlap: schedule.Skip, PauseOnDead: 2, CorrelationID: "c", FlowKey: "f", ExpireAfter: time.Minute, Version: 3,
	}
	s, err := schedule.Check(d, zone.Load)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schedule.Parse(s.Text(), zone.Load)
	if err != nil || again.Text() != s.Text() {
		t.Fatalf("%v\n%s\n%s", err, s.Text(), again.Text())
	}
	at := noon
	for range 100 {
		x, ok := s.After(at)
		y, same := again.After(at)
		if x != y || ok != same {
			t.Fatalf("after %s: %+v and %+v", at, x, y)
		}
		at = x.At
	}
}

// TestNext: a changed time zone database brings back no instant that an answer has replaced.
func TestNext(t *testing.T) {
	s := each(t, schedule.Definition{Settings: schedule.Settings{}})
	early := minutes(0).Add(time.Second)
	moved := s.Decide(&schedule.Due{At: early, Now: early, State: schedule.State{Replaced: minutes(1), ReplacedIn: 1}})
	for name, c := range map[string]struct {
		state schedule.State
		now   timer.Millis
		want  timer.Millis // 0: unknown
	}{
		"first":                      {schedule.State{}, early, minutes(1)},
		"clock ahead":                {schedule.State{Last: minutes(3)}, early, minutes(4)},
		"moved":                      {schedule.State{Replaced: minutes(1), ReplacedIn: 1}, early, 0},
		"moved in another version":   {schedule.State{Replaced: minutes(1), ReplacedIn: 7}, early, minutes(1)},
		"was moved":                  {moved.State, early, minutes(2)},
		"replaced, another version":  {schedule.State{Until: minutes(1), UntilIn: 7}, early, minutes(1)},
		"replaced, but it is passed": {schedule.State{Until: minutes(1), UntilIn: 1}, minutes(5), minutes(6)},
	} {
		at, ok := s.Next(&c.state, c.now)
		if s.Moved(&c.state) {
			at, ok = 0, false
		}
		if at != c.want && ok || ok != (c.want != 0) {
			t.Errorf("%s: %s, %t; want %s", name, at, ok, c.want)
		}
	}
	if moved.Next != minutes(2) || moved.State.Until != minutes(1) {
		t.Fatalf("%+v", moved)
	}
	if after := s.Decide(&schedule.Due{At: minutes(2), Now: minutes(2), State: moved.State}); after.State.Until != 0 || after.State.UntilIn != 0 {
		t.Errorf("the next decision keeps %+v", after.State)
	}
}
