package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// ofNamespace ends the URLs of a namespace; those of timers end with the number of the operation.
const ofNamespace = "namespace"

// followUpURL returns the URL for an outcome, onDone or onDead. Its host is not that of the callbacks, so the circuits of these are
// not open for it.
func followUpURL(name, of string) string { return "http://outcomes.test/" + name + "/" + of }

// followUp is a follow-up as seen by its receiver.
type followUp struct {
	event.Result

	webhook, url string
	// denied: a delivery was answered 401.
	denied bool
	// answered: a delivery was answered with success, and its dispatcher was alive.
	answered bool
}

// followUps has the follow-ups of a life, by timer id, guarded by oracle.mu.
type followUps map[string]*followUp

// call receives one delivery of a follow-up and answers it. It fails the first Fails attempts of the operation that set the URL.
func (o *oracle) call(by *life, request *dispatcher.Request) dispatcher.Answer {
	t := request.Timer
	d := delivered{Delivery: event.DeliveryOf(t), webhook: t.WebhookID(), by: by, local: by.now(), begun: request.At, op: -1}
	o.world.note("%s  calls %s attempt %d", by.node, d.TimerID, d.Attempt)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = o.world.since()
	o.counts.FollowUps++
	o.checkTime(&d)
	var result event.Result
	must(json.Unmarshal(d.Payload, &result))
	f := o.followUps[d.TimerID]
	if f == nil {
		f = &followUp{Result: result, webhook: d.webhook, url: t.CallbackURL}
		o.followUps[d.TimerID] = f
	}
	if f.webhook != d.webhook || f.url != t.CallbackURL || f.Outcome != result.Outcome {
		o.broken("follow-up", "%s was delivered as %s to %s with %s, and before as %s to %s", d.TimerID, d.webhook, t.CallbackURL, d.Payload, f.webhook, f.url)
	}
	if o.denies(&d, request) {
		f.denied = true
		return dispatcher.Answer{Status: http.StatusUnauthorized}
	}
	o.world.recording.delivered(d.attempt(), &d, false)
	if id, err := number(t.CallbackURL); err == nil {
		if s := o.find(id); s != nil && int(d.Attempt) <= s.op.Fails {
			return dispatcher.Answer{Status: 500}
		}
	}
	f.answered = f.answered || by.alive()
	return dispatcher.Answer{Status: 200}
}

// finishesHaveFollowUps implements I19: a generation that is done or dead has exactly one follow-up if there is a URL for its
// outcome, which its receiver got, and none otherwise. Finished timers that were purged or whose namespace was deleted count,
// too.
func (o *oracle) finishesHaveFollowUps(ctx context.Context, handle store.Store) {
	want := map[string]bool{}
	for _, f := range o.world.recording.finals() {
		name, url, known := o.wantedURL(f)
		if !known {
			continue
		}
		a := f.attempt()
		outcome := name + ":" + f.before.WebhookID()
		var got []*followUp
		for _, id := range sorted(o.followUps) {
			if strings.HasSuffix(id, ":"+outcome) || o.followUps[id].isOf(f) {
				got = append(got, o.followUps[id])
				want[id] = true
			}
		}
		switch {
		case url == "" && len(got) > 0:
			o.broken("follow-up", "%s", a.violation("", f.at, "had no URL for its outcome, and a follow-up called %s", got[0].url).Text)
		case url == "":
		case len(got) == 0 && o.heldFollowUp(ctx, handle, f, outcome):
		case len(got) != 1:
			o.broken("follow-up", "%s", a.violation("", f.at, "ended with the URL %s, and had %d follow-ups", url, len(got)).Text)
		case got[0].url != url || !got[0].isOf(f):
			o.broken("follow-up", "%s", a.violation("", f.at, "ended as %s with the URL %s, and its follow-up called %s with %+v",
				f.reported(), url, got[0].url, got[0].Result).Text)
		case !got[0].answered && !got[0].denied:
			o.broken("follow-up", "%s", a.violation("", f.at, "has a follow-up that was never answered with success").Text)
		}
	}
	for _, id := range sorted(o.followUps) {
		if !want[id] {
			o.broken("follow-up", "%s called %s, and no outcome that was written has it", id, o.followUps[id].url)
		}
	}
}

// heldFollowUp reports whether the filter of the group selected the follow-up of an outcome, so that it is paused, or has expired
// because the resume skipped it.
func (o *oracle) heldFollowUp(ctx context.Context, handle store.Store, f *finish, name string) bool {
	if f.before.Correlation() != group || o.pauses.began == never {
		return false
	}
	id := o.world.blocks[f.before.Namespace].FollowUpID(f.Ref.Shard, name)
	t, err := handle.Get(ctx, timer.SystemClock(), store.Ref{Shard: f.Ref.Shard, UUID: timer.UUIDOf(f.before.Namespace, id)})
	if err != nil {
		return false
	}
	return t.Status == timer.StatusPaused && o.pauses.mayHold() ||
		t.Status == timer.StatusDead && o.pauses.skip && strings.HasPrefix(t.LastError, timer.ExpiredError)
}

func sorted(all followUps) []string {
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// isOf reports whether the follow-up describes an outcome.
func (f *followUp) isOf(of *finish) bool {
	return f.TimerID == of.before.ID && f.Namespace == of.before.Namespace && f.Generation == of.before.Generation.String() &&
		f.Attempt == of.Record.Attempt && f.StatusCode == of.Record.StatusCode && f.Outcome == of.reported()
}

// reported returns the outcome as results report it.
func (f *finish) reported() string {
	if f.Kind == store.FinishDone {
		return string(store.OutcomeDone)
	}
	return string(store.OutcomeDead.Reported(f.Record.Error))
}

// finals returns the outcomes that ended a timer of a user.
func (r *recording) finals() []*finish {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*finish
	for i := range r.finishes {
		if f := &r.finishes[i]; f.end() != "" && !shard.IsFollowUp(f.before.ID) && f.before.Schedule == "" {
			found = append(found, f)
		}
	}
	return found
}

// wantedURL returns the URL for an outcome: that of the operation which wrote the row, or that of the namespace.
func (o *oracle) wantedURL(f *finish) (name, url string, known bool) {
	id, err := opOf(f.before.Payload)
	if f.before.Request.Raw() {
		id, err = number(f.before.CallbackURL)
	}
	s := o.find(id)
	if err != nil || s == nil {
		return "", "", false // the rule "payload" is broken
	}
	name, own, space := "onDone", s.op.OnDone, o.world.plan.OnDone
	if f.Kind == store.FinishDead {
		name, own, space = "onDead", s.op.OnDead, o.world.plan.OnDead
	}
	switch {
	case own:
		url = followUpURL(name, strconv.Itoa(id))
	case space && s.op.space() == namespace:
		url = followUpURL(name, ofNamespace)
	}
	return strings.ToLower(strings.TrimPrefix(name, "on")), url, true
}

// followUpSettings adds the URLs of a namespace, the authentication of its callbacks, and the settings of its follow-ups: the retry policy of the timers.
func followUpSettings(p *Plan, s store.Settings) store.Settings {
	s.CallbackTimeout = longestCallback
	s.Retry = timer.RetryPolicy{
		MaxAttempts: maxAttempts, InitialInterval: initialInterval, BackoffMultiplier: multiplier, MaxInterval: maxInterval,
	}
	if p.Lifetime > 0 {
		s.Auth = callbackAuth()
	}
	if p.OnDone {
		s.OnDone = followUpURL("onDone", ofNamespace)
	}
	if p.OnDead {
		s.OnDead = followUpURL("onDead", ofNamespace)
	}
	return s
}
