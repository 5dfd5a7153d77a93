package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
	"github.com/timerbus/timerbus/internal/bench"
)

// report is the result of a run.
type report struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Others is the average number of processors busy with other work.
	Others   float64      `json:"others"`
	Version  string       `json:"version"`
	Machine  host.Machine `json:"machine"`
	Short    bool         `json:"short"`
	Workload workload     `json:"workload"`
	// Reference is the system to which the ratios are.
	Reference string    `json:"reference"`
	Peers     []*result `json:"peers"`
}

// result is the result of one system.
type result struct {
	Peer       string `json:"peer"`
	About      string `json:"about"`
	Versions   string `json:"versions,omitempty"`
	Durability string `json:"durability"`
	// NotRun says why the system was not measured, Failed why the last round that failed did.
	NotRun string `json:"notRun,omitempty"`
	Failed string `json:"failed,omitempty"`
	Rounds int    `json:"rounds"`
	Rows   []*row `json:"rows"`
}

// row is one figure over all rounds.
type row struct {
	Key    string    `json:"key"`
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`

	bench.Spread

	// Ratio is the median divided by that of the reference; 0 if one of them is not above 0.
	Ratio float64 `json:"ratio,omitempty"`
	// Detail rows are not in the table.
	Detail bool `json:"detail,omitempty"`
}

func (r *result) add(p played) {
	r.Rounds++
	if p.versions != "" {
		r.Versions = p.versions
	}
	for i := range p.figures {
		f := &p.figures[i]
		to := r.find(f.Key)
		if to == nil {
			to = &row{Key: f.Key, Name: f.Name, Unit: f.Unit, Detail: f.detail}
			r.Rows = append(r.Rows, to)
		}
		to.Values = append(to.Values, f.Value)
		to.Spread = bench.SpreadOf(to.Values)
	}
}

// find returns the row with the key; nil if there is none.
func (r *result) find(key string) *row {
	if i := slices.IndexFunc(r.Rows, func(row *row) bool { return row.Key == key }); i >= 0 {
		return r.Rows[i]
	}
	return nil
}

// compare computes the ratios of all medians to those of the named system.
func (r *report) compare(name string) {
	r.Reference = name
	for _, like := range r.Peers {
		if like.Peer != name {
			continue
		}
		for _, p := range r.Peers {
			for _, row := range p.Rows {
				if of := like.find(row.Key); of != nil && of.Median > 0 && row.Median > 0 {
					row.Ratio = row.Median / of.Median
				}
			}
		}
	}
}

// rows returns one row of each figure that is in the tables, in the order of the first system that has it.
func (r *report) rows() []*row {
	var all []*row
	known := map[string]bool{}
	for _, p := range r.Peers {
		for _, row := range p.Rows {
			if !known[row.Key] && !row.Detail {
				all, known[row.Key] = append(all, row), true
			}
		}
	}
	return all
}

func (r *report) title() string {
	kind := ""
	if r.Short {
		kind = ", short: too few timers for conclusions"
	}
	return fmt.Sprintf("timerbus %s and other systems, %s%s", r.Version, r.Started.Format(time.DateOnly), kind)
}

// show writes the table.
func (r *report) show(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%s\n\n", r.title(), r.Machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "system\trounds\ta create is answered after\twhat\t")
	for _, p := range r.Peers {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t\n", p.Peer, p.Rounds, p.Durability, p.what())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nRatios are to %s; for ms, MiB and CPU seconds less is better. CPU is that of the whole machine.\n", r.Reference)
	for _, like := range r.rows() {
		fmt.Fprintf(t, "\n%s\tmedian\tmin – max\tratio\t\n", like.Name)
		for _, p := range r.Peers {
			found := p.find(like.Key)
			switch {
			case found != nil:
				fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t\n", p.Peer, bench.Show(found.Median, found.Unit), found.spread(), found.ratio())
			case p.NotRun != "":
				fmt.Fprintf(t, "  %s\tnot run\t\t\t\n", p.Peer)
			default:
				fmt.Fprintf(t, "  %s\t–\t\t\t\n", p.Peer)
			}
		}
	}
	return t.Flush()
}

func (r *result) what() string {
	switch {
	case r.NotRun != "":
		return r.About + "; not run: " + r.NotRun
	case r.Failed != "":
		return fmt.Sprintf("%s (%s); failed: %s", r.About, r.Versions, r.Failed)
	default:
		return fmt.Sprintf("%s (%s)", r.About, r.Versions)
	}
}

func (r *row) spread() string {
	if len(r.Values) < 2 {
		return ""
	}
	return bench.Digits(r.Min) + " – " + bench.Digits(r.Max)
}

func (r *row) ratio() string {
	if r.Ratio == 0 {
		return ""
	}
	if r.Ratio < 0.1 {
		return strconv.FormatFloat(r.Ratio, 'g', 2, 64)
	}
	return bench.Digits(r.Ratio)
}

// write writes the files.
func (r *report) write(jsonFile, svgFile string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(jsonFile, append(text, '\n'), 0o600), os.WriteFile(svgFile, r.svg(), 0o600))
}
