package bench

import (
	"math"
	"slices"
	"time"
)

// samples are durations as they were measured, all of them: percentiles are exact, and eight bytes for
// each of some 100,000 are no burden.
type samples []time.Duration

// quantile is the smallest sample that at least the fraction q of all samples do not exceed. The samples
// must be sorted; without any it is 0.
func (s samples) quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

// Spread is what several runs say about one figure.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf summarises the values of several runs, at least one. The median of an even number is the mean
// of the middle two.
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
