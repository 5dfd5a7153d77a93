package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
)

func rate(value float64) figure {
	return figure{Figure: bench.Figure{Key: "create.single", Name: "creates/s", Unit: bench.PerSecond, Value: value}}
}

// example has three rounds of two systems, and one that was not run.
func example() *report {
	ours, other := &result{Peer: "timerbus-embedded", About: "ours <&>", Durability: "fsync"}, &result{Peer: reference, About: "other"}
	for _, value := range []float64{9_000, 12_000, 30_000} {
		early := figure{Figure: bench.Figure{Key: "early", Name: "early callbacks", Value: value / 1000}}
		ours.add(played{versions: "1.0", figures: []figure{rate(value), early}})
	}
	for _, value := range []float64{5_000, 3_000} {
		hidden := figure{Figure: bench.Figure{Key: "create.single.cpu", Name: "hidden", Value: 7}, detail: true}
		other.add(played{figures: []figure{rate(value), hidden, {Figure: bench.Figure{Key: "early", Name: "early callbacks"}}}})
	}
	r := &report{
		Machine: host.Machine{Processors: 2}, Workload: shortWorkload(),
		Peers: []*result{ours, other, {Peer: "asynq", NotRun: "no redis on this machine"}},
	}
	r.compare(reference)
	return r
}

func TestRatiosAreOfMedians(t *testing.T) {
	r := example()
	ours, other := r.Peers[0].find("create.single"), r.Peers[1].find("create.single")
	if ours.Spread != (bench.Spread{Median: 12_000, Min: 9_000, Max: 30_000}) || ours.Ratio != 3 {
		t.Errorf("spread %+v, ratio %v, want 3", ours.Spread, ours.Ratio)
	}
	if other.Median != 4_000 || other.Ratio != 1 {
		t.Errorf("median %v, ratio %v of the reference", other.Median, other.Ratio)
	}
	if early := r.Peers[0].find("early"); early.Ratio != 0 || early.ratio() != "" {
		t.Errorf("ratio %v to 0", early.Ratio)
	}
	r.Peers[0].find("create.single").Median = -5 // lateness of a system that fires early
	r.Peers[0].find("create.single").Ratio = 0
	r.compare(reference)
	if got := r.Peers[0].find("create.single").Ratio; got != 0 {
		t.Errorf("ratio %v of a value below 0", got)
	}
	for ratio, want := range map[float64]string{0: "", 0.00123: "0.0012", 0.5: "0.50", 12.345: "12.3"} {
		if got := (&row{Ratio: ratio}).ratio(); got != want {
			t.Errorf("ratio %v is shown as %q, want %q", ratio, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := example().show(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	find := func(words ...string) {
		t.Helper()
		for _, line := range lines {
			if strings.Join(strings.Fields(line), " ") == strings.Join(words, " ") {
				return
			}
		}
		t.Errorf("no line %q in\n%s", words, &b)
	}
	find("creates/s", "median", "min – max", "ratio")
	find("timerbus-embedded", "12,000/s", "9,000 – 30,000", "3")
	find(reference, "4,000/s", "3,000 – 5,000", "1")
	find("asynq", "not run")
	find("asynq", "0", "; not run: no redis on this machine")
	find("timerbus-embedded", "12", "9 – 30")
	if strings.Contains(b.String(), "hidden") {
		t.Errorf("a detail in\n%s", &b)
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	asJSON, asSVG := filepath.Join(folder, "figures.json"), filepath.Join(folder, "report.svg")
	if err := example().write(asJSON, asSVG); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(text, &read); err != nil || read.Reference != reference || len(read.Peers[0].Rows[0].Values) != 3 {
		t.Errorf("%v, %s", err, text)
	}
	if read.Peers[1].find("create.single.cpu") == nil {
		t.Errorf("no details in %s", text)
	}
	drawing, err := os.ReadFile(asSVG)
	if err != nil {
		t.Fatal(err)
	}
	elements := elementsOf(t, drawing)
	if elements["svg"] != 1 || elements["path"] != 4 || elements["rect"] != 5 { // a bar and a line for each value, and the paper
		t.Errorf("elements %v in %s", elements, drawing)
	}
	for _, want := range []string{"12,000/s   × 3", "ours &lt;&amp;&gt;", "not run: no redis", `height="14" fill="#2b6cb0"`} {
		if !bytes.Contains(drawing, []byte(want)) {
			t.Errorf("no %s in %s", want, drawing)
		}
	}
}

// elementsOf counts the elements of a well-formed document.
func elementsOf(t *testing.T, document []byte) map[string]int {
	t.Helper()
	elements := map[string]int{}
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
		}
	}
}

func TestBarsAreInProportion(t *testing.T) {
	drawing := string(example().svg())
	for value, want := range map[string]string{"12,000": `width="200"`, "4,000": `width="66"`} { // of 500 for 30,000
		if !strings.Contains(drawing, want) {
			t.Errorf("no bar of %s with %s in %s", value, want, drawing)
		}
	}
}
