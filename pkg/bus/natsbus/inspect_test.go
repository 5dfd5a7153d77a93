package natsbus_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// inspected returns the answer of Inspect by name.
func inspected(t *testing.T, opts natsbus.Options) map[string]bus.TopicState {
	t.Helper()
	before := time.Now()
	found, err := natsbus.Inspect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if found.Clock.Before(before.Add(-time.Second)) && !found.Clock.IsZero() || found.Clock.After(time.Now()) {
		t.Errorf("the server's clock is %v, at %v", found.Clock, before)
	}
	states := map[string]bus.TopicState{}
	for _, s := range found.Topics {
		states[s.Name] = s
	}
	return states
}

func TestInspectChangesNothing(t *testing.T) {
	s := startServer(t, embedded.Options{NoSync: true})
	_, js := raw(t, s)
	opts := natsbus.Options{InProcess: s, Partitions: 4}
	for name, state := range inspected(t, opts) {
		if !state.Missing {
			t.Errorf("on an empty server %s is %+v", name, state)
		}
	}
	if account, err := js.AccountInfo(t.Context()); err != nil || account.Streams != 0 {
		t.Fatalf("Inspect has created streams: %+v, %v", account, err)
	}
	connectTo(t, opts)
	states := inspected(t, opts)
	if len(states) != 7 {
		t.Errorf("%d streams, want 7", len(states))
	}
	for name, state := range states {
		if state.Missing || state.Partitions != 4 || state.Err != nil || len(state.Denied) != 0 {
			t.Errorf("%s is %+v", name, state)
		}
		if state.Topic == "" {
			continue
		}
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if last := stream.CachedInfo().State.LastSeq; last != 0 {
			t.Errorf("Inspect has published %d messages to %s", last, name)
		}
	}
	if err := js.DeleteStream(t.Context(), "timerbus-due"); err != nil {
		t.Fatal(err)
	}
	if state := inspected(t, opts)["timerbus-due"]; !state.Missing {
		t.Errorf("a deleted stream is %+v", state)
	}
}

func TestInspectFindsMissingRights(t *testing.T) {
	url := ownServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "p"},
			{Username: "few", Password: "p", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{
					Deny: []string{"timerbus.due.>", "timerbus.dead.>", "$JS.API.STREAM.INFO.timerbus-fired"},
				},
			}},
			{Username: "none", Password: "p", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.>"}}}},
		}
	})
	connectTo(t, natsbus.Options{URL: url, User: "all", Password: "p"})
	began := time.Now()
	states := inspected(t, natsbus.Options{URL: url, User: "few", Password: "p"})
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v: a refusal is not noticed before the timeout", took)
	}
	for name, want := range map[string]string{
		"timerbus-due": "publish to timerbus.due.0", "timerbus-dead": "publish to timerbus.dead.0",
		"timerbus-fired": "read the state of the stream", "timerbus-commands": "", "timerbus-results": "", "KV_timerbus-owners": "",
	} {
		if got := strings.Join(states[name].Denied, ";"); got != want || states[name].Err != nil {
			t.Errorf("%s: denied %q, want %q: %+v", name, got, want, states[name])
		}
	}
	if _, err := natsbus.Inspect(t.Context(), natsbus.Options{URL: url, User: "none", Password: "p"}); err == nil || !strings.Contains(err.Error(), "$JS.API.>") {
		t.Errorf("without rights on JetStream: %v", err)
	}
}

func TestInspectWithoutAServer(t *testing.T) {
	for name, c := range map[string]struct {
		opts natsbus.Options
		want string
		is   error
	}{
		"nobody there": {natsbus.Options{URL: "nats://127.0.0.1:1"}, "connect to NATS at nats://127.0.0.1:1", bus.ErrUnavailable},
		"no JetStream": {natsbus.Options{URL: ownServer(t, func(o *server.Options) { o.JetStream = false })}, "is it enabled", nil},
		"wrong password": {
			natsbus.Options{URL: ownServer(t, func(o *server.Options) { o.Username, o.Password = "me", "right" }), User: "me", Password: "wrong"},
			"Authorization Violation", nats.ErrAuthorization,
		},
		"options": {natsbus.Options{Prefix: "a.b"}, `prefix "a.b"`, nil},
	} {
		_, err := natsbus.Inspect(t.Context(), c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
