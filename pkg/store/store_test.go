package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestKeysOrderByDueTimeAndThenAsUnsignedBytes(t *testing.T) {
	want := []store.Key{
		store.MinKey(),
		{DueAt: -5, UUID: timer.UUID{0xff}},
		{DueAt: 0},
		{DueAt: 7},
		{DueAt: 7, UUID: timer.UUID{0x7f}},
		{DueAt: 7, UUID: timer.UUID{0x80}},
		store.MaxKeyAt(7),
		{DueAt: 8},
		store.MaxKeyAt(timer.MaxMillis),
	}
	for i, a := range want {
		for j, b := range want {
			if got := a.Compare(b); got != compare(i, j) {
				t.Errorf("%v compares to %v as %d", a, b, got)
			}
			if a.After(b) != (i > j) {
				t.Errorf("%v after %v: %t", a, b, a.After(b))
			}
		}
	}
}

func compare(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func TestGuard(t *testing.T) {
	row := &timer.Timer{Revision: 7, Generation: 5}
	for g, want := range map[store.Guard]bool{
		{Revision: 7}: true, {Generation: 5}: true,
		{Revision: 5}: false, {Generation: 7}: false, {}: false,
	} {
		if got := g.Holds(row); got != want {
			t.Errorf("%+v holds: %t, want %t", g, got, want)
		}
	}
}

func TestCheckedMatches(t *testing.T) {
	there := store.Checked{Found: true, Timer: timer.Timer{Revision: 7}}
	if !there.Matches(7) || there.Matches(8) {
		t.Error("a row matches its revision and no other")
	}
	gone := store.Checked{}
	if gone.Matches(0) {
		t.Error("a row that is not there matches")
	}
}

func TestCutError(t *testing.T) {
	long := strings.Repeat("x", store.MaxError)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{long, long},
		{long + "y", long},
		{long[1:] + "é", long[1:]},
		{long[2:] + "é", long[2:] + "é"},
		{long[3:] + "🕰", long[3:]},
		{strings.Repeat("界", 1000), strings.Repeat("界", store.MaxError/3)},
	} {
		got := store.CutError(c.in)
		if got != c.want || !utf8.ValidString(got) {
			t.Errorf("CutError of %d bytes gives %d bytes: %q", len(c.in), len(got), got)
		}
	}
	// Invalid UTF-8 is truncated too.
	if got := store.CutError(strings.Repeat("\x80", 2000)); len(got) > store.MaxError {
		t.Errorf("%d bytes are left", len(got))
	}
}

func TestOutcomeFinal(t *testing.T) {
	for o, want := range map[store.Outcome]bool{
		store.OutcomeDone: true, store.OutcomeDead: true, store.OutcomeRescheduled: true, store.OutcomeFailed: false,
	} {
		if o.Final() != want {
			t.Errorf("%s is final: %t", o, o.Final())
		}
	}
}

func TestIsTransient(t *testing.T) {
	transient := []error{store.ErrUnavailable, store.ErrOutcomeUnknown}
	for _, err := range []error{
		store.ErrNotFound, store.ErrExists, store.ErrConflict, store.ErrFenced, store.ErrInvalid,
		store.ErrUnavailable, store.ErrOutcomeUnknown, store.ErrClosed, nil, context.Canceled,
	} {
		wrapped := err
		if err != nil {
			wrapped = fmt.Errorf("claim shard 7: %w", err)
		}
		if got := store.IsTransient(wrapped); got != slices.Contains(transient, err) {
			t.Errorf("%v is transient: %t", err, got)
		}
	}
}

func TestSettingsAtTheirLimits(t *testing.T) {
	for what, c := range map[string]struct {
		change func(s *store.Settings)
		field  string
	}{
		"default":             {func(*store.Settings) {}, ""},
		"shortest retention":  {func(s *store.Settings) { s.HistoryRetention = time.Minute }, ""},
		"too short":           {func(s *store.Settings) { s.HistoryRetention = time.Minute - 1 }, "historyRetention"},
		"longest retention":   {func(s *store.Settings) { s.HistoryRetention = store.MaxHistoryRetention }, ""},
		"too long":            {func(s *store.Settings) { s.HistoryRetention = store.MaxHistoryRetention + 1 }, "historyRetention"},
		"dead too short":      {func(s *store.Settings) { s.DeadRetention = time.Minute - 1 }, "deadRetention"},
		"dead too long":       {func(s *store.Settings) { s.DeadRetention = store.MaxHistoryRetention + 1 }, "deadRetention"},
		"no results named":    {func(s *store.Settings) { s.Results = "" }, "results"},
		"other results":       {func(s *store.Settings) { s.Results = "none" }, "results"},
		"results of failures": {func(s *store.Settings) { s.Results = store.ResultsFailures }, ""},
		"no results":          {func(s *store.Settings) { s.Results = store.ResultsOff }, ""},
		"no call to a host":   {func(s *store.Settings) { s.HostConcurrency = 0 }, "hostConcurrency"},
		"one call to a host":  {func(s *store.Settings) { s.HostConcurrency = store.MinHostConcurrency }, ""},
		"most calls":          {func(s *store.Settings) { s.HostConcurrency = store.MaxHostConcurrency }, ""},
		"too many calls":      {func(s *store.Settings) { s.HostConcurrency = store.MaxHostConcurrency + 1 }, "hostConcurrency"},
		"shortest timeout":    {func(s *store.Settings) { s.CallbackTimeout = timer.MinCallbackTimeout }, ""},
		"too short a timeout": {func(s *store.Settings) { s.CallbackTimeout = timer.MinCallbackTimeout - 1 }, "callbackTimeout"},
		"longest timeout":     {func(s *store.Settings) { s.CallbackTimeout = timer.MaxCallbackTimeout }, ""},
		"too long a timeout":  {func(s *store.Settings) { s.CallbackTimeout = timer.MaxCallbackTimeout + 1 }, "callbackTimeout"},
		"retry":               {func(s *store.Settings) { s.Retry.MaxAttempts = 0 }, "retryPolicy.maxAttempts"},
	} {
		s := store.DefaultSettings()
		c.change(&s)
		err := s.Check()
		var invalid *timer.InvalidError
		if c.field == "" && err != nil || c.field != "" && (!errors.As(err, &invalid) || invalid.Field != c.field) {
			t.Errorf("%s: %v, want it to name %q", what, err, c.field)
		}
	}
}

// decorated is a decorator that changes nothing and can be unwrapped.
type decorated struct{ store.Store }

func (d decorated) Unwrap() store.Store { return d.Store }

// counting is a store with one optional capability.
type counting struct {
	store.Store

	pending int64
}

func (c counting) Count(context.Context, timer.Millis) (store.Counts, error) {
	return store.Counts{Pending: c.pending}, nil
}

func TestAs(t *testing.T) {
	plain := struct{ store.Store }{}
	inner := counting{pending: 1}
	for what, c := range map[string]struct {
		store store.Store
		want  int64 // the number that Count of the found store returns; 0: none is found
	}{
		"no power":            {plain, 0},
		"a power":             {inner, 1},
		"behind a decorator":  {decorated{inner}, 1},
		"behind two":          {decorated{decorated{inner}}, 1},
		"no power behind two": {decorated{decorated{plain}}, 0},
		"the outer one first": {counting{decorated{inner}, 2}, 2},
		"nothing to unwrap":   {struct{ store.Store }{inner}, 0},
	} {
		power, ok := store.As[store.Census](c.store)
		if ok != (c.want != 0) {
			t.Errorf("%s: found: %t", what, ok)
			continue
		}
		if !ok {
			continue
		}
		if counts, err := power.Count(t.Context(), 0); err != nil || counts.Pending != c.want {
			t.Errorf("%s: %+v, %v; want the Count of store %d", what, counts, err, c.want)
		}
	}
	if _, ok := store.As[store.Positions](decorated{inner}); ok {
		t.Error("a power that nobody has was found")
	}
}
