package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func updateTests() []test {
	return []test{
		{"Update/AnEmptyPatchStartsANewGenerationAndKeepsTheRest", updateNothing},
		{"Update/EachFieldByItself", updateEachField},
		{"Update/ADueTimeNotGivenStaysButNotBeforeThePresent", updateKeepsDue},
		{"Update/ALeasedTimerIsDueAtOnce", updateLeased},
		{"Update/AnExecuteAtMovesTheDueTime", updateMovesDue},
		{"Update/AParkedTimerLivesAgain", updateRevives},
		{"Update/OnlyTheAskedGeneration", updateIfGeneration},
		{"Update/NoLiveTimerIsErrNotFound", updateNotFound},
		{"Update/AResultThatIsNotAcceptableWritesNothing", updateInvalid},
	}
}

func (w *world) update(ref store.Ref, patch timer.Patch) store.Written {
	w.t.Helper()
	return w.write(store.Update{Ref: ref, Revision: w.next(), Patch: patch})
}

// used creates a timer that has failed once and has two starts.
func (w *world) used(id string) timer.Timer {
	w.t.Helper()
	t := w.put(id, w.now+minute)
	t = w.move(&t, store.FinishRetry)
	check := store.Check{Ref: w.ref(id), DueAt: t.DueAt, Revision: t.Revision, CountStart: true}
	for range 2 {
		_, err := w.store.Current(w.ctx, []store.Check{check})
		w.check(err, "count a start")
	}
	t, _ = w.row(w.ref(id))
	if t.Attempts != 1 || t.Starts != 2 {
		w.t.Fatalf("attempts %d, starts %d; want 1, 2", t.Attempts, t.Starts)
	}
	return t
}

// reborn returns the effect of every update on a state, apart from the patch.
func reborn(t timer.Timer, now timer.Millis, revision timer.Revision) timer.Timer {
	t.Status = timer.StatusScheduled
	t.Revision = revision
	t.Generation = timer.Generation(revision)
	t.Attempts, t.Starts = 0, 0
	t.UpdatedAt = now
	return t
}

func updateNothing(w *world) {
	old := w.used("a")
	w.now += second
	out := w.update(w.ref("a"), timer.Patch{})
	w.check(out.Err, "update")
	want := reborn(old, w.now, out.Timer.Revision)
	w.equal("answer", out.Timer, want)
	w.wantPrior(out, &old)
	w.wantRow(w.ref("a"), &want)
	if out.Kept {
		w.t.Error("an update is answered as kept")
	}
}

func updateEachField(w *world) {
	at := w.now + 3*hour
	var none []byte
	for what, patch := range map[string]timer.Patch{
		"executeAt":        {ExecuteAt: &at}, // clears the local time
		"executeAtLocal":   {ExecuteAt: &at, Local: &timer.LocalTime{At: "2031-01-01T00:00", Zone: "UTC"}},
		"deliver":          {Deliver: new(timer.DeliverEvent)},
		"to a callback":    {Deliver: new(timer.DeliverCallback), Topic: new(""), EventKey: new("")},
		"callbackUrl":      {CallbackURL: new("http://other.example:8080/")},
		"callbackTimeout":  {CallbackTimeout: new(2 * time.Second)},
		"payload":          {Payload: new([]byte(`[true]`))},
		"no payload":       {Payload: &none},
		"correlationId":    {CorrelationID: new("ünder")},
		"no correlationId": {CorrelationID: new("")},
		"headers":          {Headers: new(timer.Headers("X-Other: 1\n"))},
		"no headers":       {Headers: new(timer.Headers(""))},
		"topic":            {Topic: new("orders.other")},
		"no topic":         {Topic: new(""), EventKey: new("")},
		"key":              {EventKey: new("other")},
		"expireAfter":      {ExpireAfter: new(time.Minute)},
		"no expireAfter":   {ExpireAfter: new(time.Duration(0))},
		"expiresAt":        {ExecuteAt: &at, ExpiresAt: new(at + 1)},
		"onDone":           {OnDone: new("http://other")},
		"no onDone":        {OnDone: new("")},
		"onDead":           {OnDead: new("http://other")},
		"no onDead":        {OnDead: new("")},
		"flowKey":          {FlowKey: new("other")},
		"no flowKey":       {FlowKey: new("")},
		"window":           {ExecuteAt: &at, Window: new(time.Hour)},
		"no window":        {ExecuteAt: &at, Window: new(time.Duration(0))},
		"request": {
			Deliver: new(timer.DeliverCallback), Topic: new(""), EventKey: new(""), Payload: new([]byte("\x00\xff")),
			Request: &timer.Request{Method: "PUT", ContentType: "application/octet-stream", Reschedule: true},
		},
		"no key":              {EventKey: new("")},
		"maxAttempts":         {Retry: &timer.RetryPatch{MaxAttempts: new(2)}},
		"maxAttemptsDuration": {Retry: &timer.RetryPatch{MaxAttemptsDuration: new(time.Duration(0))}},
		"initialInterval":     {Retry: &timer.RetryPatch{InitialInterval: new(time.Millisecond)}},
		"backoffMultiplier":   {Retry: &timer.RetryPatch{BackoffMultiplier: new(1.5)}},
		"maxInterval":         {Retry: &timer.RetryPatch{MaxInterval: new(time.Hour)}},
		"to an event":         {Deliver: new(timer.DeliverEvent), CallbackURL: new("")},
	} {
		old := w.used(what)
		want := reborn(old, w.now, 0)
		spec, err := patch.Apply(old.Spec)
		w.check(err, "the suite's own patch of %s", what)
		want.Spec = spec
		if patch.ExecuteAt != nil {
			want.DueAt, want.PlannedAt = at, at
		}
		out := w.update(w.ref(what), patch)
		w.check(out.Err, "update %s", what)
		want.Revision, want.Generation = out.Timer.Revision, out.Timer.Generation
		w.equal(what, out.Timer, want)
		w.wantRow(w.ref(what), &want)
	}
}

func updateKeepsDue(w *world) {
	old := w.put("a", w.now+minute)
	old = w.move(&old, store.FinishRetry) // due after executeAt
	if old.DueAt == old.ExecuteAt {
		w.t.Fatal("the suite's own timer should be due later than asked for")
	}
	patch := timer.Patch{CorrelationID: new("x")}
	out := w.update(w.ref("a"), patch)
	if out.Timer.DueAt != old.DueAt || out.Timer.ExecuteAt != old.ExecuteAt {
		w.t.Errorf("due %s, executeAt %s; want %s, %s", out.Timer.DueAt, out.Timer.ExecuteAt, old.DueAt, old.ExecuteAt)
	}
	w.now = old.DueAt + second
	out = w.update(w.ref("a"), patch)
	if out.Timer.DueAt != w.now || out.Timer.ExecuteAt != old.ExecuteAt {
		w.t.Errorf("overdue: due %s, executeAt %s; want %s, %s", out.Timer.DueAt, out.Timer.ExecuteAt, w.now, old.ExecuteAt)
	}
	w.wantRow(w.ref("a"), &out.Timer)
}

// updateLeased: the new state is not due at the end of the lease. After postponements and retries, due_at is kept.
func updateLeased(w *world) {
	patch := timer.Patch{Payload: new([]byte("1"))}
	for _, c := range []struct {
		what   string
		writes []store.FinishKind
		kept   bool
	}{
		{"leased", []store.FinishKind{store.FinishLeased}, false},
		{"renewed", []store.FinishKind{store.FinishLeased, store.FinishLeased}, false},
		{"a retry that is leased", []store.FinishKind{store.FinishRetry, store.FinishLeased}, false},
		{"postponed and then leased", []store.FinishKind{store.FinishPostponed, store.FinishLeased}, false},
		{"postponed after a lease", []store.FinishKind{store.FinishLeased, store.FinishPostponed}, true},
		{"retried after a lease", []store.FinishKind{store.FinishLeased, store.FinishRetry}, true},
	} {
		ref := w.ref(c.what)
		was := w.put(c.what, w.now)
		for _, kind := range c.writes {
			was = w.move(&was, kind)
		}
		w.now += second
		if was.DueAt <= w.now {
			w.t.Fatalf("%s: due at %s, now %s: this proves nothing", c.what, was.DueAt, w.now)
		}
		due, planned := w.now, w.now
		if c.kept {
			due, planned = was.DueAt, was.PlannedAt
		}
		out := w.update(ref, patch)
		w.check(out.Err, "update %s", c.what)
		if out.Timer.DueAt != due || out.Timer.PlannedAt != planned {
			w.t.Errorf("%s: due %s, planned %s; want %s, %s", c.what, out.Timer.DueAt, out.Timer.PlannedAt, due, planned)
		}
		w.wantRow(ref, &out.Timer)
		// The update has ended the lease: after a postponement, due_at is kept.
		postponed := w.move(&out.Timer, store.FinishPostponed)
		if out = w.update(ref, patch); out.Err != nil || out.Timer.DueAt != postponed.DueAt {
			w.t.Errorf("%s, updated and postponed: due %s, want %s; %v", c.what, out.Timer.DueAt, postponed.DueAt, out.Err)
		}
	}
	parked := w.put("parked", w.now)
	parked = w.move(&parked, store.FinishLeased)
	parked = w.move(&parked, store.FinishParked)
	if out := w.update(w.ref("parked"), patch); out.Err != nil || out.Timer.DueAt != parked.DueAt {
		w.t.Errorf("parked after a lease: due %s, want %s; %v", out.Timer.DueAt, parked.DueAt, out.Err)
	}
}

func updateMovesDue(w *world) {
	w.put("a", w.now+minute)
	claim := w.claim(w.ref("a").Shard)[0].Claim
	for _, c := range []struct{ at, due timer.Millis }{
		{w.now + hour, w.now + hour},
		{w.now + second, w.now + second}, // earlier than before
		{w.now - hour, w.now},
	} {
		out := w.update(w.ref("a"), timer.Patch{ExecuteAt: &c.at})
		if out.Timer.DueAt != c.due || out.Timer.ExecuteAt != c.at {
			w.t.Errorf("moved to %s: due %s, executeAt %s", c.at, out.Timer.DueAt, out.Timer.ExecuteAt)
		}
		rows := w.due(claim, store.MinKey(), timer.MaxMillis).Rows
		if len(rows) != 1 || rows[0].DueAt != c.due || rows[0].Revision != out.Timer.Revision {
			w.t.Errorf("moved to %s: Due shows %+v", c.at, rows)
		}
	}
}

func updateRevives(w *world) {
	parked := w.used("a")
	parked = w.move(&parked, store.FinishParked)
	out := w.update(w.ref("a"), timer.Patch{})
	w.check(out.Err, "update")
	want := reborn(parked, w.now, out.Timer.Revision)
	w.equal("answer", out.Timer, want)
	w.wantPrior(out, &parked)
	w.wantRow(w.ref("a"), &want)
	if rows := w.due(w.claim(w.ref("a").Shard)[0].Claim, store.MinKey(), want.DueAt).Rows; len(rows) != 1 {
		w.t.Errorf("Due shows %+v, want the timer that lives again", rows)
	}
	if got := w.outbox(); len(got) != 0 {
		w.t.Errorf("the mark outlived the parking: %+v", got)
	}
}

func updateIfGeneration(w *world) {
	old := w.used("a") // its revision differs from its generation
	for _, other := range []timer.Generation{old.Generation + 1, timer.Generation(old.Revision)} {
		out := w.write(store.Update{Ref: w.ref("a"), Revision: w.next(), IfGeneration: other})
		w.wantErr(out.Err, store.ErrConflict, "update of generation %s", other)
		w.equal("the state found", out.Timer, old)
		if out.Prior != nil {
			w.t.Errorf("prior %+v although nothing was written", out.Prior)
		}
		w.wantRow(w.ref("a"), &old)
	}
	out := w.write(store.Update{Ref: w.ref("a"), Revision: w.next(), IfGeneration: old.Generation})
	w.check(out.Err, "update of the present generation")
}

func updateNotFound(w *world) {
	w.wantErr(w.update(w.ref("nobody"), timer.Patch{}).Err, store.ErrNotFound, "update of nothing")
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		id := fmt.Sprint(kind)
		t := w.put(id, w.now)
		w.end(&t, kind)
		w.wantErr(w.update(w.ref(id), timer.Patch{}).Err, store.ErrNotFound, "update of a finished timer")
		w.wantNoRow(w.ref(id))
	}
}

func updateInvalid(w *world) {
	old := w.used("a")
	for what, patch := range map[string]timer.Patch{
		"bad URL":              {CallbackURL: new("gopher://x")},
		"no URL to call":       {CallbackURL: new("")}, // but deliver is both
		"bad deliver":          {Deliver: new(timer.Deliver("pigeon"))},
		"payload is not JSON":  {Payload: new([]byte("{"))},
		"payload is too large": {Payload: new(make([]byte, timer.MaxPayload+1))},
		"retry":                {Retry: &timer.RetryPatch{MaxInterval: new(time.Millisecond)}}, // less than the initial interval
		"executeAt":            {ExecuteAt: new(timer.MaxMillis + 1)},
		"headers":              {Headers: new(timer.Headers("Webhook-Id: 1\n"))},
		"topic":                {Topic: new("a/b")},
		"a key and no topic":   {Topic: new("")}, // but it has a key
		"topic of a callback":  {Deliver: new(timer.DeliverCallback)},
	} {
		out := w.update(w.ref("a"), patch)
		w.wantErr(out.Err, store.ErrInvalid, "update with %s", what)
		var why *timer.InvalidError
		var large *timer.PayloadTooLargeError
		if !errors.As(out.Err, &why) && !errors.As(out.Err, &large) {
			w.t.Errorf("%s: %v does not say which field has which value", what, out.Err)
		}
		if out.Prior != nil {
			w.t.Errorf("%s: prior %+v although nothing was written", what, out.Prior)
		}
		w.wantRow(w.ref("a"), &old)
	}
}
