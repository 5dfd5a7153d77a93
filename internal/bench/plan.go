package bench

import (
	"errors"
	"fmt"
	"time"
)

// Plan is the amount of work and time of each phase.
type Plan struct {
	// Connections for single creates, and for batches.
	Connections, BatchConnections int
	// Creates, Large and Commands are the numbers of timers that the phases create, large and topic create.
	Creates, Large, Commands int
	// Publishing bounds the time for publishing commands; the remaining commands are not sent.
	Publishing time.Duration
	// Pending is the number of timers that are pending while something else is measured; Million the number in the
	// phase million.
	Pending, Million int
	// Tenants is the number of namespaces in the phase tenants. Settle is how long the service then gets to claim their
	// shards and to find that nothing in them is due.
	Tenants int
	Settle  time.Duration
	// Backlog is the number of timers that are due at one instant.
	Backlog int
	// Hang is how long hosts that hang take to answer, in the phase isolation.
	Hang time.Duration
	// Crowd is the number of timers of another namespace that are due at one instant in the phase fairness, while
	// SmallRate timers per second are due, for SmallSpan.
	Crowd     int
	SmallRate float64
	SmallSpan time.Duration
	// Rate is the number of timers per second that are due while lateness is measured, for Span.
	Rate float64
	Span time.Duration
	// Beside is the number of creates per second in the phase busy.
	Beside float64
	// Margin is the time between the expected end of the creates and the first due time, so that the two do not
	// overlap.
	Margin time.Duration
	// Rest is the time for the service to become idle before its idle usage is measured, for Watch.
	Rest, Watch time.Duration
	// Patience is how long callbacks, outcomes or answers may fail to arrive before the phase fails.
	Patience time.Duration
}

// FullPlan is the plan of the published figures.
func FullPlan() Plan {
	return Plan{
		Connections: 64, BatchConnections: 8,
		Creates: 50_000, Large: 30_000, Commands: 100_000, Publishing: 10 * time.Second,
		Pending: 100_000, Million: 1_000_000, Tenants: 10_000, Settle: 2 * time.Minute, Backlog: 50_000, Hang: 10 * time.Second,
		Crowd: 900_000, SmallRate: 50, SmallSpan: 20 * time.Second,
		Rate: 500, Span: 30 * time.Second, Beside: 2_000,
		Margin: 2500 * time.Millisecond, Rest: 5 * time.Second, Watch: 30 * time.Second, Patience: time.Minute,
	}
}

// ShortPlan measures the same with fewer timers and for less time.
func ShortPlan() Plan {
	p := FullPlan()
	p.Creates, p.Large, p.Commands = 20_000, 10_000, 20_000
	p.Crowd, p.SmallSpan = 50_000, 4*time.Second
	p.Publishing = 2 * time.Second
	p.Span, p.Margin, p.Rest, p.Watch = 4*time.Second, time.Second, 1500*time.Millisecond, 3*time.Second
	p.Tenants, p.Settle = 100, time.Second
	return p
}

// Check returns an error that names the first quantity that is not acceptable.
func (p *Plan) Check() error {
	for _, q := range []struct {
		name  string
		value int
		most  int
	}{
		{"connections", p.Connections, 4096},
		{"batch-connections", p.BatchConnections, 4096},
		{"creates", p.Creates, maxSet},
		{"large", p.Large, maxSet},
		{"commands", p.Commands, maxSet},
		{"backlog", p.Backlog, maxSet},
		{"million", p.Million, maxSet},
		{"crowd", p.Crowd, maxSet},
		{"tenants", p.Tenants, 100_000},
		{"timers of small-rate and small-for together", int(p.SmallRate * p.SmallSpan.Seconds()), maxSet},
		{"timers of rate and for together", int(p.Rate * p.Span.Seconds()), maxSet},
		{"timers of beside and for together", int(p.Beside * p.Span.Seconds()), maxSet},
	} {
		if q.value < 1 || q.value > q.most {
			return fmt.Errorf("%s: %d is not accepted: want 1 to %d", q.name, q.value, q.most)
		}
	}
	switch {
	case p.Pending < 0 || p.Pending > maxSet:
		return fmt.Errorf("pending: %d is not accepted: want 0 to %d", p.Pending, maxSet)
	case p.Watch <= 0 || p.Patience <= 0 || p.Rest < 0 || p.Settle < 0 || p.Margin < 0 || p.Publishing <= 0 || p.Hang <= 0:
		return errors.New("watch, patience, hang and publishing: want durations above 0")
	}
	return nil
}
