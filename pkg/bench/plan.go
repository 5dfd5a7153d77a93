package bench

import (
	"errors"
	"fmt"
	"time"
)

// Plan says how much of everything is done.
type Plan struct {
	// Connections of single creates, and of batches.
	Connections, BatchConnections int
	// Creates, Large, Commands are how many timers the phases of these names create.
	Creates, Large, Commands int
	// Publishing ends after this time, however many commands are left.
	Publishing time.Duration
	// Pending is how many timers wait while something else is measured; Million how many wait in the
	// phase of that name.
	Pending, Million int
	// Tenants is the number of namespaces in the phase of that name, Settle is how long the service then may take to claim
	// their shards and to find nothing due in them.
	Tenants int
	Settle  time.Duration
	// Backlog is how many timers are due at once.
	Backlog int
	// Hang is how long hosts that hang take for an answer, in the phase isolation.
	Hang time.Duration
	// Crowd is the number of timers of another namespace that are due at once in the phase fairness, while SmallRate timers a second
	// are due, for SmallSpan.
	Crowd     int
	SmallRate float64
	SmallSpan time.Duration
	// Rate is how many timers a second are due while lateness is measured, for Span.
	Rate float64
	Span time.Duration
	// Beside is how many creates a second there are in the phase busy.
	Beside float64
	// Margin lies between the last create and the first due time, so that the one's end does not
	// fall into the other.
	Margin time.Duration
	// Rest lets the service come to rest before it is watched idle, for Watch.
	Rest, Watch time.Duration
	// Patience is how long something that is due may fail to come before it counts as lost.
	Patience time.Duration
}

// FullPlan is what the published figures are measured with.
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

// ShortPlan measures the same things on fewer timers and for less time.
func ShortPlan() Plan {
	p := FullPlan()
	p.Creates, p.Large, p.Commands = 20_000, 10_000, 20_000
	p.Crowd, p.SmallSpan = 50_000, 4*time.Second
	p.Publishing = 2 * time.Second
	p.Span, p.Margin, p.Rest, p.Watch = 4*time.Second, time.Second, 1500*time.Millisecond, 3*time.Second
	p.Tenants, p.Settle = 100, time.Second
	return p
}

// Check names the first quantity that is not acceptable.
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
