package engine

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The suite of pkg/store/storetest tests the rules on every engine. These tests check what an engine relies on.

const written, later timer.Millis = 1_000_000, 1_060_000

var ref = store.Ref{Shard: 3, UUID: timer.UUID{1}}

func standing() *Slot {
	s := &Slot{Ref: ref}
	s.Read(Row{Timer: NewTimer(written, &store.Put{
		Ref: ref, Namespace: "n", ID: "a", Revision: 7, Spec: timer.Spec{
			ExecuteAt: later, CallbackTimeout: time.Minute, Retry: timer.DefaultRetryPolicy(), Payload: []byte("1"),
		},
	})})
	return s
}

func TestAnOperationThatIsRefusedChangesNothing(t *testing.T) {
	s := standing()
	for _, w := range []store.Written{
		s.Apply(later, store.Update{Ref: ref, Revision: 8, IfGeneration: 6}),
		s.Apply(later, store.Delete{Ref: ref, IfGeneration: 6}),
		s.Apply(later, store.Put{Ref: ref, Revision: 8, OnConflict: store.Fail}),
		s.Rearm(later, &store.Rearm{Ref: ref, Revision: 8}),
	} {
		if w.Err == nil || w.Timer.Generation != 7 {
			t.Errorf("%v, with %+v", w.Err, w.Timer)
		}
	}
	err := s.Finish(later, &store.Finish{Ref: ref, Kind: store.FinishDone, If: store.Guard{Revision: 6}})
	if !errors.Is(err, store.ErrConflict) || s.Changed() || len(s.Attempts()) != 0 {
		t.Errorf("%v; changed: %t; history %v", err, s.Changed(), s.Attempts())
	}
}

// The engine does not write an unchanged payload, so it must not be read from the slot.
func TestSamePayload(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Slot)
		want   bool
	}{
		"a lease":               {func(s *Slot) { _ = s.Finish(later, leased(7)) }, true},
		"an update of the time": {func(s *Slot) { s.Apply(later, store.Update{Ref: ref, Revision: 8}) }, true},
		"an update of it": {func(s *Slot) {
			s.Apply(later, store.Update{Ref: ref, Revision: 8, Patch: timer.Patch{Payload: new([]byte("2"))}})
		}, false},
		"a new timer":            {func(s *Slot) { s.Apply(later, store.Put{Ref: ref, Revision: 8}) }, false},
		"a new timer, and lease": {func(s *Slot) { s.Apply(later, store.Put{Ref: ref, Revision: 8}); _ = s.Finish(later, leased(8)) }, false},
		"deleted, created again": {func(s *Slot) {
			s.Apply(later, store.Delete{Ref: ref})
			s.Apply(later, store.Put{Ref: ref, Revision: 8})
		}, false},
	} {
		s := standing()
		c.change(s)
		if !s.Changed() || s.SamePayload != c.want {
			t.Errorf("%s: changed %t, same payload %t", name, s.Changed(), s.SamePayload)
		}
	}
}

func leased(revision timer.Revision) *store.Finish {
	return &store.Finish{Ref: ref, Kind: store.FinishLeased, If: store.Guard{Revision: revision}, Next: revision + 100, NextAt: later + 1}
}

// TestTheFirstFinalOutcomeOfAnAttemptIsKept, also if one batch has several outcomes of the attempt.
func TestTheFirstFinalOutcomeOfAnAttemptIsKept(t *testing.T) {
	s := standing()
	finish := func(kind store.FinishKind, revision timer.Revision, status int) {
		t.Helper()
		err := s.Finish(later, &store.Finish{
			Ref: ref, Kind: kind, If: store.Guard{Revision: revision}, Next: revision + 1, NextAt: later.Add(time.Minute),
			Record: store.Record{Attempt: 1, StartedAt: later, FinishedAt: later, StatusCode: status, KeepFor: time.Hour},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	finish(store.FinishRetry, 7, http.StatusInternalServerError)
	finish(store.FinishDead, 8, http.StatusGone)
	if w := s.Apply(later, store.Put{Ref: ref, Revision: 7}); w.Err != nil {
		t.Fatal(w.Err)
	}
	finish(store.FinishDone, 7, http.StatusOK)
	history := s.Attempts()
	if len(history) != 1 || history[0].Outcome != store.OutcomeDead || history[0].StatusCode != http.StatusGone || s.Is != nil {
		t.Fatalf("history %+v, row %+v", history, s.Is)
	}
	a := history[0]
	if a.MarkedAt != later || a.ExpiresAt != later.Add(time.Hour) || a.NextAt != 0 || string(a.Timer.Payload) != "1" {
		t.Errorf("%+v", a)
	}
}
