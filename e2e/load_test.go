package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/oracle"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/shard"
)

// cargo is the payload of a timer under load: the write's token, and how to answer its callback. The receiver keeps no
// state, so a kill cannot invalidate it.
type cargo struct {
	Token string `json:"token"`
	Plan  string `json:"plan"`
	// First is the executeAt of the write: a delivery with another time was rescheduled.
	First  time.Time     `json:"first"`
	Takes  time.Duration `json:"takes,omitempty"`
	Filler string        `json:"filler,omitempty"`
}

const (
	planDone  = "done"  // answered immediately
	planSlow  = "slow"  // answered after Takes
	planFail  = "fail"  // 500 at the first attempt
	planAgain = "again" // rescheduled once
	planEvent = "event" // no callback
	planDead  = "dead"  // 410
)

// span is the maximum time from a write to its executeAt.
const span = 6 * time.Second

// load has clients that create, change and delete timers, and an oracle that checks them.
type load struct {
	*oracle.Oracle

	apis      []*client.Client // used in rotation
	namespace string
	receiver  *receiver.Receiver
	serial    atomic.Int64
	// long allows callbacks that are leased. On a database they are repeated after a kill only when the lease has
	// expired.
	long atomic.Bool
	// heard is the number of fired events passed to the oracle.
	heard int
	mix   mix
	// followUps: some timers have URLs for their outcome, and some end as dead.
	followUps bool
	// pace is the longest pause of a client between requests.
	pace time.Duration
	seed uint64
	// first, if not nil, is called with each call of a first attempt that was not rescheduled.
	first func(*receiver.Call)
	// written counts answered writes, delivered counts callbacks.
	written, delivered atomic.Int64
}

// mix is how many of 1,000 timers have each plan. The rest are answered with success immediately, 100 of them with a
// large payload.
type mix struct{ long, slow, fail, again, event int }

var (
	// mixed is the default. crowded has fewer slow callbacks, which would use up the concurrency of the host.
	mixed   = mix{long: 30, slow: 70, fail: 150, again: 150, event: 100}
	crowded = mix{long: 1, slow: 10, fail: 50, again: 50, event: 100}
	// sparse is for a few dozen timers per second: many of them have long callbacks.
	sparse = mix{long: 150, slow: 70, fail: 100, again: 100, event: 100}
)

// newLoad sends requests to the world's service and to additional processes that serve the API.
func newLoad(t *testing.T, w *world, more ...*member) *load {
	t.Helper()
	l := &load{Oracle: oracle.New(), namespace: w.namespace, mix: mixed, pace: 20 * time.Millisecond, seed: rand.Uint64()}
	connections := &http.Transport{MaxIdleConnsPerHost: 1000}
	t.Cleanup(connections.CloseIdleConnections)
	urls := []string{w.URL()}
	for _, m := range more {
		urls = append(urls, m.URL())
	}
	for _, to := range urls {
		// One try, so that the oracle sees every answer.
		api, err := client.New(to, client.WithRetry(1, 0), client.WithHTTPClient(&http.Client{Transport: connections}))
		if err != nil {
			t.Fatal(err)
		}
		l.apis = append(l.apis, api)
	}
	var err error
	if l.receiver, err = receiver.StartForgetting(l.answer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.receiver.Close() })
	return l
}

// start starts the load of the given number of clients; stop ends it and waits for their last answers.
func (l *load) start(ctx context.Context, clients int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range clients {
		random := rand.New(rand.NewPCG(l.seed, uint64(l.serial.Add(1))<<32|uint64(n)))
		all.Go(func() { l.run(ctx, l.apis[n%len(l.apis)], random) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// run is one client. It does not share its timers, so their writes are sequential.
func (l *load) run(ctx context.Context, api *client.Client, random *rand.Rand) {
	var mine []string
	pick := func(ids []string) string { return ids[random.IntN(len(ids))] }
	for ctx.Err() == nil {
		var reached bool
		switch n := random.IntN(100); {
		case n < 60 || len(mine) == 0:
			id := fmt.Sprintf("load-%d", l.serial.Add(1))
			mine = append(mine, id)
			reached = l.set(api, random, id, true)
		case n < 68: // replace
			reached = l.set(api, random, pick(mine), true)
		case n < 84:
			reached = l.set(api, random, pick(mine), false)
		default:
			reached = l.remove(api, pick(mine))
		}
		mine = mine[max(0, len(mine)-40):] // older ones have fired
		if reached {
			l.written.Add(1)
		} else {
			pause(ctx, 50*time.Millisecond)
		}
		if l.pace > 0 {
			pause(ctx, time.Duration(random.Int64N(int64(l.pace))))
		}
	}
}

// patient is longer than any answer takes, so that every write is completed, even after the end of the load.
const patient = 20 * time.Second

// set creates or updates a timer; reached is false if the service was down.
func (l *load) set(api *client.Client, random *rand.Rand, id string, create bool) (reached bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	before := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	at := time.Now().UTC().Add(before(span)).Truncate(time.Millisecond)
	c := cargo{Token: fmt.Sprintf("%s#%d", id, l.serial.Add(1)), Plan: planDone, First: at}
	n := random.IntN(1000)
	is := func(part int) bool { n -= part; return n < 0 }
	switch {
	case is(l.mix.long) && l.long.Load():
		c.Plan, c.Takes = planSlow, 2*time.Second+before(4*time.Second)
	case is(l.mix.slow):
		c.Plan, c.Takes = planSlow, 200*time.Millisecond+before(time.Second)
	case is(l.mix.fail):
		c.Plan = planFail
	case is(l.mix.again):
		c.Plan = planAgain
	case is(l.mix.event):
		c.Plan = planEvent
	case l.followUps && is(50):
		c.Plan = planDead
	case is(100):
		c.Filler = strings.Repeat("x", 4<<10)
	}
	var urls [2]string // onDone and onDead
	var expected []oracle.Verdict
	for i, outcome := range []oracle.Verdict{oracle.Done, oracle.Dead} {
		if l.followUps && random.IntN(100) < 20+60*i { // few timers are dead
			urls[i], expected = l.receiver.URL, append(expected, outcome)
		}
	}
	payload, _ := json.Marshal(c)
	url, way := l.receiver.URL, client.DeliverCallback
	if c.Plan == planEvent {
		way = client.DeliverEvent
	}
	if create {
		w := l.Creating(id, c.Token, at).Expects(expected...)
		written, err := api.CreateTimer(ctx, client.CreateTimerRequest{
			Namespace: l.namespace, ID: id, ExecuteAt: client.At(at), CallbackURL: url, Deliver: way, Payload: payload, RetryPolicy: quick(10),
			OnDone: urls[0], OnDead: urls[1],
		})
		return conclude(w, written.InTime, err)
	}
	w := l.Updating(id, c.Token, at).Expects(expected...)
	written, err := api.UpdateTimer(ctx, client.UpdateTimerRequest{
		Namespace: l.namespace, ID: id, ExecuteAt: client.At(at), Deliver: client.Set(way), Payload: payload,
		OnDone: changed(urls[0]), OnDead: changed(urls[1]),
	})
	return conclude(w, written.InTime, err)
}

// changed returns the change of a URL in an update; an empty one is removed.
func changed(url string) client.Change[string] {
	if url == "" {
		return client.Clear[string]()
	}
	return client.Set(url)
}

func (l *load) remove(api *client.Client, id string) (reached bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	w := l.Deleting(id)
	inTime, err := api.DeleteTimer(ctx, client.DeleteTimerRequest{Namespace: l.namespace, ID: id})
	return conclude(w, inTime, err)
}

// conclude passes the client's answer to the oracle. After an unknown outcome it passes nothing.
func conclude(w *oracle.Write, inTime bool, err error) (reached bool) {
	var answered *client.Error
	var dial *net.OpError
	switch {
	case err == nil:
		w.Applied(inTime, time.Now())
		return true
	case errors.As(err, &answered):
		if answered.Code != client.CodeOutcomeUnknown && answered.Code != client.CodeInternal && answered.Code != "" {
			w.Refused()
		}
		return true
	case errors.As(err, &dial) && dial.Op == "dial":
		w.Refused()
		return false
	default:
		return false
	}
}

// answer is the receiver's script.
func (l *load) answer(call receiver.Call) receiver.Answer {
	if strings.HasPrefix(call.TimerID, shard.FollowUpPrefix) {
		return l.followUp(&call)
	}
	d, c := delivered(call.Delivery, call.WebhookID, call.At)
	l.Delivered(d)
	l.delivered.Add(1)
	if l.first != nil && call.Attempt == 1 && d.ExecuteAt.Equal(c.First) {
		l.first(&call)
	}
	a := receiver.Answer{Delay: c.Takes}
	verdict, next := oracle.Done, time.Time{}
	switch {
	case c.Plan == planDead:
		a.Status, verdict = http.StatusGone, oracle.Dead
	case c.Plan == planFail && call.Attempt == 1:
		a.Status, verdict = 500, oracle.Failed
	case c.Plan == planAgain && d.ExecuteAt.Equal(c.First):
		verdict, next = oracle.Again, time.Now().UTC().Add(300*time.Millisecond).Truncate(time.Millisecond)
		a.Body = fmt.Sprintf(`{"ok":true,"nextExecuteAt":%q}`, next.Format(time.RFC3339Nano))
	}
	a.Before = func() { l.Answered(d, verdict, next) }
	return a
}

// followUp answers the follow-up of a timer.
func (l *load) followUp(call *receiver.Call) receiver.Answer {
	l.delivered.Add(1)
	var result event.Result
	_ = json.Unmarshal(call.Payload, &result) // without a timer the oracle reports it
	f := &oracle.FollowUp{
		Timer: result.TimerID, Generation: result.Generation, WebhookID: call.WebhookID, At: call.At,
		Outcome: map[string]oracle.Verdict{"done": oracle.Done, "dead": oracle.Dead}[result.Outcome],
	}
	return receiver.Answer{Before: func() { l.FollowedUp(f) }}
}

func delivered(d event.Delivery, webhookID string, at time.Time) (*oracle.Delivery, cargo) {
	var c cargo
	_ = json.Unmarshal(d.Payload, &c) // without a token the oracle reports it
	return &oracle.Delivery{
		Timer: d.TimerID, Token: c.Token, WebhookID: webhookID, Attempt: int(d.Attempt), ExecuteAt: d.ExecuteAt.Time(), At: at,
	}, c
}

// events reads public topics. Each read starts with the messages of the previous read.
type events interface {
	ReadAll(ctx context.Context, subject string) ([]tap.Message, error)
}

// after reads the fired events after the first ones.
func after(ctx context.Context, from events, first int) ([]tap.Message, error) {
	if from, ok := from.(*tap.Tap); ok {
		return from.ReadAfter(ctx, tap.Fired, first)
	}
	all, err := from.ReadAll(ctx, tap.Fired)
	return all[min(first, len(all)):], err
}

// hear passes new fired events to the oracle.
func (l *load) hear(ctx context.Context, from events) error {
	fresh, err := after(ctx, from, l.heard)
	if err != nil {
		return err
	}
	for _, m := range fresh {
		l.heard++
		var e event.Delivery
		if m.Err != nil || json.Unmarshal(m.Event.Data, &e) != nil || e.Namespace != l.namespace {
			continue
		}
		// The time of the event counts, not the time at which it was read.
		d, _ := delivered(e, m.Event.ID, m.Event.Time.Time())
		l.Delivered(d)
		l.Answered(d, oracle.Done, time.Time{})
	}
	return nil
}

// settle waits until no delivery is owed, and until every requested time has passed. No delivery may be owed for longer
// than grace after both its due time and since.
func (l *load) settle(ctx context.Context, t *testing.T, from events, since time.Time, grace time.Duration) {
	t.Helper()
	for ctx.Err() == nil {
		if err := l.hear(ctx, from); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		owed := l.Owed()
		inTime := slices.ContainsFunc(owed, func(d oracle.Debt) bool { return now.Before(d.DueAt.Add(grace)) })
		if len(owed) > 0 && !inTime && now.After(since.Add(grace)) {
			return // deliveries that are still owed are lost
		}
		if len(owed) == 0 && now.After(l.Horizon().Add(500*time.Millisecond)) {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// operations counts answered writes and callbacks.
func (l *load) operations() int64 { return l.written.Load() + l.delivered.Load() }
