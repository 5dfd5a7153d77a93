package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

func (o *Options) topic(t bus.Topic) string {
	if name, own := t.OwnName(); own {
		return name
	}
	return o.Prefix + "." + string(t)
}

// groupID returns a group's name on the brokers. It contains the topic, so that groups with the same name on two
// topics do not rebalance each other.
func (o *Options) groupID(t bus.Topic, group string) string {
	if name, own := t.OwnName(); own {
		return o.Prefix + ".own:" + name + ":" + group // topic names contain no colon
	}
	return o.Prefix + "." + string(t) + "." + group
}

// identity distinguishes a topic from a later topic of the same name.
type identity struct {
	id kadm.TopicID
	// epoch is the topic epoch. It orders identities: larger is newer.
	epoch int64
}

// identities caches the identities and partition counts of all topics, by the topic's name on the brokers.
type identities struct {
	mu         sync.Mutex
	of         map[string]identity
	partitions map[string]int
}

func newIdentities() identities {
	return identities{of: make(map[string]identity), partitions: make(map[string]int)}
}

func (i *identities) get(topic string) identity {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.of[topic]
}

func (i *identities) set(topic string, to identity) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.of[topic] = to
}

func (i *identities) drop(topic string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.of, topic)
	delete(i.partitions, topic)
}

func (i *identities) count(topic string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.partitions[topic]
}

// setCount reports whether the topic had another count before.
func (i *identities) setCount(topic string, partitions int) (changed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	changed = i.partitions[topic] != partitions
	i.partitions[topic] = partitions
	return changed
}

// hintMaxAge is how long hints are kept. They are read within milliseconds or not at all, but a reader that looks up
// a position and then reads from it must find it in the log.
const hintMaxAge = 10 * time.Minute

const (
	// segmentsKept is the number of segments per limit. Brokers delete whole segments only, never the active one:
	// with their defaults (1 GiB, 7 days) a partition would exceed its limits many times.
	segmentsKept = 8
	// minSegment is larger than a message of the maximum size.
	minSegment = 2 << 20
	maxSegment = 1 << 30 // the brokers' default, and within their limits
)

// settings returns a topic's configuration, by Kafka's names. A message is kept for the maximum age, and then until
// its segment ends, which is at most an eighth of that age later. A partition never exceeds its share of the maximum
// size, including the active segment; a share is at least 4 MiB.
func (o *Options) settings(t bus.Topic) map[string]string {
	age, size := o.LogMaxAge, o.LogMaxBytes
	switch {
	case t == bus.Commands:
		age = o.CommandsMaxAge
	case t.Kind() == bus.KindHints:
		age = hintMaxAge
	case t.Kind() == bus.KindQueue:
		age, size = o.QueueMaxAge, o.QueueMaxBytes
	}
	if _, own := t.OwnName(); !own {
		size /= int64(o.Partitions)
	}
	segment := min(max(size/segmentsKept, minSegment), maxSegment)
	settings := map[string]string{
		"cleanup.policy":    "delete",
		"max.message.bytes": strconv.Itoa(maxBatch),
		// The time of a Delivery is by the bus's clock, and a publisher's clock must not determine which messages are
		// deleted.
		"message.timestamp.type": "LogAppendTime",
		"retention.ms":           strconv.FormatInt(age.Milliseconds(), 10),
		"segment.ms":             strconv.FormatInt(max(age/segmentsKept, time.Millisecond).Milliseconds(), 10),
		"retention.bytes":        strconv.FormatInt(max(size-segment, minSegment), 10),
		"segment.bytes":          strconv.FormatInt(segment, 10),
		"min.insync.replicas":    strconv.Itoa(min(2, (o.Replicas+1)/2)),
	}
	if t == bus.Commands {
		maps.Copy(settings, o.keptCommands())
	}
	return settings
}

// wanted is a topic with the configuration that it should have.
type wanted struct {
	name       string
	partitions int
	settings   map[string]string
}

func (o *Options) wanted() []wanted {
	all := []wanted{{o.registry(), 1, map[string]string{
		// The registry determines which topic is newer, so none of its records may be deleted.
		"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
		"message.timestamp.type": "LogAppendTime", "min.insync.replicas": strconv.Itoa(min(2, (o.Replicas+1)/2)),
	}}}
	for _, t := range bus.Topics() {
		all = append(all, wanted{o.topic(t), o.Partitions, o.settings(t)})
	}
	return all
}

// ensure creates missing topics, checks existing ones, and waits until the brokers know all of them.
func (b *Bus) ensure(ctx context.Context) error {
	all := b.opts.wanted()
	created := false
	for {
		details, err := b.describe(ctx, all)
		if err != nil {
			return err
		}
		missing, unready, err := judge(all, details)
		switch {
		case err != nil:
			return err
		case len(missing) == 0 && !unready:
			return nil
		case len(missing) > 0 && b.opts.NoCreate:
			var names []string
			for _, w := range missing {
				names = append(names, w.name)
			}
			return fmt.Errorf("topics are missing, and create=false (Options.NoCreate) disables their creation: "+
				"%s (%d partitions each, %s 1)", strings.Join(names, ", "), b.opts.Partitions, b.opts.registry())
		case len(missing) > 0 && !created:
			if err := b.create(ctx, missing); err != nil {
				return err
			}
			created = true
		default: // a broker does not know them yet
		}
		if !timer.Sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("wait for topics to be ready: %w", ctx.Err())
		}
	}
}

func (b *Bus) describe(ctx context.Context, all []wanted) (kadm.TopicDetails, error) {
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = w.name
	}
	details, err := b.admin.ListTopics(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("describe topics: %w", err)
	}
	return details, nil
}

func judge(all []wanted, details kadm.TopicDetails) (missing []wanted, unready bool, err error) {
	for _, w := range all {
		d := details[w.name]
		switch {
		case errors.Is(d.Err, kerr.UnknownTopicOrPartition) || d.Topic == "":
			missing = append(missing, w)
		case errors.Is(d.Err, kerr.LeaderNotAvailable):
			unready = true
		case d.Err != nil:
			return nil, false, fmt.Errorf("topic %s: %w", w.name, d.Err)
		case len(d.Partitions) < w.partitions: // more partitions are no error: see extra.go
			return nil, false, countError(w.name, len(d.Partitions), w.partitions)
		case slices.ContainsFunc(d.Partitions.Sorted(), func(p kadm.PartitionDetail) bool { return p.Leader < 0 }):
			unready = true
		}
	}
	return missing, unready, nil
}

func countError(topic string, has, set int) error {
	return fmt.Errorf("topic %s has %d partitions, this process is set to %d: the count is fixed for the cluster's life", topic, has, set)
}

func (b *Bus) create(ctx context.Context, missing []wanted) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(b.opts.AckTimeout.Milliseconds())
	for _, w := range missing {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = w.name, int32(w.partitions), int16(b.opts.Replicas)
		for name, value := range w.settings {
			c := kmsg.NewCreateTopicsRequestTopicConfig()
			c.Name, c.Value = name, new(value)
			t.Configs = append(t.Configs, c)
		}
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, b.client)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for _, t := range resp.Topics {
		err := kerr.ErrorForCode(t.ErrorCode)
		if err == nil || errors.Is(err, kerr.TopicAlreadyExists) { // another process was faster
			continue
		}
		if t.ErrorMessage != nil {
			err = fmt.Errorf("%w (%s)", err, *t.ErrorMessage)
		}
		return fmt.Errorf("create topic %s with %d replicas: %w", t.Topic, b.opts.Replicas, err)
	}
	return nil
}
