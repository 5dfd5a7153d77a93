package timer_test

import (
	"slices"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestStatusCodes(t *testing.T) {
	want := []int{400, 404, 409, 410, 463, 464, 499}
	var set timer.StatusCodes
	for _, code := range []int{409, 400, 499, 463, 404, 410, 464, 404} {
		var err error
		if set, err = set.With(code); err != nil {
			t.Fatal(err)
		}
	}
	if got := slices.Collect(set.All()); !slices.Equal(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	for code := range 1000 {
		if set.Has(code) != slices.Contains(want, code) {
			t.Errorf("has %d: %t", code, set.Has(code))
		}
	}
	if set.Has(-1) || set.Has(336) { // 336 is 64 below 400
		t.Error("a status far outside is in the set")
	}
	if got := set.String(); got != "400 404 409 410 463 464 499" {
		t.Errorf("as text: %q", got)
	}
	if back, err := timer.ParseStatusCodes(set.String()); err != nil || back != set {
		t.Errorf("read back: %v, %v", back, err)
	}
	if none, err := timer.ParseStatusCodes(""); err != nil || none != (timer.StatusCodes{}) || none.String() != "" {
		t.Errorf("no statuses: %v, %v", none, err)
	}
}

func TestStatusCodesThatAreNotAccepted(t *testing.T) {
	for _, code := range []int{-1, 0, 200, 399, 500} {
		if set, err := (timer.StatusCodes{}).With(code); err == nil || set != (timer.StatusCodes{}) {
			t.Errorf("%d: %v, %v", code, set, err)
		}
	}
	for _, text := range []string{"x", "404,409", "500", "4 04"} {
		if set, err := timer.ParseStatusCodes(text); err == nil {
			t.Errorf("%q was read as %v", text, set)
		}
	}
}
