package bench

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestParseUsage(t *testing.T) {
	const stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 1 0 0 0 150 25 7 9 20 0 9 0 1 2 3 4"
	got, err := parseUsage(stat, "1000 300 20 1 0 5 0\n")
	if want := (Usage{CPU: 1750 * time.Millisecond, Memory: 300 * int64(os.Getpagesize())}); err != nil || got != want {
		t.Errorf("usage %+v, %v, want %+v", got, err, want)
	}
	for _, foreign := range [][2]string{{"", ""}, {stat, "1"}, {"42 (a) S 1", "1 2"}, {stat, "1 x"}} {
		if got, err := parseUsage(foreign[0], foreign[1]); err == nil {
			t.Errorf("%q gives %+v", foreign, got)
		}
	}
}

func TestProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := Process(os.Getpid()).Read(t.Context()); err == nil {
			t.Error("read /proc where there is none")
		}
		return
	}
	got, err := Process(os.Getpid()).Read(t.Context())
	if err != nil || got.Memory < 1<<20 {
		t.Errorf("usage of this process: %+v, %v", got, err)
	}
	if own := ownCPU(); own < got.CPU-clockTick {
		t.Errorf("this process has used %v by its own account, %v by /proc", own, got.CPU)
	}
}

func TestMetric(t *testing.T) {
	page := []byte(`# HELP a_total of a
# TYPE a_total counter
a_total{way="x",outcome="done"} 3
a_total{way="y z",outcome="failed"} 1.5e+1
a_total_more 100
b 7
`)
	for name, want := range map[string]float64{"a_total": 18, "b": 7, "c": 0, "a": 0} {
		if got := metric(page, name); got != want {
			t.Errorf("metric %s = %v, want %v", name, got, want)
		}
	}
}
