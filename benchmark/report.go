package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
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

// reports are the results of all rounds on all setups.
type reports struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Others is the average number of processors busy with other work.
	Others  float64      `json:"others"`
	Version string       `json:"version"`
	Machine host.Machine `json:"machine"`
	Short   bool         `json:"short"`
	Setups  []*report    `json:"setups"`
}

// report is the result of one setup.
type report struct {
	Setup  string `json:"setup"`
	About  string `json:"about"`
	Rounds int    `json:"rounds"`
	Rows   []*row `json:"rows"`
}

func (r *report) add(round []bench.Figure) {
	r.Rounds++
	for i := range round {
		f := &round[i]
		to := r.row(f)
		to.Values = append(to.Values, f.Value)
		to.Spread = bench.SpreadOf(to.Values)
		if a, ok := aims[f.Key]; ok && r.Setup == host.Embedded.Name { // the aims apply to that setup
			met := a.met(to.Median)
			to.Aim, to.Met = &a, &met
		}
	}
}

func (r *report) row(f *bench.Figure) *row {
	if found := r.find(f.Key); found != nil {
		return found
	}
	added := &row{Key: f.Key, Name: f.Name, Unit: f.Unit}
	r.Rows = append(r.Rows, added)
	return added
}

// show writes one table for one setup, or one with a column for each of several setups.
func (r *reports) show(w io.Writer) error {
	rounds := fmt.Sprintf("medians of %d rounds", r.Setups[0].Rounds)
	if r.Short {
		rounds = fmt.Sprintf("short, %d round(s)", r.Setups[0].Rounds)
	}
	var names []string
	for _, one := range r.Setups {
		names = append(names, one.Setup)
	}
	fmt.Fprintf(w, "timerbus %s, %s, %s: %s\n%s\n\n",
		r.Version, strings.Join(names, " and "), r.Started.Format(time.DateOnly), rounds, r.Machine)
	if len(r.Setups) == 1 {
		return r.Setups[0].show(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\t%s\t\n", strings.Join(names, "\t"))
	for _, like := range r.rows() {
		fmt.Fprint(t, like.Name)
		for _, one := range r.Setups {
			shown := "–"
			if found := one.find(like.Key); found != nil {
				shown = bench.Show(found.Median, found.Unit)
			}
			fmt.Fprint(t, "\t", shown)
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}

// rows returns the rows of all setups, in the order of the first setup that has them.
func (r *reports) rows() []*row {
	var all []*row
	known := map[string]bool{}
	for _, one := range r.Setups {
		for _, row := range one.Rows {
			if !known[row.Key] {
				all, known[row.Key] = append(all, row), true
			}
		}
	}
	return all
}

// show writes the tables: the figures, and the processor time of each process.
func (r *report) show(w io.Writer) error {
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
	fmt.Fprint(w, "\nprocessor time in seconds per 10,000 timers\n\n")
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

// find returns the row with the key; nil if there is none.
func (r *report) find(key string) *row {
	for _, row := range r.Rows {
		if row.Key == key {
			return row
		}
	}
	return nil
}

func (r *report) median(key string) string {
	if found := r.find(key); found != nil {
		return bench.Digits(found.Median)
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
