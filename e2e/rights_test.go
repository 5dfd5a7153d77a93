package e2e_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/e2e/internal/natsserver"
)

// violations collects the violations of rights from the log of a NATS server.
type violations struct {
	mu   sync.Mutex
	seen []string
}

func (v *violations) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !strings.Contains(text, "Violation") {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = append(v.seen, text)
}

func (*violations) Noticef(string, ...any) {}
func (*violations) Warnf(string, ...any)   {}
func (*violations) Fatalf(string, ...any)  {}
func (*violations) Debugf(string, ...any)  {}
func (*violations) Tracef(string, ...any)  {}

// take returns the violations since the last call.
func (v *violations) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	seen := v.seen
	v.seen = nil
	return seen
}

// startAuthorized starts a NATS server with deploy/nats/authorization.conf. The password of each user is its name. of returns the
// URL of a user.
func startAuthorized(t *testing.T) (of func(user string) string, log *violations) {
	t.Helper()
	for _, user := range []string{"setup", "ingest", "scheduler", "dispatcher", "application"} {
		t.Setenv("NATS_"+strings.ToUpper(user)+"_PASSWORD", user)
	}
	options, err := server.ProcessConfigFile("../deploy/nats/authorization.conf")
	if err != nil {
		t.Fatal(err)
	}
	log = &violations{}
	at := natsserver.Start(t, options, log)
	return func(user string) string {
		u := *at
		u.User = url.UserPassword(user, user)
		return u.String()
	}, log
}

// createByCommand is a command that creates the timer "by-command", which fires an event.
const createByCommand = `{"specversion":"1.0","id":"1","source":"//test","type":"timerbus.timer.create","datacontenttype":"application/json",
	"data":{"id":"by-command","executeIn":"1s"}}`

// startWithRights prepares store and bus as user setup, starts two processes of each role as the user of the role, and fires a
// timer. storeOf and busOf return the URLs of a user.
func startWithRights(t *testing.T, storeOf, busOf func(user string) string) *cluster {
	t.Helper()
	c := &cluster{store: storeOf("setup"), bus: &messageBus{url: busOf("setup")}}
	c.migrate(t, binary)
	setup := c.launch(t, "ingest", 1)
	c.ready(t)
	if _, err := setup.Stop(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	c.members = nil
	for i, role := range []string{"ingest", "scheduler", "dispatcher", "ingest", "scheduler", "dispatcher"} {
		c.launchOn(t, role, i+2, storeOf(role), busOf(role))
	}
	c.ready(t)
	c.world = &world{Service: c.members[0].Service, namespace: "default"}
	c.connectAPI(t)
	c.create(t, "over-http", time.Second)
	c.calls(t, "over-http", 1)
	return c
}

// afterKills kills a process of each role. The remaining processes take over and fire a timer.
func (c *cluster) afterKills(t *testing.T) {
	t.Helper()
	for _, m := range c.members[:3] {
		if err := m.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	c.world = &world{Service: c.members[3].Service, namespace: c.namespace}
	c.connectAPI(t)
	c.create(t, "after-kill", time.Second)
	c.calls(t, "after-kill", 1)
}

// TestLeastRightsOnNATS: each role works with the rights that deploy/nats/authorization.conf gives it, and has no others.
func TestLeastRightsOnNATS(t *testing.T) {
	of, log := startAuthorized(t)
	owner := chosen().fresh(t)
	c := startWithRights(t, func(string) string { return owner }, of)

	application, err := nats.Connect(of("application"))
	if err != nil {
		t.Fatal(err)
	}
	defer application.Close()
	stream, err := jetstream.New(application)
	if err != nil {
		t.Fatal(err)
	}
	fired, err := stream.OrderedConsumer(within(t, patience), "timerbus-fired", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Publish(within(t, patience), "timerbus.commands", []byte(createByCommand)); err != nil {
		t.Fatal(err)
	}
	if m, err := fired.Next(jetstream.FetchMaxWait(patience)); err != nil || !strings.Contains(string(m.Data()), "by-command") {
		t.Errorf("the fired event: %v", err)
	}
	c.afterKills(t)
	if seen := log.take(); len(seen) > 0 {
		t.Errorf("the server refused:\n%s", strings.Join(seen, "\n"))
	}

	if exit, problems := doctor(t, "--store", c.store, "--bus", of("setup")); exit != 0 {
		t.Errorf("doctor as setup: %d, %+v", exit, problems)
	}
	for user, subjects := range map[string][]string{
		"ingest":      {"timerbus.due.0", "timerbus.fired.0", "$JS.API.STREAM.DELETE.timerbus-commands", "$KV.timerbus-owners.shards.scheduler.0"},
		"scheduler":   {"timerbus.fired.0", "timerbus.commands", "$JS.API.STREAM.PURGE.timerbus-due", "$KV.timerbus-owners.commands.ingest.0"},
		"dispatcher":  {"timerbus.due.0", "timerbus.commands", "$JS.API.STREAM.DELETE.timerbus-due", "$KV.timerbus-members.me"},
		"application": {"timerbus.due.0", "timerbus.fired.0", "timerbus.shards.0", "$JS.API.STREAM.INFO.timerbus-due"},
	} {
		for _, subject := range subjects {
			if err := publishes(of(user), subject); !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s may publish to %s: %v", user, subject, err)
			}
		}
	}
}

// publishes sends a message and returns the server's error.
func publishes(address, subject string) error {
	nc, err := nats.Connect(address, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // instead of printing it
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := nc.Publish(subject, nil); err != nil {
		return err
	}
	if err := nc.Flush(); err != nil {
		return err
	}
	return nc.LastError()
}
