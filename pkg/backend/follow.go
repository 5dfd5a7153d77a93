package backend

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
)

const acceptedFollowed = "nats://HOST:PORT,…?… or kafka://HOST:PORT,…?…"

// FollowOptions say which topics of which bus to look at.
type FollowOptions struct {
	// BusURL is that of NATS or of Kafka (see Options). What is in another process's memory cannot be followed.
	BusURL string
	// Token is presented to a NATS server, if the URL has no user.
	Token string
	// Prefix of the cluster's topics. Default "timerbus".
	Prefix string
	// Topics are public ones.
	Topics []bus.Topic
	// Since is when to begin; zero: now.
	Since time.Time
	// Logger is told of lost connections. Default: none.
	Logger *slog.Logger
}

// Follow reads public topics as an onlooker until ctx ends or each returns an error, and leaves no trace on
// the bus. each gets the messages of a topic in order, one at a time.
func Follow(ctx context.Context, o FollowOptions, each func(bus.Topic, *bus.Message) error) error {
	const name = "timerbus follow"
	switch scheme, _ := scheme(o.BusURL); scheme {
	case "nats":
		options, err := natsOptions(o.BusURL)
		if err != nil {
			return err
		}
		if options.User == "" && options.Token == "" {
			options.Token = o.Token
		}
		options.Prefix, options.Name, options.Logger = cmp.Or(options.Prefix, o.Prefix), name, o.Logger
		return natsbus.Follow(ctx, options, o.Since, o.Topics, each)
	case "kafka":
		options, err := kafkaOptions(o.BusURL)
		if err != nil {
			return err
		}
		options.Prefix, options.Name, options.Logger = cmp.Or(options.Prefix, o.Prefix), name, o.Logger
		return kafkabus.Follow(ctx, options, o.Since, o.Topics, each)
	default:
		return notAccepted("bus", o.BusURL, acceptedFollowed)
	}
}
