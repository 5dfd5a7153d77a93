package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
)

func figure(key string, value float64) bench.Figure {
	return bench.Figure{Key: key, Name: "the " + key, Unit: bench.PerSecond, Value: value}
}

func TestReportJudgesMediansOverRounds(t *testing.T) {
	r := &report{Setup: host.Embedded.Name}
	all := reports{Machine: host.Machine{Processors: 2}, Setups: []*report{r}}
	for _, rate := range []float64{9_000, 12_000, 11_000} {
		r.add([]bench.Figure{figure("create.rate", rate), figure("create.p99", rate), figure("create.p50", 1)})
	}
	r.add([]bench.Figure{{Key: "create.cpu_service", Name: "creates: CPU of the service", Unit: bench.CPUSeconds, Value: .7}})
	if len(r.Rows) != 4 || r.Rounds != 4 {
		t.Fatalf("%d rows of %d rounds", len(r.Rows), r.Rounds)
	}
	if rate := r.Rows[0]; rate.Median != 11_000 || rate.Min != 9_000 || rate.Max != 12_000 || !*rate.Met {
		t.Errorf("rate %+v", rate)
	}
	if p99 := r.Rows[1]; *p99.Met {
		t.Errorf("%v counts as at most %v", p99.Median, *p99.Aim.Most)
	}
	if r.Rows[2].Met != nil {
		t.Errorf("judged without an aim: %+v", r.Rows[2])
	}
	var out bytes.Buffer
	if err := all.show(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"11,000/s", "9,000 – 12,000", "≥ 10,000", "met\n", "missed\n", "creates  0.70"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	text, err := json.Marshal(&all)
	if err != nil || !strings.Contains(string(text), `"values":[9000,12000,11000],"median":11000,"min":9000,"max":12000,"aim":{"least":10000},"met":true`) {
		t.Errorf("as JSON: %s, %v", text, err)
	}
}

func TestReportsSideBySide(t *testing.T) {
	one, other := &report{Setup: "postgres+nats"}, &report{Setup: "postgres+kafka"}
	one.add([]bench.Figure{figure("create.rate", 9_000), figure("topic.rate", 5)})
	other.add([]bench.Figure{figure("create.rate", 12_000)})
	var out bytes.Buffer
	if err := (&reports{Setups: []*report{one, other}}).show(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"postgres+nats and postgres+kafka", "figure           postgres+nats  postgres+kafka", "the create.rate  9,000/s        12,000/s",
		"the topic.rate   5/s            –",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if one.Rows[0].Met != nil {
		t.Error("an aim of the host.Embedded setup judges another one")
	}
}

func TestAim(t *testing.T) {
	for _, c := range []struct {
		aim   aim
		value float64
		met   bool
	}{
		{least(2), 1.9, false},
		{least(2), 2, true},
		{least(2), 3, true},
		{most(2), 1.9, true},
		{most(2), 2, true},
		{most(2), 2.1, false},
		{most(0), 1, false},
	} {
		if got := c.aim.met(c.value); got != c.met {
			t.Errorf("%+v met by %v: %t", c.aim, c.value, got)
		}
	}
}

func TestParse(t *testing.T) {
	here := filepath.Join(t.TempDir(), "timerbus")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                               "no service binary to measure",
		"-binary " + here:                "no service binary to measure",
		"-rounds 101":                    "-rounds 101 is not accepted",
		"-setup paper":                   `-setup "paper" is not accepted: want one or more of embedded, postgres+nats`,
		"more":                           `"more" is not accepted`,
		"-rounds many":                   "invalid value",
		"-binary " + self + " -rounds 0": "",
		"-binary " + self + " -short":    "",
	} {
		var stderr bytes.Buffer
		o, err := parse(strings.Fields(line), &stderr)
		switch {
		case want == "" && (err != nil || o.json == "" || o.rounds != map[bool]int{true: 1, false: 3}[o.short]):
			t.Errorf("%q: %+v, %v", line, o, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		named string
		short bool
		main  string
		topic bool
	}{
		{"", false, "create batch idle lateness backlog hosts isolation fairness busy large million tenants", true},
		{"", true, "create batch idle lateness backlog hosts isolation fairness busy large", true},
		{"topic", false, "", true},
		{"busy topic million", true, "busy million", true},
		{"idle", false, "idle", false},
	} {
		main, topic := split(strings.Fields(c.named), c.short)
		if strings.Join(main, " ") != c.main || topic != c.topic {
			t.Errorf("split %q (short: %t) = %q, %t", c.named, c.short, main, topic)
		}
	}
}

func TestEveryAimIsOfAFigure(t *testing.T) {
	// The smoke test's rounds have all figures except those of long phases, whose names are the names of the phases.
	for key := range aims {
		phase, _, _ := strings.Cut(key, ".")
		phase, _, _ = strings.Cut(phase, "_")
		known := phase == "start"
		for _, p := range bench.Phases() {
			known = known || p[0] == phase
		}
		if !known {
			t.Errorf("there is no phase for the aim of %s", key)
		}
	}
}
