package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/timerbus/timerbus/pkg/bus"
)

// keptCommands is the retention of the topic of commands: no maximum size, and an age longer than any outage of
// ingest that operators would accept.
func (o *Options) keptCommands() map[string]string {
	return map[string]string{
		"retention.ms":    strconv.FormatInt(o.CommandsMaxAge.Milliseconds(), 10),
		"retention.bytes": "-1",
	}
}

// earlierCommands is the retention that earlier releases gave the topic.
func (o *Options) earlierCommands() map[string]string {
	return map[string]string{
		"retention.ms":    strconv.FormatInt((24 * time.Hour).Milliseconds(), 10),
		"retention.bytes": strconv.FormatInt(max(1<<30/int64(o.Partitions), 1<<20), 10),
	}
}

// keepCommands changes the retention of a topic of commands that an earlier release created. A topic with other
// values was changed by an operator and is left unchanged.
func (b *Bus) keepCommands(ctx context.Context) error {
	topic := b.opts.topic(bus.Commands)
	described, err := b.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return fmt.Errorf("describe topic %s: %w", topic, err)
	}
	found, err := described.On(topic, nil)
	if err == nil {
		err = found.Err
	}
	if err != nil {
		return fmt.Errorf("describe topic %s: %w", topic, err)
	}
	has := make(map[string]string)
	for _, c := range found.Configs {
		has[c.Key] = c.MaybeValue()
	}
	for name, value := range b.opts.earlierCommands() {
		if has[name] != value {
			return nil
		}
	}
	if b.opts.NoCreate {
		return errors.New("disabled by create=false (Options.NoCreate)")
	}
	var changes []kadm.AlterConfig
	for name, value := range b.opts.keptCommands() {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	altered, err := b.admin.AlterTopicConfigs(ctx, changes, topic)
	if err == nil {
		_, err = altered.On(topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		return fmt.Errorf("configure topic %s: %w", topic, err)
	}
	b.log.Info("retention of the topic of commands changed", "topic", topic, "from", b.opts.earlierCommands(), "to", b.opts.keptCommands())
	return nil
}
