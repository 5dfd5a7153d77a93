package bench

import (
	"math"
	"slices"
	"time"
)

// samples are all measured durations. Percentiles are therefore exact; eight bytes for each of some 100,000 samples are
// affordable.
type samples []time.Duration

// quantile returns the smallest sample that is at least as large as the fraction q of all samples. The samples must be
// sorted; without samples it returns 0.
func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

// Spread summarizes one figure over several runs.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf summarizes the values of at least one run. The median of an even number of values is the mean of the middle
// two.
func SpreadOf(values []float64) Spread {
	v := slices.Sorted(slices.Values(values))
	half := len(v) / 2
	median := v[half]
	if len(v)%2 == 0 {
		median = (v[half-1] + v[half]) / 2
	}
	return Spread{Median: median, Min: v[0], Max: v[len(v)-1]}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
