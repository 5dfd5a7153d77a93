package watermillbus

import (
	"fmt"
	"strings"

	"github.com/timerbus/timerbus/pkg/bus"
)

// DefaultPrefix is the default prefix of a cluster.
const DefaultPrefix = "timerbus"

// The public topics of a cluster with the default prefix. Programs publish to Commands and subscribe to the others.
const (
	Commands = DefaultPrefix + "." + string(bus.Commands)
	Fired    = DefaultPrefix + "." + string(bus.Fired)
	Results  = DefaultPrefix + "." + string(bus.Results)
	Dead     = DefaultPrefix + "." + string(bus.Dead)
)

// topicOf returns the topic for a Watermill topic name: a name that begins with the cluster's prefix and a dot is a
// public topic, and any other name is a user topic.
func topicOf(prefix, name string) (bus.Topic, error) {
	public, ours := strings.CutPrefix(name, prefix+".")
	if !ours {
		return bus.Own(name), nil
	}
	switch topic := bus.Topic(public); topic {
	case bus.Commands, bus.Fired, bus.Results, bus.Dead:
		return topic, nil
	case bus.Due, bus.Shards:
		return "", fmt.Errorf("topic %q: %w: it is internal", name, bus.ErrUnsupported)
	default:
		return "", fmt.Errorf("topic %q: %w: the public topics with prefix %q are commands, fired, results and dead",
			name, bus.ErrUnsupported, prefix+".")
	}
}
