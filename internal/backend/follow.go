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

// FollowOptions configure Follow.
type FollowOptions struct {
	// BusURL is the URL of NATS or Kafka servers (see Options). A memory bus cannot be followed.
	BusURL string
	// Token is the token for a NATS server, used if the URL has no user.
	Token string
	// Prefix of the cluster's topics. Default "timerbus".
	Prefix string
	// Topics to read. They must be public.
	Topics []bus.Topic
	// Since is the publish time of the first message to read; zero: now.
	Since time.Time
	// Logger receives lost connections. Default: none.
	Logger *slog.Logger
}

// Follow reads public topics until ctx ends or each returns an error. It leaves no consumer or offset on the bus. It
// calls each with the messages of a topic in order, one at a time.
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
