package main

import (
	"strings"
	"testing"
)

const config = `\* Two timers.
\* module: Timers
\* must fail: "no sweep" DeliveredInTime
\* must fail: "no margin" NeverWrong with MaxTime = 7
\* quick: Timers = {1}, MaxTime = 6
SPECIFICATION Spec
CONSTANTS
  Timers = {1, 2}
  MaxTime = 8
  Broken = {}
`

func TestAConfigurationNamesItsRuns(t *testing.T) {
	const own, quick = "  Timers = {1, 2}\n  MaxTime = 8\n", "  Timers = {1}\n  MaxTime = 6\n"
	for _, all := range []bool{false, true} {
		runs, err := runsOf("hints.cfg", config, all)
		if err != nil || len(runs) != 3 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		good, bad, other := runs[0], runs[1], runs[2]
		want := quick
		if all {
			want = own
		}
		if good.violates != "" || !strings.Contains(good.text, want+"  Broken = {}") || good.quick == all {
			t.Errorf("all %t: the first run is %+v", all, good)
		}
		if bad.violates != "DeliveredInTime" || !strings.Contains(bad.text, own+`  Broken = {"no sweep"}`) || bad.quick {
			t.Errorf("all %t: the second run is %+v", all, bad)
		}
		if !strings.Contains(other.text, "{1, 2}\n  MaxTime = 7\n"+`  Broken = {"no margin"}`) {
			t.Errorf("all %t: the third run is %+v", all, other)
		}
	}
}

func TestAConfigurationMayBeWrong(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{strings.Replace(config, "module: Timers", "Timers", 1), "module: NAME"},
		{strings.Replace(config, `"no sweep"`, `no sweep`, 1), "RULE"},
		{strings.Replace(config, "  Broken = {}\n", "", 1), "Broken = {}"},
		{strings.Replace(config, "MaxTime = 6", "MaxTimes = 6", 1), "no constant MaxTimes"},
		{strings.Replace(config, "MaxTime = 6", "MaxTime", 1), "NAME = VALUE"},
	} {
		if _, err := runsOf("hints.cfg", c.text, false); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v does not name %q", err, c.says)
		}
	}
}

func TestResults(t *testing.T) {
	const (
		complete = "Model checking completed. No error has been found.\n" +
			"1,731,625 states generated, 250,740 distinct states found, 0 states left on queue.\n"
		violated = "Progress(9): 12 states generated\nError: Invariant DeliveredInTime is violated.\n" +
			"34 states generated, 12 distinct states found, 3 states left on queue.\n"
		broken = "Error: Parsing or semantic analysis failed.\n"
	)
	good, bad := run{}, run{broken: "no sweep", violates: "DeliveredInTime"}
	for _, c := range []struct {
		of     *run
		output string
		differ bool
		states string
	}{
		{&good, complete, false, "250740"},
		{&good, violated, true, "12"},
		{&good, broken, true, ""},
		{&bad, violated, false, "12"},
		{&bad, complete, true, "250740"},
		{&bad, strings.Replace(violated, "DeliveredInTime", "NeverWrong", 1), true, "12"},
		{&bad, broken, true, ""},
	} {
		r := parse(c.output)
		if differs := r.differs(c.of) != ""; differs != c.differ || r.states != c.states {
			t.Errorf("of %q: differs %t, %q states", c.output, differs, r.states)
		}
		if unexpected := strings.Contains(r.line(c.of), "UNEXPECTED"); unexpected != c.differ {
			t.Errorf("of %q: the line is %q", c.output, r.line(c.of))
		}
	}
}
