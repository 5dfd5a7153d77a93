package event_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestTraceOf(t *testing.T) {
	const later = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	longest := "a=" + strings.Repeat("x", 510)
	for name, c := range map[string]struct {
		parent, state string
		want          event.Trace
	}{
		"both":                        {parent, state, event.Trace{Parent: parent, State: state}},
		"parent alone":                {parent, "", event.Trace{Parent: parent}},
		"blanks around the state":     {parent, " \ta=1 ", event.Trace{Parent: parent, State: "a=1"}},
		"not sampled":                 {parent[:53] + "00", "", event.Trace{Parent: parent[:53] + "00"}},
		"of a later version":          {"01-" + later + "-what-comes-then", "a=1", event.Trace{Parent: "00-" + later, State: "a=1"}},
		"of a later version, no more": {"cc-" + later, "", event.Trace{Parent: "00-" + later}},
		"the longest state":           {parent, longest, event.Trace{Parent: parent, State: longest}},
		"a state too long":            {parent, longest + "x", event.Trace{Parent: parent}},
		"a state that is not ASCII":   {parent, "a=ä", event.Trace{Parent: parent}},
		"a state of two lines":        {parent, "a=1\nb=2", event.Trace{Parent: parent}},

		"nothing":                    {"", "", event.Trace{}},
		"state alone":                {"", state, event.Trace{}},
		"version ff":                 {"ff-" + later, "", event.Trace{}},
		"version 00 and more":        {parent + "-00", "", event.Trace{}},
		"a later version, unclearly": {"01-" + later + "00", "", event.Trace{}},
		"too short":                  {parent[:54], "", event.Trace{}},
		"capital letters":            {strings.ToUpper(parent), "", event.Trace{}},
		"trace of zeros":             {"00-" + strings.Repeat("0", 32) + parent[35:], "", event.Trace{}},
		"span of zeros":              {parent[:36] + strings.Repeat("0", 16) + "-01", "", event.Trace{}},
		"other separators":           {strings.ReplaceAll(parent, "-", "_"), "", event.Trace{}},
	} {
		if got := event.TraceOf(c.parent, c.state); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTraceInTheHeadersOfATimer(t *testing.T) {
	trace := event.TraceOf(parent, state)
	long := timer.Headers("X-Long: " + strings.Repeat("x", timer.MaxHeaderBytes-len("X-Long")-len("Traceparent")-len(parent)) + "\n")
	full := timer.Headers("X-Long: " + strings.Repeat("x", timer.MaxHeaderBytes-len("X-Long")) + "\n")
	for name, c := range map[string]struct {
		trace event.Trace
		into  timer.Headers
		want  map[string]string
	}{
		"none":             {event.Trace{}, "A: b\n", map[string]string{"A": "b"}},
		"among others":     {trace, "A: b\nZ: y\n", map[string]string{"A": "b", "Z": "y", "Traceparent": parent, "Tracestate": state}},
		"without state":    {event.TraceOf(parent, ""), "", map[string]string{"Traceparent": parent}},
		"the user's":       {trace, "Traceparent: mine\n", map[string]string{"Traceparent": "mine"}},
		"the user's state": {trace, "Tracestate: mine\n", map[string]string{"Tracestate": "mine"}},
		"no room for the state": {trace, long, map[string]string{
			"X-Long": long.Get("X-Long"), "Traceparent": parent,
		}},
		"no room": {trace, full, full.Map()},
	} {
		got := c.trace.Into(c.into)
		if err := got.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !maps.Equal(got.Map(), c.want) {
			t.Errorf("%s: got %v, want %v", name, got.Map(), c.want)
		}
	}
	if got := event.TraceIn(trace.Into("A: b\n")); got != trace {
		t.Errorf("read back %+v", got)
	}
	if got := event.TraceIn("Traceparent: mine\n"); got != (event.Trace{}) {
		t.Errorf("what is no trace was read as %+v", got)
	}
}

// TestNoTraceCostsNothing: most timers have none.
func TestNoTraceCostsNothing(t *testing.T) {
	headers := map[string]string{"content-type": "application/json", "ce_id": "1", "ce_type": event.TypeCreate}
	allocations := testing.AllocsPerRun(100, func() {
		var h timer.Headers = "X-Team: billing\n"
		if event.TraceIn(h) != (event.Trace{}) || event.TraceOf("", "").Into(h) != h || len(headers) != 3 {
			t.Error("there is a trace")
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// FuzzTrace: a trace that TraceOf returns is accepted again unchanged, and fits into headers.
func FuzzTrace(f *testing.F) {
	f.Add(parent, state)
	f.Add("cc"+parent[2:]+"-more", " a=1,b=2 ")
	f.Fuzz(func(t *testing.T, parent, state string) {
		trace := event.TraceOf(parent, state)
		if again := event.TraceOf(trace.Parent, trace.State); again != trace {
			t.Errorf("%+v read again is %+v", trace, again)
		}
		h := trace.Into("X-Team: billing\n")
		if err := h.Check(); err != nil {
			t.Error(err)
		}
		if got := event.TraceIn(h); got != trace {
			t.Errorf("%+v came back as %+v", trace, got)
		}
	})
}
