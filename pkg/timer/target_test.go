package timer_test

import (
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestWhatIsCountedAsOneTarget(t *testing.T) {
	for receiver, want := range map[string]string{
		"http://a.test": "http://a.test:80", "HTTPS://A.Test./x?y#z": "https://a.test:443", "http://u:p@a.test:8080/": "http://a.test:8080",
		"http://a.test:443/": "http://a.test:443", "https://a.test:443/": "https://a.test:443", "https://[::1]": "https://[::1]:443",
		"topic Orders": "topic Orders", "": "", "mailto:a": "",
	} {
		if got := timer.TargetName(receiver); got != want {
			t.Errorf("%q: %q, want %q", receiver, got, want)
		}
	}
}

// Due events carry these numbers between processes of different releases.
func TestTargetsArePinned(t *testing.T) {
	for _, c := range []struct {
		spec  timer.Spec
		want  timer.Target
		topic bool
	}{
		{timer.Spec{CallbackURL: "https://Example.com/a"}, 0x3276d403185d4a1a, false},
		{timer.Spec{CallbackURL: "https://example.com:443/b", Topic: "orders", Deliver: timer.DeliverBoth}, 0x3276d403185d4a1a, false},
		{timer.Spec{CallbackURL: "http://example.com/", Deliver: timer.DeliverEvent, Topic: "orders"}, 0x74853a50a496f753, true},
		{timer.Spec{Topic: "orders"}, 0x74853a50a496f753, true},
		{timer.Spec{CallbackURL: "http://example.com/", Deliver: timer.DeliverEvent}, 0, false},
		{timer.Spec{}, 0, false},
	} {
		if got := c.spec.Target(); got != c.want || got.IsTopic() != c.topic {
			t.Errorf("%+v: %s, want %s", c.spec, got, c.want)
		}
	}
}

// FuzzTargetName: every accepted callback URL has exactly one name, and TargetName returns a name unchanged.
func FuzzTargetName(f *testing.F) {
	f.Add("http://Example.COM./a")
	f.Add("https://[::1]:8443/?q")
	f.Add("http://user:pass@127.0.0.1")
	f.Fuzz(func(t *testing.T, raw string) {
		if timer.CheckCallbackURL(raw) != nil {
			return
		}
		name := timer.TargetName(raw)
		if !strings.Contains(name, "://") || name != strings.ToLower(name) || timer.TargetOf(raw) == 0 || timer.TargetOf(raw).IsTopic() {
			t.Fatalf("%q: %q, %s", raw, name, timer.TargetOf(raw))
		}
	})
}
