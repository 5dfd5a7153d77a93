package store_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestSecretsAsText(t *testing.T) {
	both := store.Secrets{
		{ID: "0a1b2c3d", CreatedAt: 1767225600250, Encrypted: "v1:k:abc"},
		{ID: "ffffffff", CreatedAt: -1, ExpiresAt: 1767225600251, Encrypted: "v1:k:A+/"},
	}
	const want = "0a1b2c3d 1767225600250 0 v1:k:abc\nffffffff -1 1767225600251 v1:k:A+/\n"
	if got := both.String(); got != want {
		t.Errorf("as text: %q, want %q", got, want)
	}
	for _, s := range []store.Secrets{both, {both[0]}, {}} {
		if back, err := store.ParseSecrets(s.String()); err != nil || back != s {
			t.Errorf("%q became %+v, %v", s.String(), back, err)
		}
	}
	for _, text := range []string{"\n", "a", "a 1 2", "a x 0 s", "a 1 x s", "a 1 0 s extra", want + want} {
		if s, err := store.ParseSecrets(text); err == nil {
			t.Errorf("%q was read as %+v", text, s)
		}
	}
}

func TestSecretsLiveUntilTheyExpire(t *testing.T) {
	s := store.Secrets{{ID: "new", CreatedAt: 10}, {ID: "old", CreatedAt: 1, ExpiresAt: 20}}
	for now, want := range map[int64]int{5: 2, 19: 2, 20: 1, 99: 1} {
		live := s.Live(timer.Millis(now))
		if len(live) != want || live[0].ID != "new" {
			t.Errorf("at %d there live %+v", now, live)
		}
	}
	if live := (store.Secrets{}).Live(0); len(live) != 0 {
		t.Errorf("of none there live %+v", live)
	}
}
