package kafkabus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

func inspected(t *testing.T, opts kafkabus.Options) map[string]bus.TopicState {
	t.Helper()
	found, err := kafkabus.Inspect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]bus.TopicState{}
	for _, s := range found.Topics {
		states[strings.TrimPrefix(s.Name, opts.Prefix+".")] = s
	}
	if len(states) != 10 || !found.MorePartitions {
		t.Errorf("found %+v, want 7 topics and 3 groups", found)
	}
	return states
}

func testInspect(t *testing.T, opts kafkabus.Options) {
	t.Helper()
	for name, state := range inspected(t, opts) {
		if isTopic := strings.Count(name, ".") == 0; state.Missing != isTopic || state.Err != nil {
			t.Errorf("before the first start %s is %+v", name, state)
		}
	}
	for name, state := range inspected(t, opts) {
		if isTopic := strings.Count(name, ".") == 0; state.Missing != isTopic {
			t.Errorf("the inspection has created %s: %+v", name, state)
		}
	}
	connect(t, opts)
	for name, state := range inspected(t, opts) {
		if state.Missing || state.Err != nil || len(state.Denied) != 0 || state.Topic != "" && state.Partitions != 1 {
			t.Errorf("%s is %+v", name, state)
		}
	}
}

func TestInspectChangesNothing(t *testing.T) { testInspect(t, fakeOptions(fake(t))) }

func TestInspectRealBrokers(t *testing.T) {
	admin := brokers(t, "kafka")
	opts := kafkabus.Options{Brokers: admin, Prefix: prefix(), Partitions: 1}
	remove(t, admin, opts.Prefix)
	testInspect(t, opts)
}

func TestInspectFindsMissingRights(t *testing.T) {
	acl := func(resource kmsg.ACLResourceType, name string, op kmsg.ACLOperation) kfake.ACL {
		return kfake.ACL{Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
	}
	acls := []kfake.ACL{
		acl(kmsg.ACLResourceTypeTopic, "t.fired", kmsg.ACLOperationRead),
		acl(kmsg.ACLResourceTypeTopic, "t.due", kmsg.ACLOperationAll),
		acl(kmsg.ACLResourceTypeGroup, "t.due.dispatchers", kmsg.ACLOperationRead),
	}
	cluster := fake(t, kfake.EnableACLs(), kfake.EnableSASL(), kfake.Superuser("PLAIN", "root", "p"), kfake.User("PLAIN", "few", "p", acls...))
	opts := fakeOptions(cluster)
	opts.Prefix = "t"
	opts.SASL = kafkabus.Credentials{Mechanism: "PLAIN", User: "root", Password: "p"}
	connect(t, opts)
	opts.SASL.User = "few"
	states := inspected(t, opts)
	for name, want := range map[string]string{ // the fake broker does not report the operations on a group
		"fired": "WRITE", "due": "", "dead": "DESCRIBE,READ,WRITE",
		"due.dispatchers": "", "shards.schedulers": "DESCRIBE,READ",
	} {
		if got := strings.Join(states[name].Denied, ","); got != want || states[name].Err != nil {
			t.Errorf("%s: denied %q, want %q: %+v", name, got, want, states[name])
		}
	}
}

func TestInspectFindsAddedPartitions(t *testing.T) {
	cluster := fake(t)
	opts := fakeOptions(cluster)
	connect(t, opts)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := kadm.NewClient(client).CreatePartitions(t.Context(), 2, opts.Prefix+".fired"); err != nil {
		t.Fatal(err)
	}
	if state := inspected(t, opts)["fired"]; state.Partitions != 3 {
		t.Errorf("with two more partitions: %+v", state)
	}
}

func TestInspectWithoutABroker(t *testing.T) {
	_, err := kafkabus.Inspect(t.Context(), kafkabus.Options{Brokers: []string{"127.0.0.1:1"}})
	if !errors.Is(err, bus.ErrUnavailable) || !strings.Contains(err.Error(), "connect to Kafka at 127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
	if _, err := kafkabus.Inspect(t.Context(), kafkabus.Options{Prefix: "a.b"}); err == nil {
		t.Error("the prefix is not checked")
	}
}
