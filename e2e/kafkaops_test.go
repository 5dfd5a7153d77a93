package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// asUser changes the bus's URL to one with a user's rights, and returns functions that remove a right and restore it.
func (b *messageBus) asUser(t *testing.T) (deny, restore func(operation kadm.ACLOperation, resource *kadm.ACLBuilder)) {
	t.Helper()
	credentials, sasl, found := strings.Cut(os.Getenv("TIMERBUS_TEST_KAFKA_SASL"), "@")
	if !found {
		t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
	}
	_, password, _ := strings.Cut(credentials, ":")
	plain := strings.Split(os.Getenv("TIMERBUS_TEST_KAFKA"), ",")
	user := "user-" + b.prefix
	do := func(what string, call func(*kadm.Client) error) {
		t.Helper()
		if err := withAdmin(plain, call); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	do("make a user", func(admin *kadm.Client) error {
		altered, err := admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{
			{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password},
		})
		if err != nil {
			return err
		}
		return altered.Error()
	})
	b.url = fmt.Sprintf("kafka://%s:%s@%s?prefix=%s", user, password, sasl, b.prefix)
	deny = func(operation kadm.ACLOperation, resource *kadm.ACLBuilder) {
		t.Helper()
		// If a resource has an ACL, everything that is not allowed by one is denied.
		others, ours := *resource, *resource
		for _, acl := range []*kadm.ACLBuilder{
			others.Allow("User:*").AllowHosts("*").Operations(kadm.OpAll),
			ours.Deny("User:" + user).DenyHosts("*").Operations(operation),
		} {
			do("deny", func(admin *kadm.Client) error {
				_, err := admin.CreateACLs(t.Context(), acl.ResourcePatternType(kadm.ACLPatternLiteral))
				return err
			})
		}
	}
	restore = func(operation kadm.ACLOperation, resource *kadm.ACLBuilder) {
		t.Helper()
		acl := resource.Deny("User:" + user).DenyHosts("*").Operations(operation).ResourcePatternType(kadm.ACLPatternLiteral)
		do("restore", func(admin *kadm.Client) error {
			_, err := admin.DeleteACLs(t.Context(), acl)
			return err
		})
	}
	return deny, restore
}

// TestReadinessFollowsRights: a dispatcher without the right to read the due events, or to be in their group, is not
// ready, logs the reason in a few lines, and delivers as soon as it gets the right. The other roles stay ready.
func TestReadinessFollowsRights(t *testing.T) {
	b := needBus(t, "kafka")
	deny, restore := b.asUser(t)
	c := startClusterOn(t, b, 1, 1, 0)
	red := func(m *member) {
		t.Helper()
		for ctx := within(t, patience); ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
			got := (&world{Service: m.Service}).do(t, http.MethodGet, "/readyz", "")
			if reasons, _ := got.field(t, "reasons").([]any); got.status != http.StatusOK &&
				slices.Contains(reasons, any("due events are not consumed")) {
				return
			}
		}
		t.Fatalf("%s does not report that due events are not consumed", m.name)
	}
	topic := func() *kadm.ACLBuilder { return kadm.NewACLs().Topics(b.prefix + ".due") }
	group := func() *kadm.ACLBuilder { return kadm.NewACLs().Groups(b.prefix + ".due.dispatchers") }

	deny(kadm.OpRead, topic())
	dispatcher := c.launch(t, "dispatcher", 1)
	launched := time.Now()
	c.create(t, "late", 0)
	listening(t, dispatcher)
	red(dispatcher)
	for ; time.Since(launched) < 10*time.Second; pause(t.Context(), 100*time.Millisecond) {
		if got := (&world{Service: dispatcher.Service}).do(t, http.MethodGet, "/readyz", ""); got.status == http.StatusOK {
			t.Fatalf("ready %v after its start, and delivers no timer", time.Since(launched))
		}
	}
	if n := strings.Count(dispatcher.Log(), "\n"); n > 30 {
		t.Errorf("%d lines in 10 s, want 30 at most:\n%s", n, dispatcher.Log())
	}
	restore(kadm.OpRead, topic())
	if err := dispatcher.Ready(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	c.calls(t, "late", 1)

	deny(kadm.OpRead, group())
	red(dispatcher)
	for _, m := range c.members[:2] {
		if got := (&world{Service: m.Service}).do(t, http.MethodGet, "/readyz", ""); got.status != http.StatusOK {
			t.Errorf("%s is not ready: %s", m.name, got.body)
		}
	}
	restore(kadm.OpRead, group())
	if err := dispatcher.Ready(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	c.create(t, "after", 0)
	c.calls(t, "after", 1)
}

// listening waits until a launched process accepts connections.
func listening(t *testing.T, m *member) {
	t.Helper()
	for ctx := within(t, patience); ; pause(ctx, 20*time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Listen)
		if err == nil {
			_ = conn.Close()
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestPartitionsAreAdded adds partitions to every topic with Kafka's tool, as an operator would. Nothing stops, timers
// fire in time, commands in the added partitions are applied, and processes start.
func TestPartitionsAreAdded(t *testing.T) {
	t.Parallel()
	b := needBus(t, "kafka")
	c := startClusterOn(t, b, 1, 1, 1)
	outside := consoleOf(t, b)
	outside.run(t, "", "org.apache.kafka.tools.TopicCommand", "--alter", "--partitions", "32",
		"--topic", b.prefix+`\.(commands|shards|due|fired|results|dead|incarnations)`)
	// The tool chooses partitions by key: about half of the commands are in the added ones.
	const commands = 40
	var lines strings.Builder
	for i := range commands {
		fmt.Fprintf(&lines, "ce_specversion:1.0,ce_id:c-%d,ce_source:console,ce_type:timerbus.timer.create,content-type:application/json\t"+
			"default/added-%d\t{\"id\":\"added-%d\",\"executeIn\":\"0s\",\"callbackUrl\":%q}\n", i, i, i, c.receiver.URL)
	}
	outside.run(t, lines.String(), "org.apache.kafka.tools.ConsoleProducer", "--topic", b.prefix+".commands",
		"--reader-property", "parse.headers=true", "--reader-property", "parse.key=true")
	// The members join their groups again. Hints that are lost then make timers of idle shards up to 34 s late.
	late := within(t, 2*patience)
	for i := range commands {
		if _, err := c.receiver.Await(late, c.namespace, fmt.Sprint("added-", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	c.create(t, "http", 2*time.Second)
	c.calls(t, "http", 1)
	for _, m := range c.members {
		if !m.Running() {
			t.Errorf("%s has ended", m.name)
		}
	}
	c.launch(t, "ingest", 2)
	c.launch(t, "scheduler", 2)
	c.launch(t, "dispatcher", 2)
	for _, m := range c.members {
		if err := m.Ready(within(t, patience)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	c.create(t, "more members", time.Second)
	c.calls(t, "more members", 1)
	if log := c.member("ingest-2").Log(); !strings.Contains(log, "partitions were added to the topic of commands") || !strings.Contains(log, "action") {
		t.Errorf("the log contains no advice:\n%s", log)
	}
	if log := c.member("dispatcher-2").Log(); !strings.Contains(log, "the added ones are not used") {
		t.Errorf("the log does not warn:\n%s", log)
	}
}
