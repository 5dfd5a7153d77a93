package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// kafkaUsers are the users of deploy/kafka/acls.sh on a broker of testenv, with the rights that the script gives them.
type kafkaUsers struct{ brokers, password, prefix string }

func startKafkaUsers(t *testing.T) *kafkaUsers {
	t.Helper()
	b := needBus(t, "kafka")
	_, sasl, found := strings.Cut(os.Getenv("TIMERBUS_TEST_KAFKA_SASL"), "@")
	if !found {
		t.Skip("TIMERBUS_TEST_KAFKA_SASL is not set: the brokers were not started by testenv")
	}
	u := &kafkaUsers{brokers: sasl, password: "password-" + b.prefix, prefix: b.prefix}
	acls := rightsOf(t, u.prefix)
	err := withAdmin(strings.Split(os.Getenv("TIMERBUS_TEST_KAFKA"), ","), func(admin *kadm.Client) error {
		for _, user := range []string{"setup", "ingest", "scheduler", "dispatcher", "application"} {
			altered, err := admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{
				{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: u.password},
			})
			if err == nil {
				err = altered.Error()
			}
			if err != nil {
				return err
			}
		}
		for _, acl := range acls {
			results, err := admin.CreateACLs(t.Context(), acl)
			for _, r := range results {
				err = errors.Join(err, r.Err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := withAdmin(strings.Split(os.Getenv("TIMERBUS_TEST_KAFKA"), ","), func(admin *kadm.Client) error {
			for _, acl := range acls {
				if _, err := admin.DeleteACLs(context.WithoutCancel(t.Context()), acl); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	// A broker refuses a new user until it has learned of it.
	for ctx := within(t, patience); ; pause(ctx, 50*time.Millisecond) {
		client := u.client(t, "application")
		err := client.Ping(ctx)
		client.Close()
		if err == nil {
			return u
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// rightsOf runs deploy/kafka/acls.sh with a program instead of kafka-acls.sh that writes its arguments into a file.
func rightsOf(t *testing.T, prefix string) []*kadm.ACLBuilder {
	t.Helper()
	calls := filepath.Join(t.TempDir(), "calls")
	program := filepath.Join(t.TempDir(), "kafka-acls.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >>"+calls+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "../deploy/kafka/acls.sh", prefix)
	command.Env = append(command.Environ(), "KAFKA_ACLS="+program)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("acls.sh: %v\n%s", err, out)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	var acls []*kadm.ACLBuilder
	for line := range strings.Lines(string(text)) {
		acl := kadm.NewACLs().AllowHosts("*")
		args := strings.Fields(line)
		if args[0] != "--add" || len(args)%2 == 0 {
			t.Fatalf("acls.sh called kafka-acls.sh %s", line)
		}
		var operations []kadm.ACLOperation
		var topics, groups []string
		for i := 1; i < len(args); i += 2 {
			switch value := args[i+1]; args[i] {
			case "--allow-principal":
				acl.Allow(value)
			case "--resource-pattern-type":
				pattern, err := kmsg.ParseACLResourcePatternType(value)
				if err != nil {
					t.Fatal(err)
				}
				acl.ResourcePatternType(pattern)
			case "--operation":
				operation, err := kmsg.ParseACLOperation(value)
				if err != nil {
					t.Fatal(err)
				}
				operations = append(operations, operation)
			case "--topic":
				topics = append(topics, value)
			case "--group":
				groups = append(groups, value)
			default:
				t.Fatalf("acls.sh called kafka-acls.sh %s", line)
			}
		}
		if len(topics) > 0 {
			acl.Topics(topics...)
		}
		if len(groups) > 0 {
			acl.Groups(groups...)
		}
		acls = append(acls, acl.Operations(operations...))
	}
	return acls
}

// url returns the bus URL of a user. Only setup creates topics.
func (u *kafkaUsers) url(user string) string {
	at := url.URL{
		Scheme: "kafka", User: url.UserPassword(user, u.password), Host: u.brokers,
		RawQuery: fmt.Sprintf("sasl=SCRAM-SHA-256&prefix=%s&create=%t", u.prefix, user == "setup"),
	}
	return at.String()
}

func (u *kafkaUsers) client(t *testing.T, user string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(u.brokers),
		kgo.SASL(scram.Auth{User: user, Pass: u.password}.AsSha256Mechanism()))...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// writes publishes to a topic and returns the broker's error.
func (u *kafkaUsers) writes(t *testing.T, user, topic string, body []byte) error {
	t.Helper()
	client := u.client(t, user)
	defer client.Close()
	return client.ProduceSync(within(t, patience), &kgo.Record{Topic: u.prefix + "." + topic, Key: []byte("0"), Value: body}).FirstErr()
}

// reads consumes a topic until a message contains text, and returns the broker's error.
func (u *kafkaUsers) reads(t *testing.T, user, topic, text string) error {
	t.Helper()
	client := u.client(t, user, kgo.ConsumeTopics(u.prefix+"."+topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer client.Close()
	for ctx := within(t, patience); ; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		found := false
		fetches.EachRecord(func(r *kgo.Record) { found = found || strings.Contains(string(r.Value), text) })
		if found {
			return nil
		}
	}
}

// TestLeastRightsOnKafka: each role works with the rights that deploy/kafka/acls.sh gives it, and has no others. Rights on the
// cluster, such as that to delete topics, are not tested: testenv's brokers give them to every user.
func TestLeastRightsOnKafka(t *testing.T) {
	u := startKafkaUsers(t)
	owner := chosen().fresh(t)
	c := startWithRights(t, func(string) string { return owner }, u.url)
	if err := u.writes(t, "application", "commands", []byte(createByCommand)); err != nil {
		t.Fatal(err)
	}
	if err := u.reads(t, "application", "fired", "by-command"); err != nil {
		t.Errorf("the fired event: %v", err)
	}
	c.afterKills(t)
	if exit, problems := doctor(t, "--store", c.store, "--bus", u.url("setup")); exit != 0 {
		t.Errorf("doctor as setup: %d, %+v", exit, problems)
	}
	for user, topics := range map[string]struct{ writes, reads []string }{
		"ingest":      {[]string{"commands", "due", "fired", "incarnations"}, []string{"due", "shards"}},
		"scheduler":   {[]string{"commands", "shards", "fired", "results", "incarnations"}, []string{"commands", "due"}},
		"dispatcher":  {[]string{"commands", "due", "incarnations"}, []string{"commands", "shards"}},
		"application": {[]string{"due", "shards", "fired", "results", "dead"}, []string{"commands", "due", "shards"}},
	} {
		for _, topic := range topics.writes {
			if err := u.writes(t, user, topic, nil); !errors.Is(err, kerr.TopicAuthorizationFailed) {
				t.Errorf("%s may publish to %s: %v", user, topic, err)
			}
		}
		for _, topic := range topics.reads {
			if err := u.reads(t, user, topic, ""); !errors.Is(err, kerr.TopicAuthorizationFailed) {
				t.Errorf("%s may read %s: %v", user, topic, err)
			}
		}
	}
}
