package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest"
)

// tiny is a plan that takes a second or two.
func tiny() Plan {
	return Plan{
		Connections: 4, BatchConnections: 2, Creates: 40, Large: 20, Commands: 60, Publishing: 10 * time.Second,
		Pending: 200, Million: 350, Tenants: 5, Backlog: 150, Hang: 300 * time.Millisecond, Crowd: 150, SmallRate: 50, SmallSpan: 300 * time.Millisecond, Rate: 200, Span: 500 * time.Millisecond, Beside: 100,
		Margin: 300 * time.Millisecond, Watch: 50 * time.Millisecond, Patience: 20 * time.Second,
	}
}

func newOptions(t *testing.T, url string) Options {
	t.Helper()
	target, err := NewTarget(url, "")
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(NewReceiver())
	t.Cleanup(receiver.Close)
	return Options{Target: target, Receiver: receiver.URL, Plan: tiny()}
}

func byKey(all []Figure) map[string]float64 {
	values := map[string]float64{}
	for _, f := range all {
		values[f.Key] = f.Value
	}
	return values
}

// TestRunMeasuresEverything runs every phase against a real service. No timer remains afterwards.
func TestRunMeasuresEverything(t *testing.T) {
	service := timertest.Start(t, timertest.WithNATS())
	o := newOptions(t, service.URL)
	o.NATS = service.NATSURL
	for _, p := range phases() {
		o.Phases = append(o.Phases, p.name)
	}
	var steps []string
	o.Watch = &Progress{Began: func(s Step) { steps = append(steps, s.Phase) }}
	measured, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	values := byKey(measured)
	if len(values) != len(measured) {
		t.Errorf("%d figures have %d keys", len(measured), len(values))
	}
	for _, key := range []string{
		"create.rate", "create.p50", "create.p99", "topic.rate", "topic.published", "batch.rate", "idle.memory", "million.memory", "tenants.made", "tenants.memory",
		"lateness.p50", "lateness.max", "backlog.rate", "backlog.outcomes", "backlog.memory", "backlog.reads", "hosts.many", "hosts.one", "hosts.ratio", "hosts.many_reads", "hosts.one_reads", "isolation.alone_p99", "isolation.beside_p99", "isolation.ratio", "fairness.alone_p99", "fairness.beside_p99", "busy.p99", "busy.beside_rate", "large.rate",
	} {
		if values[key] <= 0 {
			t.Errorf("%s = %v, want more than 0", key, values[key])
		}
	}
	for _, key := range []string{"lateness.early", "backlog.early", "backlog.duplicates", "hosts.early", "hosts.duplicates", "isolation.early", "isolation.duplicates", "fairness.early", "fairness.duplicates", "busy.early"} {
		if value, ok := values[key]; !ok || value != 0 {
			t.Errorf("%s = %v, %t, want 0", key, value, ok)
		}
	}
	if values["backlog.outcomes"] < 150/values["backlog.rate"]-.001 {
		t.Errorf("outcomes were written after %v s, before all callbacks came at %v/s", values["backlog.outcomes"], values["backlog.rate"])
	}
	for _, p := range phases() {
		if !strings.Contains(strings.Join(steps, " "), p.name) {
			t.Errorf("nobody was told of phase %s", p.name)
		}
	}
	left, err := service.Client.ListTimers(t.Context(), client.ListTimersRequest{Namespace: "bench"})
	if err != nil || len(left.Timers) > 0 {
		t.Errorf("%d timers are left, %v", len(left.Timers), err)
	}
}

// TestTenantsMakesItsTimersInItsNamespaces: timers of earlier phases are in another namespace, so they do not count.
func TestTenantsMakesItsTimersInItsNamespaces(t *testing.T) {
	for _, phases := range [][]string{{"tenants"}, {"create", "large", "tenants"}, {"million", "tenants"}} {
		t.Run(strings.Join(phases, ","), func(t *testing.T) {
			service := timertest.Start(t, timertest.InMemory())
			o := newOptions(t, service.URL)
			o.Phases, o.Keep = phases, true
			measured, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if name := measured[len(measured)-1].Name; name != "idle, 5 namespaces of 16 shards, 350 pending: memory" {
				t.Errorf("the last figure is %q", name)
			}
			namespaces, err := service.Client.ListNamespaces(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tenants := 0
			for _, n := range namespaces {
				count, want := 0, 0
				if strings.HasPrefix(n.Name, "bench-") {
					tenants, want = tenants+1, 70
				}
				for _, err := range service.Client.AllTimers(t.Context(), client.ListTimersRequest{Namespace: n.Name}) {
					if err != nil {
						t.Fatal(err)
					}
					count++
				}
				if count != want {
					t.Errorf("namespace %s has %d timers, want %d", n.Name, count, want)
				}
			}
			if tenants != 5 {
				t.Errorf("%d namespaces were made, want 5", tenants)
			}
		})
	}
}

func TestRunKeepsTimersIfTold(t *testing.T) {
	service := timertest.Start(t, timertest.InMemory())
	o := newOptions(t, service.URL)
	o.Phases, o.Keep, o.Namespace = []string{"create"}, true, "kept"
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	left, err := service.Client.ListTimers(t.Context(), client.ListTimersRequest{Namespace: "kept"})
	if err != nil || len(left.Timers) != 40 {
		t.Errorf("%d timers are left, want 40, %v", len(left.Timers), err)
	}
}

// meddler forwards callbacks to a receiver, altered by meddle.
type meddler struct {
	to      string
	meddle  func(callback []byte) [][]byte
	callers http.Client
}

func (m *meddler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, each := range m.meddle(body) {
		response, err := m.callers.Post(m.to+FirePath, "application/json", bytes.NewReader(each))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		response.Body.Close()
	}
}

// The benchmark reports duplicate, early and lost callbacks.
func TestRunTellsDuplicatesEarlyAndLostCallbacks(t *testing.T) {
	service := timertest.Start(t, timertest.InMemory())
	run := func(t *testing.T, meddle func(callback []byte) [][]byte) (map[string]float64, error) {
		o := newOptions(t, service.URL)
		between := httptest.NewServer(&meddler{to: o.Receiver, meddle: meddle})
		t.Cleanup(between.Close)
		o.Callback, o.Phases = between.URL, []string{"backlog"}
		o.Plan.Pending, o.Plan.Patience = 0, 500*time.Millisecond
		measured, err := Run(t.Context(), o)
		return byKey(measured), err
	}
	t.Run("duplicates", func(t *testing.T) {
		values, err := run(t, func(c []byte) [][]byte { return [][]byte{c, c} })
		if err != nil || values["backlog.duplicates"] != 150 {
			t.Errorf("%v duplicates, want 150, %v", values["backlog.duplicates"], err)
		}
	})
	t.Run("early", func(t *testing.T) {
		values, err := run(t, func(c []byte) [][]byte {
			i := bytes.Index(c, []byte(`"executeAt":"2`)) + len(`"executeAt":"`)
			c[i] = '3' // a thousand years later
			return [][]byte{c}
		})
		if err != nil || values["backlog.early"] != 150 {
			t.Errorf("%v early, want 150, %v", values["backlog.early"], err)
		}
	})
	t.Run("lost", func(t *testing.T) {
		_, err := run(t, func(c []byte) [][]byte {
			if bytes.Contains(c, []byte(`-00000007"`)) {
				return nil
			}
			return [][]byte{c}
		})
		if err == nil || !strings.Contains(err.Error(), "149 of 150") {
			t.Errorf("error %v, want one that tells how many came", err)
		}
	})
}

func TestRunRefuses(t *testing.T) {
	service := timertest.Start(t, timertest.InMemory())
	for name, c := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"unknown phase":     {func(o *Options) { o.Phases = []string{"naps"} }, `"naps"`},
		"topic without bus": {func(o *Options) { o.Phases = []string{"topic"} }, "bus"},
		"no receiver":       {func(o *Options) { o.Receiver = "http://127.0.0.1:1" }, "receiver"},
		"no bus there":      {func(o *Options) { o.Phases, o.NATS = []string{"topic"}, "nats://127.0.0.1:1" }, "nats://127.0.0.1:1"},
		"bad namespace":     {func(o *Options) { o.Namespace = "a/b" }, "INVALID_INPUT"},
		"no process":        {func(o *Options) { o.Meter = Process(1 << 30) }, "process 1073741824"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOptions(t, service.URL)
			c.change(&o)
			if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %s", err, c.want)
			}
		})
	}
}

func TestRunEndsWithItsContextAndCleansUp(t *testing.T) {
	service := timertest.Start(t, timertest.InMemory())
	for phase, step := range map[string]string{"idle": "measure the idle service", "lateness": "wait for the due time"} {
		t.Run(phase, func(t *testing.T) {
			o := newOptions(t, service.URL)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			o.Watch = &Progress{Began: func(s Step) {
				if s.What == step {
					cancel(why)
				}
			}}
			o.Phases, o.Plan.Watch, o.Plan.Margin = []string{phase}, time.Hour, time.Hour
			if _, err := Run(ctx, o); !errors.Is(err, why) {
				t.Errorf("error %v, want the context's cause", err)
			}
			left, err := service.Client.ListTimers(t.Context(), client.ListTimersRequest{Namespace: "bench"})
			if err != nil || len(left.Timers) > 0 {
				t.Errorf("%d timers are left, %v", len(left.Timers), err)
			}
		})
	}
}

func TestPlanCheck(t *testing.T) {
	for _, p := range []Plan{FullPlan(), ShortPlan(), tiny()} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, change := range []func(p *Plan){
		func(p *Plan) { p.Connections = 0 }, func(p *Plan) { p.Creates = -1 }, func(p *Plan) { p.Backlog = maxSet + 1 },
		func(p *Plan) { p.Rate = 0 }, func(p *Plan) { p.Pending = -1 }, func(p *Plan) { p.Watch = 0 }, func(p *Plan) { p.Span = 1000 * time.Hour },
	} {
		p := FullPlan()
		change(&p)
		if p.Check() == nil {
			t.Errorf("accepted %+v", p)
		}
	}
}
