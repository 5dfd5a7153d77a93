package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestBusThatCannotBeUsed: if the bus cannot be used, the service prints one line with the bus and the reason. The same
// command works as soon as the bus does.
func TestBusThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	kafka := needBus(t, "kafka")
	_, sasl, _ := strings.Cut(os.Getenv("TIMERBUS_TEST_KAFKA_SASL"), "@")
	token := ownNATS(t, "sesame").url
	wrong := strings.Replace(token, "nats://", "nats://hunter2@", 1)
	at := func(t *testing.T, bus string, more ...string) *harness.Service {
		t.Helper()
		return newService(t, t.TempDir(), harness.WithArgs(append([]string{"--bus", bus}, more...)...))
	}
	for name, c := range map[string]struct {
		bus  string
		says []string
	}{
		"nats, no server":   {"nats://127.0.0.1:1", []string{"connect to NATS at nats://127.0.0.1:1", "no servers"}},
		"nats, no token":    {token, []string{"connect to NATS at " + token, "Authorization Violation"}},
		"nats, wrong token": {wrong, []string{"connect to NATS at " + token, "Authorization Violation"}},
		"kafka, no server":  {"kafka://127.0.0.1:1", []string{"connect to Kafka at 127.0.0.1:1", "refused"}},
		"kafka, no user":    {"kafka://" + sasl, []string{"connect to Kafka at " + sasl, "SASL"}},
		"kafka, wrong password": {
			"kafka://timerbus:hunter2@" + sasl + "?sasl=PLAIN", []string{"connect to Kafka at " + sasl, "SASL_AUTHENTICATION_FAILED"},
		},
		"kafka, no topics": {kafka.url + "&create=false", []string{"topics are missing", kafka.prefix + ".commands", kafka.prefix + ".incarnations 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.bus, "@") && sasl == "" && strings.HasPrefix(name, "kafka") || name == "kafka, no user" && sasl == "" {
				t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
			}
			s := at(t, c.bus)
			want := 1
			if strings.Contains(name, "no server") || name == "kafka, no user" { // such a broker closes the connection
				want = 6
			}
			endsWith(t, s, want, c.says...)
			if strings.Contains(s.Log(), "hunter2") {
				t.Errorf("the log contains the secret:\n%s", s.Log())
			}
		})
	}
	for _, bus := range lone {
		t.Run("another count on "+bus, func(t *testing.T) {
			t.Parallel()
			b := needBus(t, bus)
			first := at(t, b.url, "--partitions", "4")
			if err := first.Start(within(t, patience)); err != nil {
				t.Fatal(err)
			}
			if code, err := first.Stop(within(t, patience)); err != nil || code != 0 {
				t.Fatalf("stopped with %d, %v", code, err)
			}
			refusesToStart(t, at(t, b.url), "partitions", "is set to 16", "4", b.prefix, "fixed for the cluster's life")
		})
	}
}

// TestBusGoesAndComesBack: without their only bus server, schedulers and dispatchers are not ready. Ingest is ready,
// lists the bus as degraded, and still accepts creates. When the bus is back, everything works again, and timers
// created during the outage fire.
func TestBusGoesAndComesBack(t *testing.T) {
	if !controllable() {
		t.Skip("the servers were not started by testenv: they are left alone")
	}
	onEachBus(t, lone, func(t *testing.T, name string) {
		c := startClusterOn(t, needBus(t, name), 1, 1, 1)
		testserver.Control(t, "kill/"+name)
		gone := time.Now()
		for _, m := range c.members {
			of := &world{Service: m.Service}
			for deadline := time.Now().Add(patience); ; pause(t.Context(), 50*time.Millisecond) {
				got := of.do(t, http.MethodGet, "/readyz", "")
				if isIngest(m) {
					if got.status != http.StatusOK {
						t.Fatalf("%s is not ready, and could store timers: %s", m.name, got.body)
					}
					if strings.Contains(got.body, `"degraded":[`) && strings.Contains(got.body, `"the bus does not answer"`) {
						break
					}
				} else if got.status == http.StatusServiceUnavailable {
					if reasons, _ := got.field(t, "reasons").([]any); !slices.Contains(reasons, any("the bus does not answer")) {
						t.Errorf("%s: not ready because of %v", m.name, reasons)
					}
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s does not report that there is no bus: %s", m.name, got.body)
				}
			}
		}
		red := time.Since(gone)
		c.create(t, "meanwhile", 0)
		testserver.Control(t, "start/"+name)
		back := time.Now()
		for _, m := range c.members {
			if err := m.Ready(within(t, patience)); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		ready := time.Since(back)
		c.calls(t, "meanwhile", 1)
		fired := time.Since(back)
		c.create(t, "after", 0)
		c.calls(t, "after", 1)
		t.Logf("all not ready %.1f s after the kill; ready %.1f s, and the timers created during the outage fired %.1f s after the server was back",
			red.Seconds(), ready.Seconds(), fired.Seconds())
		for _, m := range c.members {
			message := `"not ready"`
			if isIngest(m) {
				message = `"degraded"`
			}
			if n := strings.Count(m.Log(), message); n == 0 || n > 5 {
				t.Errorf("%s logs %s %d times, want once for each reason", m.name, message, n)
			}
			if n := strings.Count(m.Log(), `"kafka client`); n > 4 {
				t.Errorf("%s has %d lines of Kafka's client library, want 4 at most", m.name, n)
			}
			if n := strings.Count(m.Log(), ` failing, retrying"`); n == 0 || n > 8 {
				t.Errorf("%s has %d lines about a failing component, want one for each", m.name, n)
			}
			if strings.Contains(m.Log(), "outbound buffer") {
				t.Errorf("%s speaks of a buffer, and there is no connection", m.name)
			}
		}
	})
}

func isIngest(m *member) bool { return strings.HasPrefix(m.name, "ingest") }

// TestRolesWaitForTheirBus: a role that is started before its bus prints one line with the dependency that it waits
// for, is not ready, and starts when the bus does.
func TestRolesWaitForTheirBus(t *testing.T) {
	if !controllable() {
		t.Skip("the servers were not started by testenv: they are left alone")
	}
	onEachBus(t, lone, func(t *testing.T, name string) {
		b := needBus(t, name)
		c := startClusterOn(t, b, 1, 1, 1)
		testserver.Control(t, "kill/"+name)
		started := false
		defer func() {
			if !started {
				testserver.Control(t, "start/"+name)
			}
		}()
		late := c.launch(t, "scheduler", 2)
		of := &world{Service: late.Service}
		for deadline := time.Now().Add(patience); !strings.Contains(late.Log(), "not started yet"); pause(t.Context(), 20*time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the service logs nothing")
			}
		}
		if got := of.do(t, http.MethodGet, "/readyz", ""); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "the bus does not answer") {
			t.Errorf("/readyz answers %d %s", got.status, got.body)
		}
		if got := of.do(t, http.MethodGet, "/healthz", ""); got.status != http.StatusOK {
			t.Errorf("/healthz answers %d %s", got.status, got.body)
		}
		pause(t.Context(), time.Second) // it has tried again
		if n := strings.Count(late.Log(), "not started yet"); n != 1 {
			t.Errorf("%d log lines name the awaited part", n)
		}
		testserver.Control(t, "start/"+name)
		started = true
		back := time.Now()
		if err := late.Ready(within(t, patience)); err != nil {
			t.Fatal(err)
		}
		t.Logf("ready %.1f s after its bus", time.Since(back).Seconds())
		c.heldBy(t, back, "scheduler-1", "scheduler-2")
	})
}

// TestFiredEventTooLargeForTheBus: if an operator's topic has a smaller limit than the service's topic, the timer ends
// with that reason, and other timers are not affected.
func TestFiredEventTooLargeForTheBus(t *testing.T) {
	const limit = 4096
	onEachBus(t, lone, func(t *testing.T, name string) {
		c := startClusterOn(t, needBus(t, name), 1, 1, 1)
		if err := c.bus.limitFired(within(t, patience), limit); err != nil {
			t.Fatal(err)
		}
		event := func(payload string) func(*client.CreateTimerRequest) {
			return func(r *client.CreateTimerRequest) {
				r.CallbackURL, r.Deliver, r.Payload = "", client.DeliverEvent, fmt.Appendf(nil, "%q", payload)
			}
		}
		var noise strings.Builder // must not compress
		for i := 0; noise.Len() < 2*limit; i++ {
			fmt.Fprintf(&noise, "%x", i*i*2654435761)
		}
		c.create(t, "large", 0, event(noise.String()))
		c.create(t, "small", 0, event("x"))
		c.reaches(t, "small", isStatus("done"))
		dead := c.reaches(t, "large", isStatus("dead"))
		if !strings.Contains(dead.LastError, "too large") {
			t.Errorf("the timer died with %q", dead.LastError)
		}
		t.Log(dead.LastError)
	})
}

// limitFired sets the bus's maximum size of fired events.
func (b *messageBus) limitFired(ctx context.Context, limit int) error {
	if brokers, ok := strings.CutPrefix(b.url, "kafka://"); ok {
		address, _, _ := strings.Cut(brokers, "?")
		return withAdmin(strings.Split(address, ","), func(admin *kadm.Client) error {
			value := fmt.Sprint(limit)
			changed, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &value}}, b.prefix+".fired")
			if err == nil {
				_, err = changed.On(b.prefix+".fired", nil)
			}
			return err
		})
	}
	server, _, _ := strings.Cut(b.url, "?")
	return withJetStream(server, func(js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, b.prefix+"-fired")
		if err != nil {
			return err
		}
		config := stream.CachedInfo().Config
		config.MaxMsgSize = int32(limit)
		_, err = js.UpdateStream(ctx, config)
		return err
	})
}
