package kafkabus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/enginetest"
	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// rights are the permissions of a user of a Kafka with ACLs.
type rights struct {
	user  string
	admin *kadm.Client
}

// deny removes one permission on a topic or group, and keeps all others.
func (r *rights) deny(t *testing.T, operation kadm.ACLOperation, resource func(*kadm.ACLBuilder) *kadm.ACLBuilder) {
	t.Helper()
	for _, acl := range []*kadm.ACLBuilder{
		resource(kadm.NewACLs()).Allow("User:*").AllowHosts("*").Operations(kadm.OpAll),
		resource(kadm.NewACLs()).Deny("User:" + r.user).DenyHosts("*").Operations(operation),
	} {
		made, err := r.admin.CreateACLs(t.Context(), acl.ResourcePatternType(kadm.ACLPatternLiteral))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made {
			if m.Err != nil {
				t.Fatal(m.Err)
			}
		}
		r.await(t, acl, 1)
	}
}

// await waits until the broker that serves the user has n such ACLs. Brokers apply changes some time after the
// controller has accepted them.
func (r *rights) await(t *testing.T, acl *kadm.ACLBuilder, n int) {
	t.Helper()
	retry(t, "describe ACLs", func(ctx context.Context) error {
		described, err := r.admin.DescribeACLs(ctx, acl)
		switch {
		case err != nil:
			return err
		case len(described) != 1 || described[0].Err != nil:
			return fmt.Errorf("described %+v", described)
		case len(described[0].Described) != n:
			return fmt.Errorf("the broker has %d of %d ACLs", len(described[0].Described), n)
		default:
			return nil
		}
	})
}

func (r *rights) restore(t *testing.T, operation kadm.ACLOperation, resource func(*kadm.ACLBuilder) *kadm.ACLBuilder) {
	t.Helper()
	acl := resource(kadm.NewACLs()).Deny("User:" + r.user).DenyHosts("*").Operations(operation)
	gone, err := r.admin.DeleteACLs(t.Context(), acl.ResourcePatternType(kadm.ACLPatternLiteral))
	if err != nil || len(gone) != 1 || len(gone[0].Deleted) != 1 {
		t.Fatalf("restore: %v, %+v", err, gone)
	}
	r.await(t, acl, 0)
}

// onBrokersWithACLs runs a test as a user with all permissions, which the test removes.
func onBrokersWithACLs(t *testing.T, run func(t *testing.T, opts kafkabus.Options, r *rights)) {
	t.Helper()
	all := func(resource kmsg.ACLResourceType, name string) kfake.ACL {
		return kfake.ACL{
			Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationAll, Allow: true,
		}
	}
	t.Run("fake", func(t *testing.T) {
		const user = "service"
		cluster := fake(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", "root"),
			kfake.User("PLAIN", user, "secret", all(kmsg.ACLResourceTypeTopic, "*"), all(kmsg.ACLResourceTypeGroup, "*"),
				all(kmsg.ACLResourceTypeCluster, "kafka-cluster")))
		opts := fakeOptions(cluster)
		opts.SASL = kafkabus.Credentials{Mechanism: "PLAIN", User: "root", Password: "root"}
		root := connect(t, opts)
		opts.SASL = kafkabus.Credentials{Mechanism: "PLAIN", User: user, Password: "secret"}
		run(t, opts, &rights{user: user, admin: kafkabus.Admin(root)})
	})
	t.Run("kafka", func(t *testing.T) {
		plain := brokers(t, "kafka")
		credentials, address, found := strings.Cut(os.Getenv("TIMERBUS_TEST_KAFKA_SASL"), "@")
		if !found {
			t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
		}
		_, password, _ := strings.Cut(credentials, ":")
		opts := kafkabus.Options{Brokers: []string{address}, Prefix: prefix(), Partitions: 1, Logger: testserver.Log()}
		remove(t, plain, opts.Prefix)
		r := &rights{user: "user-" + opts.Prefix, admin: realAdmin(t, plain)}
		opts.SASL = scramUser(t, r.admin, address, r.user, password)
		run(t, opts, r)
	})
}

// opened counts sessions.
func opened(t *testing.T, b *kafkabus.Bus, spec bus.Spec) (into enginetest.Inbox, sessions *atomic.Int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	into, sessions = make(enginetest.Inbox, 1024), new(atomic.Int64)
	ended := make(chan error, 1)
	go func() {
		ended <- b.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) {
			sessions.Add(1)
			return into, nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("consume ended with %v", err)
		}
	})
	return into, sessions
}

func awaitReady(t *testing.T, b *kafkabus.Bus, spec bus.Spec) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := b.Ready(spec.Topic, spec.Group)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not ready: %v", err)
		}
	}
}

func awaitNotReady(t *testing.T, b *kafkabus.Bus, spec bus.Spec, cause error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := b.Ready(spec.Topic, spec.Group)
		if errors.Is(err, cause) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("ready says %v, want %v", err, cause)
		}
	}
}

// TestNotReadyWithoutRights: without READ on the topic or the group nothing is delivered. The Consume is never ready,
// its attempts back off, and the log has one line. Once the permission is granted, it delivers without a restart.
func TestNotReadyWithoutRights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec     bus.Spec
		resource func(o *kafkabus.Options, acl *kadm.ACLBuilder) *kadm.ACLBuilder
		cause    *kerr.Error
	}{
		"topic of a queue": {queue, func(o *kafkabus.Options, acl *kadm.ACLBuilder) *kadm.ACLBuilder {
			return acl.Topics(o.Prefix + ".due")
		}, kerr.TopicAuthorizationFailed},
		"topic of commands": {ordered, func(o *kafkabus.Options, acl *kadm.ACLBuilder) *kadm.ACLBuilder {
			return acl.Topics(o.Prefix + ".commands")
		}, kerr.TopicAuthorizationFailed},
		"topic of hints": {live, func(o *kafkabus.Options, acl *kadm.ACLBuilder) *kadm.ACLBuilder {
			return acl.Topics(o.Prefix + ".shards")
		}, kerr.TopicAuthorizationFailed},
		"group": {queue, func(o *kafkabus.Options, acl *kadm.ACLBuilder) *kadm.ACLBuilder {
			return acl.Groups(o.Prefix + ".due.g")
		}, kerr.GroupAuthorizationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBrokersWithACLs(t, func(t *testing.T, opts kafkabus.Options, r *rights) {
				log := &outagetest.Log{}
				opts.Logger, opts.Partitions = log.Logger(), 4
				resource := func(acl *kadm.ACLBuilder) *kadm.ACLBuilder { return c.resource(&opts, acl) }
				if opts.SASL.User == "service" { // the fake broker's topics were created with one partition
					opts.Partitions = 1
				}
				b := connect(t, opts)
				r.deny(t, kadm.OpRead, resource)
				into, sessions := opened(t, b, c.spec)
				awaitNotReady(t, b, c.spec, c.cause)
				// It remains not ready: a session that opens and fails does not count as working.
				for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if err := b.Ready(c.spec.Topic, c.spec.Group); !errors.Is(err, c.cause) {
						t.Fatalf("ready says %v, want %v", err, c.cause)
					}
				}
				if n := sessions.Load(); n > int64(8*opts.Partitions) {
					t.Errorf("%d sessions were opened within 5 s in %d partitions", n, opts.Partitions)
				}
				if lines := log.Lines("component=kafkabus"); len(lines) > 4 || len(log.Lines("consumer failing", c.cause.Message)) != 1 {
					t.Errorf("%d lines within 5 s:\n%s", len(lines), strings.Join(lines, ""))
				}
				r.restore(t, kadm.OpRead, resource)
				awaitReady(t, b, c.spec)
				log.Await(t, "consumer recovered", "topic="+string(c.spec.Topic), "failures=")
				publish(t, b, c.spec.Topic, "1")
				into.Next(t).Ack()
			})
		})
	}
}

// failures returns timerbus_kafka_commit_failures_total, summed over all topics.
func failures(t *testing.T, b *kafkabus.Bus) (n float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(b)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "timerbus_kafka_commit_failures_total" {
			for _, m := range f.GetMetric() {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// TestRefusedCommitsAreKnown: refused commits cause a warning, increment a metric, and make the Consume not ready.
func TestRefusedCommitsAreKnown(t *testing.T) {
	cluster := fake(t)
	log := &outagetest.Log{}
	o := fakeOptions(cluster)
	o.Logger = log.Logger()
	b := connect(t, o)
	publish(t, b, bus.Commands, "1", "2", "3")
	c := consume(t, b, ordered)
	c.Next(t).Ack()
	awaitReady(t, b, ordered)
	refused := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	c.Next(t).Ack()
	awaitNotReady(t, b, ordered, kerr.TopicAuthorizationFailed)
	if err := refused.Wait(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	log.Await(t, "level=WARN", "consumer failing", "part=commits", "TOPIC_AUTHORIZATION_FAILED")
	if n := failures(t, b); n < 4 {
		t.Errorf("timerbus_kafka_commit_failures_total is %v after 5 refusals", n)
	}
	refused.Remove()
	awaitReady(t, b, ordered)
	if n := len(log.Lines("level=WARN")); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, strings.Join(log.Lines("level=WARN"), ""))
	}
	// During a rebalance commits are refused as well, which is no failure.
	before := failures(t, b)
	moving := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RebalanceInProgress, Count: 3})
	c.Next(t).Ack()
	if err := moving.Wait(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if after := failures(t, b); after != before {
		t.Errorf("timerbus_kafka_commit_failures_total grew from %v to %v in a rebalance", before, after)
	}
	if err := b.Ready(ordered.Topic, ordered.Group); err != nil {
		t.Errorf("in a rebalance: %v", err)
	}
}

// TestAnOutageIsAFewLines makes all brokers unreachable, for all 48 partitions of a process that runs every service.
func TestAnOutageIsAFewLines(t *testing.T) {
	t.Parallel()
	l := testserver.NewLine()
	t.Cleanup(l.Close)
	log := &outagetest.Log{}
	o := fakeOptions(fake(t))
	o.Logger, o.Partitions = log.Logger(), 16
	o.Client = append(o.Client, kgo.Dialer(l.Dial))
	b := connect(t, o)
	all := []bus.Spec{ordered, live, queue}
	for _, spec := range all {
		opened(t, b, spec)
		awaitReady(t, b, spec)
	}
	l.Kill()
	for _, spec := range all {
		awaitNotReady(t, b, spec, bus.ErrUnavailable)
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, _ = b.Publish(ctx, bus.Due, bus.Message{Body: []byte("x")}) // fails; the caller gets the error
		cancel()
	}
	l.Revive()
	for _, spec := range all {
		awaitReady(t, b, spec)
		log.Await(t, "consumer recovered", "topic="+string(spec.Topic))
		if n := len(log.Lines("consumer failing", "topic="+string(spec.Topic))); n != 1 {
			t.Errorf("%d lines say that the consumer of %s fails, want one", n, spec.Topic)
		}
	}
	if n := len(log.Lines("kafka client failing")); n != 1 {
		t.Errorf("%d lines say that the client fails, want one", n)
	}
	if lines := log.Lines("component=kafkabus"); len(lines) > 8 {
		t.Errorf("the outage took %d lines:\n%s", len(lines), strings.Join(lines, ""))
	}
}

// TestHiddenRegistry: if the brokers do not report whether the registry of another cluster exists, a topic with the
// name of a cluster topic is a user topic.
func TestHiddenRegistry(t *testing.T) {
	onBrokersWithACLs(t, func(t *testing.T, opts kafkabus.Options, r *rights) {
		b := connect(t, opts)
		name := opts.Prefix + "-own.fired"
		spec := ownTopic(t, b, name)
		r.deny(t, kadm.OpDescribe, func(acl *kadm.ACLBuilder) *kadm.ACLBuilder { return acl.Topics(opts.Prefix + "-own.incarnations") })
		again := connect(t, opts)
		publish(t, again, spec.Topic, "1")
		consume(t, again, spec).Next(t).Ack()
	})
}
