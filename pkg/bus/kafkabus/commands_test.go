package kafkabus_test

import (
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
)

const day = "86400000"

// TestCommandsAreKeptForAWeek: the retention of a topic of an earlier release (a day, 1 GiB) is changed, and the
// retention that an operator has set is not.
func TestCommandsAreKeptForAWeek(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made, want map[string]string
		opts       func(*kafkabus.Options)
	}{
		"made by this release":       {nil, map[string]string{"retention.ms": "604800000", "retention.bytes": "-1"}, nil},
		"made by an earlier release": {map[string]string{"retention.ms": day, "retention.bytes": "268435456"}, map[string]string{"retention.ms": "604800000", "retention.bytes": "-1"}, nil},
		"with an operator's age":     {map[string]string{"retention.ms": "1000000", "retention.bytes": "268435456"}, map[string]string{"retention.ms": "1000000", "retention.bytes": "268435456"}, nil},
		"with an operator's size":    {map[string]string{"retention.ms": day, "retention.bytes": "1000000"}, map[string]string{"retention.ms": day, "retention.bytes": "1000000"}, nil},
		"not this process's to make": {map[string]string{"retention.ms": day, "retention.bytes": "268435456"}, map[string]string{"retention.ms": day, "retention.bytes": "268435456"}, func(o *kafkabus.Options) { o.NoCreate = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := fakeOptions(fake(t))
			opts.Partitions = 4
			client, err := kgo.NewClient(kgo.SeedBrokers(opts.Brokers...))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			admin := kadm.NewClient(client)
			topic := opts.Prefix + "." + string(bus.Commands)
			if c.opts != nil {
				if err := connect(t, opts).Close(); err != nil { // creates all topics
					t.Fatal(err)
				}
				c.opts(&opts)
				configure(t, admin, topic, c.made)
			} else if c.made != nil {
				configs := make(map[string]*string)
				for name, value := range c.made {
					configs[name] = &value
				}
				if _, err := admin.CreateTopic(t.Context(), 4, 1, configs, topic); err != nil {
					t.Fatal(err)
				}
			}
			connect(t, opts)
			described, err := admin.DescribeTopicConfigs(t.Context(), topic)
			if err != nil {
				t.Fatal(err)
			}
			found, err := described.On(topic, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for _, config := range found.Configs {
				if _, wanted := c.want[config.Key]; wanted {
					got[config.Key] = config.MaybeValue()
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("the topic has %v, want %v", got, c.want)
			}
		})
	}
}

func configure(t *testing.T, admin *kadm.Client, topic string, to map[string]string) {
	t.Helper()
	var changes []kadm.AlterConfig
	for name, value := range to {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	altered, err := admin.AlterTopicConfigs(t.Context(), changes, topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range altered {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
}
