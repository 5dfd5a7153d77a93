package bench

import (
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	var hundred samples
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, c := range []struct {
		of   samples
		q    float64
		want time.Duration
	}{
		{nil, .5, 0},
		{samples{7}, 0, 7},
		{samples{7}, .999, 7},
		{samples{1, 2}, .5, 1},
		{samples{1, 2, 3}, .5, 2},
		{hundred, .5, 50},
		{hundred, .99, 99},
		{hundred, .991, 100},
		{hundred, .999, 100},
		{hundred, 1, 100},
	} {
		if got := c.of.quantile(c.q); got != c.want {
			t.Errorf("quantile %v of %d samples = %d, want %d", c.q, len(c.of), got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want Spread
	}{
		{[]float64{4}, Spread{Median: 4, Min: 4, Max: 4}},
		{[]float64{9, 1, 2}, Spread{Median: 2, Min: 1, Max: 9}},
		{[]float64{4, 1, 3, 2}, Spread{Median: 2.5, Min: 1, Max: 4}},
	} {
		if got := SpreadOf(c.of); got != c.want {
			t.Errorf("SpreadOf(%v) = %+v, want %+v", c.of, got, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0, Count, "0"},
		{1.234, Milliseconds, "1.23 ms"},
		{12.34, Milliseconds, "12.3 ms"},
		{123.4, Mebibytes, "123 MiB"},
		{1234567.8, PerSecond, "1,234,568/s"},
		{-1234, Milliseconds, "-1,234 ms"},
		{999.6, PerSecond, "1,000/s"},
		{50, Seconds, "50 s"},
	} {
		if got := Show(c.value, c.unit); got != c.want {
			t.Errorf("Show(%v, %q) = %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
