package main

import (
	"strings"
	"testing"
)

const config = `\* Two timers.
\* module: Timers
\* must fail: "no sweep" DeliveredInTime
SPECIFICATION Spec
CONSTANTS
  Broken = {}
`

func TestAConfigurationNamesItsRuns(t *testing.T) {
	runs, large, err := runsOf("hints.cfg", config)
	if err != nil || large || len(runs) != 2 {
		t.Fatalf("%d runs, large %t, %v", len(runs), large, err)
	}
	if good := runs[0]; good.violates != "" || !strings.Contains(good.text, "Broken = {}") {
		t.Errorf("the first run is %+v", good)
	}
	if bad := runs[1]; bad.violates != "DeliveredInTime" || !strings.Contains(bad.text, `Broken = {"no sweep"}`) {
		t.Errorf("the second run is %+v", bad)
	}
	if _, large, err := runsOf("hints.cfg", config+"\\* large\n"); err != nil || !large {
		t.Errorf("large %t, %v", large, err)
	}
}

func TestAConfigurationMayBeWrong(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{strings.Replace(config, "module: Timers", "Timers", 1), "module: NAME"},
		{strings.Replace(config, `"no sweep"`, `no sweep`, 1), "RULE"},
		{strings.Replace(config, "  Broken = {}\n", "", 1), "Broken = {}"},
	} {
		if _, _, err := runsOf("hints.cfg", c.text); err == nil || !strings.Contains(err.Error(), c.says) {
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
