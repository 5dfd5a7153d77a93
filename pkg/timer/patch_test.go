package timer_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestAnEmptyPatchChangesNothing(t *testing.T) {
	want := spec()
	want.Payload = []byte("1")
	got, err := (&timer.Patch{}).Apply(want)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// TestPatchSetsEachField sets one field at a time and compares with the same change made directly.
func TestPatchSetsEachField(t *testing.T) {
	payload, none := []byte("[2]"), []byte(nil)
	for what, c := range map[string]struct {
		patch timer.Patch
		hand  func(s *timer.Spec)
	}{
		"executeAt":   {timer.Patch{ExecuteAt: new(present + 1)}, func(s *timer.Spec) { s.ExecuteAt = present + 1 }},
		"deliver":     {timer.Patch{Deliver: new(timer.DeliverEvent)}, func(s *timer.Spec) { s.Deliver = timer.DeliverEvent }},
		"callbackUrl": {timer.Patch{CallbackURL: new("http://b")}, func(s *timer.Spec) { s.CallbackURL = "http://b" }},
		"no callbackUrl": {
			timer.Patch{CallbackURL: new(""), Deliver: new(timer.DeliverAuto)},
			func(s *timer.Spec) { s.CallbackURL, s.Deliver = "", timer.DeliverAuto },
		},
		"callbackTimeout":  {timer.Patch{CallbackTimeout: new(time.Second)}, func(s *timer.Spec) { s.CallbackTimeout = time.Second }},
		"payload":          {timer.Patch{Payload: &payload}, func(s *timer.Spec) { s.Payload = payload }},
		"no payload":       {timer.Patch{Payload: &none}, func(s *timer.Spec) { s.Payload = nil }},
		"correlationId":    {timer.Patch{CorrelationID: new("x")}, func(s *timer.Spec) { s.CorrelationID = "x" }},
		"no correlationId": {timer.Patch{CorrelationID: new("")}, func(s *timer.Spec) { s.CorrelationID = "" }},
		"topic and key": {
			timer.Patch{Topic: new("orders.b"), EventKey: new("b")}, func(s *timer.Spec) { s.Topic, s.EventKey = "orders.b", "b" },
		},
		"key":      {timer.Patch{EventKey: new("b")}, func(s *timer.Spec) { s.EventKey = "b" }},
		"no key":   {timer.Patch{EventKey: new("")}, func(s *timer.Spec) { s.EventKey = "" }},
		"no topic": {timer.Patch{Topic: new(""), EventKey: new("")}, func(s *timer.Spec) { s.Topic, s.EventKey = "", "" }},
		"maxAttempts": {
			timer.Patch{Retry: &timer.RetryPatch{MaxAttempts: new(9)}},
			func(s *timer.Spec) { s.Retry.MaxAttempts = 9 },
		},
		"maxAttemptsDuration": {
			timer.Patch{Retry: &timer.RetryPatch{MaxAttemptsDuration: new(time.Hour)}},
			func(s *timer.Spec) { s.Retry.MaxAttemptsDuration = time.Hour },
		},
		"initialInterval": {
			timer.Patch{Retry: &timer.RetryPatch{InitialInterval: new(time.Minute)}},
			func(s *timer.Spec) { s.Retry.InitialInterval = time.Minute },
		},
		"backoffMultiplier": {
			timer.Patch{Retry: &timer.RetryPatch{BackoffMultiplier: new(1.5)}},
			func(s *timer.Spec) { s.Retry.BackoffMultiplier = 1.5 },
		},
		"maxInterval": {
			timer.Patch{Retry: &timer.RetryPatch{MaxInterval: new(2 * time.Hour)}},
			func(s *timer.Spec) { s.Retry.MaxInterval = 2 * time.Hour },
		},
	} {
		before := spec()
		before.Payload, before.CorrelationID = []byte("1"), "given"
		before.Deliver, before.Topic, before.EventKey = timer.DeliverBoth, "orders.a", "a"
		want := before
		c.hand(&want)
		got, err := c.patch.Apply(before)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
	}
}

// TestPatchIsCheckedAsAWhole: a field that is acceptable by itself may conflict with the others.
func TestPatchIsCheckedAsAWhole(t *testing.T) {
	event := spec()
	event.Deliver, event.CallbackURL = timer.DeliverEvent, ""
	both := spec()
	both.Deliver = timer.DeliverBoth
	own := both
	own.Topic, own.EventKey = "orders", "k"
	for what, c := range map[string]struct {
		spec  timer.Spec
		patch timer.Patch
		field string
	}{
		"callback where there is no URL":     {event, timer.Patch{Deliver: new(timer.DeliverCallback)}, "callbackUrl"},
		"callback and its URL":               {event, timer.Patch{Deliver: new(timer.DeliverCallback), CallbackURL: new("http://a")}, ""},
		"URL away from a callback":           {both, timer.Patch{CallbackURL: new("")}, "callbackUrl"},
		"URL away, and an event instead":     {both, timer.Patch{CallbackURL: new(""), Deliver: new(timer.DeliverEvent)}, ""},
		"a cap below the interval it stays":  {both, timer.Patch{Retry: &timer.RetryPatch{MaxInterval: new(time.Second)}}, "retryPolicy.maxInterval"},
		"an interval above the cap it stays": {both, timer.Patch{Retry: &timer.RetryPatch{InitialInterval: new(3 * time.Hour)}}, "retryPolicy.maxInterval"},
		"callback alone with a topic":        {own, timer.Patch{Deliver: new(timer.DeliverCallback)}, "topic"},
		"callback by a URL, with a topic":    {own, timer.Patch{Deliver: new(timer.DeliverAuto)}, "topic"},
		"topic away from its key":            {own, timer.Patch{Topic: new("")}, "key"},
		"a key without a topic":              {both, timer.Patch{EventKey: new("k")}, "key"},
		"no name for a topic":                {both, timer.Patch{Topic: new("orders/a")}, "topic"},
		"never":                              {both, timer.Patch{ExecuteAt: new(timer.Never)}, "executeAt"},
	} {
		before := c.spec
		got, err := c.patch.Apply(c.spec)
		wantField(t, what, err, c.field)
		if err != nil && !reflect.DeepEqual(got, timer.Spec{}) {
			t.Errorf("%s: refused, and still %+v", what, got)
		}
		if !reflect.DeepEqual(c.spec, before) {
			t.Errorf("%s: the spec passed in was changed", what)
		}
	}
}
