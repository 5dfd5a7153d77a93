package main

import (
	"fmt"
	"io"
	"time"
)

// bill is the use of DynamoDB by an activity.
type bill struct{ requests, reads, writes float64 }

// The list price on demand in us-east-1, in dollars per million units.
const (
	dollarsPerMillionReads  = 0.125
	dollarsPerMillionWrites = 0.625
)

func (b bill) dollarsPerMillion() float64 {
	return b.reads*dollarsPerMillionReads + b.writes*dollarsPerMillionWrites
}

func (b bill) over(n float64) bill { return bill{b.requests / n, b.reads / n, b.writes / n} }

func (b bill) plus(o bill) bill {
	return bill{b.requests + o.requests, b.reads + o.reads, b.writes + o.writes}
}

func (b bill) minus(o bill) bill { return b.plus(o.over(-1)) }

func (b bill) times(n float64) bill { return b.over(1 / n) }

// between returns the use from one reading to the next, as AWS bills it: AWS bills one unit for a Query that finds
// nothing, and DynamoDB Local counts none. The number of such queries is unknown, so at least one unit is counted for
// each query.
func between(from, to reading) bill {
	var b bill
	for name, requests := range to.requests {
		requests -= from.requests[name]
		units := to.units[name] - from.units[name]
		b.requests += requests
		switch name {
		case "Query":
			b.reads += max(units, requests)
		case "GetItem", "BatchGetItem":
			b.reads += units
		default:
			b.writes += units
		}
	}
	return b
}

// The minimum for a design that keeps an ordered index and a history.
var (
	// The row, and its entry in the index.
	leastCreate = bill{requests: 1, writes: 2}
	// The row check reads the row, and a poll reads a part of a page of a thousand entries. The row and its entry are
	// deleted, history is written.
	leastFire = bill{requests: 1.0/100 + 1.0/1000 + 1, reads: 1 + 250.0/4096, writes: 3}
)

// looksAnHour is the number of half hint windows of 60 s in an hour.
const looksAnHour = 120

// leastIdle is one read of the shard's rows for each half hint window, and one of its claim.
var leastIdle = bill{requests: looksAnHour, reads: 2 * looksAnHour}

// row prints one line of the table of timers.
func row(out io.Writer, what string, took, least bill) {
	fmt.Fprintf(out, "%-44s %9.2f %6.2f %8.2f %6.2f %8.2f %6.2f %9.2f %6.2f\n", what,
		took.requests, least.requests, took.reads, least.reads, took.writes, least.writes,
		took.dollarsPerMillion(), least.dollarsPerMillion())
}

func head(out io.Writer, what, money string) {
	fmt.Fprintf(out, "\n%-44s %9s %6s %8s %6s %8s %6s %9s %6s\n", what, "requests", "least", "RRU", "least", "WRU", "least", money, "least")
}

// idle prints the cost of an idle hour: for each shard, and for the rest of the cluster.
func idle(out io.Writer, shard, besides bill) {
	head(out, "per idle hour", "$/month")
	month := func(b bill) float64 { return b.dollarsPerMillion() / 1e6 * 24 * 365 / 12 }
	for _, r := range []struct {
		what        string
		took, least bill
	}{
		{"each shard", shard, leastIdle},
		{"the cluster in addition (16 partitions, 1 process)", besides, bill{}},
	} {
		fmt.Fprintf(out, "%-44s %9.0f %6.0f %8.0f %6.0f %8.0f %6.0f %9.3f %6.3f\n", r.what, r.took.requests, r.least.requests,
			r.took.reads, r.least.reads, r.took.writes, r.least.writes, month(r.took), month(r.least))
	}
	fmt.Fprintf(out, "\n%-44s %9s\n", "an idle namespace", "$/month")
	for _, p := range []struct {
		preset string
		shards float64
	}{{"small", 16}, {"medium", 256}, {"large", 1024}, {"xlarge", 4096}} {
		fmt.Fprintf(out, "%-44s %9.2f\n", fmt.Sprintf("%s, %.0f shards, and the cluster", p.preset, p.shards),
			month(shard.times(p.shards).plus(besides)))
	}
}

func notes(out io.Writer, window time.Duration) {
	fmt.Fprintf(out, `
RRU, WRU: strongly consistent read units and write units; $ at list price on demand (%.3f and %.3f for a million).
"least" is the minimum for any design with an ordered index, a history and fencing, with items of at most 1 KB.
Measured over %v with the service's own metrics. DynamoDB Local counts as AWS does, with two exceptions: a Query that
finds no item costs 0 there and 1 on AWS (counted as 1 here), and neither reports a write whose condition fails,
which AWS bills like a write whose condition is met.
`, dollarsPerMillionReads, dollarsPerMillionWrites, window)
}
