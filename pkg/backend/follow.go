package backend

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
)

const acceptedFollowed = "nats://HOST:PORT"

// FollowOptions say which topics of which bus to look at.
type FollowOptions struct {
	// BusURL is nats://[USER[:PASSWORD]@]HOST:PORT. What is in another process's memory cannot be followed.
	BusURL string
	// Token is presented to a bus that asks for one.
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
	u, err := url.Parse(o.BusURL)
	if err != nil || u.Scheme != "nats" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
		return notAccepted("bus", o.BusURL, acceptedFollowed)
	}
	return natsbus.Follow(ctx, natsbus.Options{
		URL: o.BusURL, Token: o.Token, Prefix: o.Prefix, Name: "timerbus follow", Logger: o.Logger,
	}, o.Since, o.Topics, each)
}
