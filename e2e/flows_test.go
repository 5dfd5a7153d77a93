package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// flowReceiver records the callbacks of flows. A callback runs until it is answered or its connection is closed.
type flowReceiver struct {
	*httptest.Server

	mu      sync.Mutex
	begun   map[string][]time.Time // by flow key
	running map[string]int
	most    map[string]int
	done    map[string]map[string]bool // the timers, by flow key
	ended   map[string]time.Time       // when the last new timer was called
	twice   int
	stalls  []stall // of this process, which make callbacks seem late
}

// stall is a time in which this process did not run.
type stall struct {
	at   time.Time
	took time.Duration
}

// watchStalls records when this process does not run for longer than 20 ms.
func (r *flowReceiver) watchStalls(ctx context.Context) {
	const every, least = 5 * time.Millisecond, 20 * time.Millisecond
	for last := time.Now(); ctx.Err() == nil; last = time.Now() {
		pause(ctx, every)
		if took := time.Since(last) - every; took > least {
			r.mu.Lock()
			r.stalls = append(r.stalls, stall{last, took})
			r.mu.Unlock()
		}
	}
}

// newFlowReceiver starts a receiver that answers after takes. The path of a callback is /<flow>/<timer>.
func newFlowReceiver(t *testing.T, takes time.Duration) *flowReceiver {
	t.Helper()
	r := &flowReceiver{
		begun: map[string][]time.Time{}, running: map[string]int{}, most: map[string]int{}, done: map[string]map[string]bool{},
		ended: map[string]time.Time{},
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		flow, id := path.Base(path.Dir(q.URL.Path)), path.Base(q.URL.Path)
		r.mu.Lock()
		now := time.Now()
		r.begun[flow] = append(r.begun[flow], now)
		r.running[flow]++
		r.most[flow] = max(r.most[flow], r.running[flow])
		if r.done[flow] == nil {
			r.done[flow] = map[string]bool{}
		}
		if r.done[flow][id] {
			r.twice++
		} else {
			r.done[flow][id] = true
			r.ended[flow] = now
		}
		r.mu.Unlock()
		pause(q.Context(), takes)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running[flow]--
	}))
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { r.watchStalls(ctx) })
	t.Cleanup(func() { r.Close(); cancel(); watching.Wait() })
	return r
}

// window returns the largest number of callbacks that began in a window of a length, when the last of them began, and the longest stall of
// this process in the window.
func (r *flowReceiver) window(flow string, per time.Duration) (largest int, until time.Time, longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	times := r.begun[flow]
	slices.SortFunc(times, time.Time.Compare)
	from := 0
	for i, at := range times {
		for at.Sub(times[from]) >= per {
			from++
		}
		if i-from+1 > largest {
			largest, until = i-from+1, at
		}
	}
	for _, s := range r.stalls {
		if s.at.Before(until) && until.Sub(s.at) < per+time.Second {
			longest = max(longest, s.took)
		}
	}
	return largest, until, longest
}

func (r *flowReceiver) count(flow string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.done[flow])
}

const (
	flowCount       = 60
	flowPer         = 2 * time.Second
	flowConcurrency = 4
	flowTakes       = 500 * time.Millisecond
	flowTimers      = 1350 // of the flow with a rate: 45 s
	flowCalls       = 360  // of the flow with a concurrency: 45 s
	// flowTransit is by how much the times that callbacks need to get to the receiver may differ.
	flowTransit = 100 * time.Millisecond
)

// saturate creates the timers of two flows, due together.
func saturate(t *testing.T, w *world, r *flowReceiver) (due time.Time) {
	t.Helper()
	_, err := w.api.UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: w.namespace, Settings: client.NamespaceSettingsInput{Flows: client.Set([]client.FlowLimit{
			{Pattern: "rate", Rate: client.FlowRate{Count: flowCount, Per: flowPer.String()}},
			{Pattern: "conc*", Concurrency: flowConcurrency},
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	due = time.Now().Add(5 * time.Second)
	var group sync.WaitGroup
	for i := range flowTimers {
		for flow, timers := range map[string]int{"rate": flowTimers, "concurrency": flowCalls} {
			if i >= timers {
				continue
			}
			group.Go(func() {
				_, err := w.api.CreateTimer(t.Context(), client.CreateTimerRequest{
					Namespace: w.namespace, ID: fmt.Sprint(flow, "-", i), ExecuteAt: client.At(due), FlowKey: flow,
					CallbackURL: fmt.Sprintf("%s/%s/%d", r.URL, flow, i),
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		if i%32 == 31 {
			group.Wait()
		}
	}
	group.Wait()
	return due
}

// awaitFlows waits until all timers were called, and checks the limits. withoutSlots is how long no process could use the slots of the flow
// with a rate, and withoutPermits how long none could use the permits of the one with a concurrency.
func awaitFlows(t *testing.T, r *flowReceiver, due time.Time, withoutSlots, withoutPermits time.Duration) {
	t.Helper()
	ctx := within(t, 2*time.Minute)
	for (r.count("rate") < flowTimers || r.count("concurrency") < flowCalls) && ctx.Err() == nil {
		pause(ctx, 100*time.Millisecond)
	}
	got, until, stalled := r.window("rate", flowPer-flowTransit)
	t.Logf("%d callbacks in a window of %v until %v; the receiver did not run for %v in it", got, flowPer-flowTransit, until.Sub(due), stalled)
	if got > flowCount {
		t.Errorf("%d callbacks in a window of %v, want at most %d", got, flowPer-flowTransit, flowCount)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := r.most["concurrency"]; got > flowConcurrency {
		t.Errorf("%d callbacks at the same time, want at most %d", got, flowConcurrency)
	}
	for flow, c := range map[string]struct {
		timers         int
		needed, outage time.Duration
	}{
		"rate":        {flowTimers, flowTimers * flowPer / flowCount, withoutSlots},
		"concurrency": {flowCalls, flowCalls * flowTakes / flowConcurrency, withoutPermits},
	} {
		took := r.ended[flow].Sub(due) - c.outage
		share := float64(c.needed) / float64(took)
		t.Logf("%s: %d of %d timers in %v without an outage of %v: %.1f %% of the limit; %d callbacks", flow, len(r.done[flow]), c.timers,
			took, c.outage, 100*share, len(r.begun[flow]))
		t.Logf("%s: callbacks in each second: %v", flow, eachSecond(r.begun[flow], due))
		if len(r.done[flow]) < c.timers {
			t.Errorf("%s: %d of %d timers were called", flow, len(r.done[flow]), c.timers)
		}
		if share < 0.9 {
			t.Errorf("%s: %.1f %% of the limit, want at least 90 %%", flow, 100*share)
		}
	}
	t.Logf("%d callbacks repeated", r.twice)
}

// eachSecond counts times by the second since from.
func eachSecond(times []time.Time, from time.Time) (counts []int) {
	for _, at := range times {
		second := max(int(at.Sub(from)/time.Second), 0)
		for len(counts) <= second {
			counts = append(counts, 0)
		}
		counts[second]++
	}
	return counts
}

// TestI21_FlowLimitsHoldUnderKills kills two of three dispatchers, one after the other, while two flows are saturated.
func TestI21_FlowLimitsHoldUnderKills(t *testing.T) {
	c := startCluster(t, 1, 1, 3)
	r := newFlowReceiver(t, flowTakes)
	due := saturate(t, c.world, r)
	pause(t.Context(), time.Until(due.Add(8*time.Second)))
	flows, err := c.api.ListFlows(t.Context(), client.ListFlowsRequest{Namespace: c.namespace})
	if err != nil || len(flows.Flows) != 2 {
		t.Fatalf("flows %+v, %v, want two", flows, err)
	}
	f := flows.Flows[1]
	if f.FlowKey != "rate" || f.Dispatchers != 3 || f.Backlog < 50 || f.Backlog > flowTimers || f.Limit.Rate.Count != flowCount {
		t.Errorf("flow %+v", f)
	}
	for _, member := range []string{"dispatcher-1", "dispatcher-2"} {
		killed := c.member(member)
		if err := killed.Kill(); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), 2*time.Second)
		if err := killed.Launch(); err != nil {
			t.Fatal(err)
		}
		pause(t.Context(), 2*time.Second)
	}
	// Each killed dispatcher has at most about half of the slots of a second, and half of the permits for 4 s, because others want some.
	awaitFlows(t, r, due, 2*time.Second/2, 2*4*time.Second/2)
}

// TestI21_FlowLimitsHoldUnderKillsOfTheEmbeddedService kills the only process.
func TestI21_FlowLimitsHoldUnderKillsOfTheEmbeddedService(t *testing.T) {
	w := startOwn(t)
	r := newFlowReceiver(t, flowTakes)
	due := saturate(t, w, r)
	pause(t.Context(), time.Until(due.Add(8*time.Second)))
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	// The permits of the killed process return after 4 s.
	outage := time.Since(killed) + 4*time.Second
	awaitFlows(t, r, due, outage, outage)
}

// TestI21_ASaturatedFlowDelaysNoOtherTimers compares the lateness of timers without a flow key while a flow is saturated, in every second
// round, with that in the other rounds.
func TestI21_ASaturatedFlowDelaysNoOtherTimers(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *world{
		"cluster":  func(t *testing.T) *world { return startCluster(t, 1, 1, 2).world },
		"embedded": func(t *testing.T) *world { return startOwn(t) },
	} {
		t.Run(name, func(t *testing.T) { compareLateness(t, start(t)) })
	}
}

func compareLateness(t *testing.T, w *world) {
	const (
		rounds, others, saturating = 8, 400, 300
		lasts, every               = 8 * time.Second, 10 * time.Second
	)
	_, err := w.api.UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
		Name: w.namespace, Settings: client.NamespaceSettingsInput{Flows: client.Set([]client.FlowLimit{
			{Pattern: "*", Rate: client.FlowRate{Count: 30, Per: "1s"}, Concurrency: 8},
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	planned, late := map[string]time.Time{}, make([][]time.Duration, 2)
	inFlow := 0
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		at, ok := planned[q.URL.Path]
		if !ok {
			inFlow++
			return
		}
		delete(planned, q.URL.Path)
		var round int
		_, _ = fmt.Sscanf(q.URL.Path, "/other/%d-", &round)
		late[round%2] = append(late[round%2], now.Sub(at))
	}))
	defer r.Close()
	begin := time.Now().Add(15 * time.Second).Truncate(time.Millisecond)
	var group sync.WaitGroup
	create := func(path string, at time.Time, flow string) {
		group.Go(func() {
			_, err := w.api.CreateTimer(t.Context(), client.CreateTimerRequest{
				Namespace: w.namespace, ID: path, ExecuteAt: client.At(at), FlowKey: flow, CallbackURL: r.URL + path,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for round := range rounds {
		from := begin.Add(time.Duration(round) * every)
		for i := range others {
			path, at := fmt.Sprintf("/other/%d-%d", round, i), from.Add(time.Duration(i)*lasts/others)
			mu.Lock()
			planned[path] = at
			mu.Unlock()
			create(path, at, "")
			if round%2 == 1 && i < saturating {
				create(fmt.Sprintf("/flow/%d-%d", round, i), from, fmt.Sprint("k", round))
			}
			if i%16 == 15 {
				group.Wait()
			}
		}
		group.Wait()
	}
	if spent := time.Until(begin); spent < time.Second {
		t.Fatalf("the timers were created %v after the first round began", -spent)
	}
	pause(t.Context(), time.Until(begin.Add(rounds*every)))
	mu.Lock()
	defer mu.Unlock()
	if len(planned) > 0 || inFlow < rounds/2*saturating*8/10 {
		t.Fatalf("%d timers without a flow key were not called, and %d of flows were", len(planned), inFlow)
	}
	var median, ninth [2]time.Duration
	for i, all := range late {
		slices.Sort(all)
		median[i], ninth[i] = all[len(all)/2], all[len(all)*9/10]
	}
	t.Logf("lateness: median %v, nine tenths below %v; beside a saturated flow %v and %v; %d calls of flows", median[0], ninth[0], median[1], ninth[1],
		inFlow)
	// A millisecond is the unit of due times.
	if median[1] > median[0]*11/10+time.Millisecond {
		t.Errorf("the median of the lateness is %v beside a saturated flow, %v without", median[1], median[0])
	}
}

func TestFlowKeysThatNoPatternMatchesAreRefused(t *testing.T) {
	w := startOwn(t)
	create := `{"id":"a","executeIn":"1h","callbackUrl":"http://127.0.0.1:1/","flowKey":"tenant-1"}`
	for _, c := range []struct{ path, body, want string }{
		{"timers/create", create, `namespace \"default\" has no flows`},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","rate":{"count":0,"per":"1s"}}]}}`, "flows[0].rate.count"},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","rate":{"count":1,"per":"10ms"}}]}}`, `\"1s\" to \"24h\"`},
		{
			"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","rate":{"count":2,"per":"1s","burst":3}}]}}`,
			"flows[0].rate.burst",
		},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x"}]}}`, "a rate, a concurrency, or both"},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","concurrency":0}]}}`, "flows[0].concurrency"},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"rate":{"count":2,"per":"1s"}}]}}`, "flows[0].pattern"},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"x","limit":1}]}}`, "limit"},
		{"namespaces/update", `{"name":"default","settings":{"flows":[{"pattern":"tenant-*","concurrency":2}]}}`, ""},
		{"timers/create", `{"id":"b","executeIn":"1h","callbackUrl":"http://127.0.0.1:1/","flowKey":"other"}`, "tenant-*"},
		{"timers/create", create, ""},
		{"timers/update", `{"id":"a","flowKey":"other"}`, "tenant-*"},
		{"timers/update", `{"id":"a","flowKey":""}`, "1 to 255 bytes"},
		{"timers/update", `{"id":"a","flowKey":null}`, ""},
	} {
		wantStatus := http.StatusOK
		if c.want != "" {
			wantStatus = http.StatusBadRequest
		}
		got := w.post(t, c.path, c.body)
		if got.status != wantStatus || c.want != "" && !strings.Contains(got.body, c.want) {
			t.Errorf("%s %s: %d %s, want %d and %q", c.path, c.body, got.status, got.body, wantStatus, c.want)
		}
	}
	if timer := w.reaches(t, "a", func(*client.Timer) bool { return true }); timer.FlowKey != "" {
		t.Errorf("the timer has the flow key %q", timer.FlowKey)
	}
}
