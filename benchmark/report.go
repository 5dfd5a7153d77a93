package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/timerbus/timerbus/pkg/bench"
)

// row is one figure over all rounds.
type row struct {
	Key    string    `json:"key"`
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`

	bench.Spread

	Aim *aim `json:"aim,omitempty"`
	// Met: the median reaches the aim.
	Met *bool `json:"met,omitempty"`
}

// report is what came of all rounds.
type report struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Others is how many processors were busy with something else meanwhile.
	Others  float64 `json:"others"`
	Version string  `json:"version"`
	Machine machine `json:"machine"`
	Setup   string  `json:"setup"`
	Short   bool    `json:"short"`
	Rounds  int     `json:"rounds"`
	Rows    []*row  `json:"rows"`
}

// add takes the figures of one round.
func (r *report) add(round []bench.Figure) {
	r.Rounds++
	for i := range round {
		f := &round[i]
		to := r.row(f)
		to.Values = append(to.Values, f.Value)
		to.Spread = bench.SpreadOf(to.Values)
		if a, ok := aims[f.Key]; ok {
			met := a.met(to.Median)
			to.Aim, to.Met = &a, &met
		}
	}
}

func (r *report) row(f *bench.Figure) *row {
	for _, row := range r.Rows {
		if row.Key == f.Key {
			return row
		}
	}
	added := &row{Key: f.Key, Name: f.Name, Unit: f.Unit}
	r.Rows = append(r.Rows, added)
	return added
}

// print writes the tables: what was measured, and what processor time it took whom.
func (r *report) print(w io.Writer) error {
	rounds := fmt.Sprintf("medians of %d rounds", r.Rounds)
	if r.Short {
		rounds = fmt.Sprintf("short, %d round(s)", r.Rounds)
	}
	fmt.Fprintf(w, "timerbus %s, %s, %s: %s\n%s\n\n", r.Version, r.Setup, r.Started.Format(time.DateOnly), rounds, r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tmedian\tmin – max\taim\t")
	for _, row := range r.Rows {
		if row.Unit == bench.CPUSeconds && row.Aim == nil {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.Name, bench.Show(row.Median, row.Unit), row.spread(), row.aim(), row.verdict())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\nprocessor time in seconds for 10,000 timers\n\n")
	fmt.Fprintln(t, "\tservice\tgenerator\treceiver\t")
	for _, row := range r.Rows {
		phase, isCost := strings.CutSuffix(row.Key, ".cpu_service")
		if isCost {
			what, _, _ := strings.Cut(row.Name, ": CPU")
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n",
				what, bench.Digits(row.Median), r.median(phase+".cpu_generator"), r.median(phase+".cpu_receiver"))
		}
	}
	return t.Flush()
}

func (r *report) median(key string) string {
	for _, row := range r.Rows {
		if row.Key == key {
			return bench.Digits(row.Median)
		}
	}
	return ""
}

func (r *row) spread() string {
	if len(r.Values) < 2 {
		return ""
	}
	return bench.Digits(r.Min) + " – " + bench.Digits(r.Max)
}

func (r *row) aim() string {
	switch {
	case r.Aim == nil:
		return ""
	case r.Aim.Least != nil:
		return "≥ " + bench.Digits(*r.Aim.Least)
	default:
		return "≤ " + bench.Digits(*r.Aim.Most)
	}
}

func (r *row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case *r.Met:
		return "met"
	default:
		return "missed"
	}
}
