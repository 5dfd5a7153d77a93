package main

// aim is the target for a figure.
type aim struct {
	// Either Least or Most is set.
	Least *float64 `json:"least,omitempty"`
	Most  *float64 `json:"most,omitempty"`
}

func least(v float64) aim { return aim{Least: &v} }
func most(v float64) aim  { return aim{Most: &v} }

// met reports whether a value meets the aim.
func (a aim) met(value float64) bool {
	return (a.Least == nil || value >= *a.Least) && (a.Most == nil || value <= *a.Most)
}

// aims of the host.Embedded setup, on two processors that generator and receiver share. No delivery may be early or
// repeated.
var aims = map[string]aim{
	"create.rate":               least(10_000),
	"create.p99":                most(40),
	"large.rate":                least(8_000),
	"batch.rate":                least(20_000),
	"topic_always.batched_rate": least(15_000),
	"topic_interval.rate":       least(15_000),
	"backlog.outcome_rate":      least(12_000),
	"backlog.cpu_service":       most(1.3),
	"backlog.reads":             most(1),
	"backlog.memory":            most(300),
	"backlog.early":             most(0),
	"backlog.duplicates":        most(0),
	"lateness.p50":              most(2),
	"lateness.p99":              most(10),
	"lateness.early":            most(0),
	"lateness.duplicates":       most(0),
	"hosts.many":                least(12_000),
	"hosts.cpu_service":         most(1.3),
	"hosts.ratio":               least(0.9),
	"hosts.many_reads":          most(1),
	"hosts.one_reads":           most(1),
	"hosts.early":               most(0),
	"hosts.duplicates":          most(0),
	"isolation.ratio":           most(1.5),
	"isolation.early":           most(0),
	"isolation.duplicates":      most(0),
	"fairness.above":            most(250),
	"fairness.early":            most(0),
	"fairness.duplicates":       most(0),
	"busy.p50":                  most(5),
	"busy.p99":                  most(25),
	"busy.early":                most(0),
	"busy.duplicates":           most(0),
	"idle.cpu":                  most(1.5),
	"idle.memory":               most(150),
	"tenants.cpu":               most(10),
	"tenants.memory":            most(300),
	"start.empty":               most(200),
}
