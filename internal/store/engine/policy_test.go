package engine

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestPoliciesSurvive(t *testing.T) {
	for _, p := range []timer.RetryPolicy{
		timer.DefaultRetryPolicy(),
		{
			MaxAttempts: 1000, MaxAttemptsDuration: 8760 * time.Hour, InitialInterval: time.Millisecond + time.Nanosecond,
			BackoffMultiplier: 1.0000000000000002, MaxInterval: 168 * time.Hour,
		},
		{},
	} {
		var memo Policies
		text := memo.Format(&p)
		got, err := ParsePolicy(text)
		if err != nil || got != p {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, p)
		}
		if again, err := memo.Parse(text); err != nil || again != p {
			t.Errorf("%q: remembered as %+v, %v; want %+v", text, again, err, p)
		}
	}
}

// TestPolicyText: stored rows have this form.
func TestPolicyText(t *testing.T) {
	for text, p := range map[string]timer.RetryPolicy{
		"0 0s 0s 0 0s": {},
		"4 1h30m0s 250ms 1.5 168h0m0s": {
			MaxAttempts: 4, MaxAttemptsDuration: 90 * time.Minute, InitialInterval: 250 * time.Millisecond,
			BackoffMultiplier: 1.5, MaxInterval: 168 * time.Hour,
		},
		"1000 8760h0m0s 1.000001ms 1e+06 1m0s": {
			MaxAttempts: 1000, MaxAttemptsDuration: 8760 * time.Hour, InitialInterval: time.Millisecond + time.Nanosecond,
			BackoffMultiplier: 1e6, MaxInterval: time.Minute,
		},
	} {
		var memo Policies
		if got := memo.Format(&p); got != text {
			t.Errorf("%+v: stored as %q, want %q", p, got, text)
		}
		if got, err := ParsePolicy(text); err != nil || got != p {
			t.Errorf("%q: read as %+v, %v, want %+v", text, got, err, p)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add("4 0s 30s 2 1h0m0s")
	f.Add("4 0s 30s 2")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy(text)
		if err != nil {
			return
		}
		var memo Policies
		again, err := ParsePolicy(memo.Format(&p))
		// NaN is not equal to itself, and validation refuses it.
		if p.BackoffMultiplier == p.BackoffMultiplier && (err != nil || again != p) {
			t.Errorf("%q: %+v became %+v, %v", text, p, again, err)
		}
	})
}
