package relational

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
