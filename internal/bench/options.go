package bench

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"
)

// Options configure Run.
type Options struct {
	Target *Target
	// NATS is the URL of the service's bus, such as nats://127.0.0.1:4222. If it is empty, the phase topic is skipped;
	// to name that phase is then an error.
	NATS string
	// Prefix of the cluster's topics. Default "timerbus".
	Prefix string
	// Namespace is created with Shards shards if it does not exist. Defaults: "bench", 16.
	Namespace string
	Shards    int
	// Receiver is the base URL at which this process reaches the Receiver; Callback is the URL at which the service
	// reaches the same receiver. Default of Callback: Receiver.
	Receiver, Callback string
	// Local means that the receiver runs in this process, so that its processor time cannot be separated from the
	// generator's.
	Local bool
	// Phases to run; empty: all except the seldom ones.
	Phases []string
	Plan   Plan
	// Meter reads the usage of the service. Default: Exposition of the Target.
	Meter Meter
	// Keep does not delete the timers that are still pending at the end.
	Keep bool
	// Watch, if not nil, receives the progress.
	Watch *Progress
}

// prepare sets the defaults and validates the options.
func prepare(o Options) (*run, []phase, error) {
	if o.Target == nil {
		return nil, nil, errors.New("bench: Target is required")
	}
	o.Prefix = cmp.Or(o.Prefix, "timerbus")
	o.Namespace = cmp.Or(o.Namespace, "bench")
	o.Shards = cmp.Or(o.Shards, 16)
	o.Callback = cmp.Or(o.Callback, o.Receiver)
	if o.Meter == nil {
		o.Meter = Exposition{o.Target}
	}
	if o.Watch == nil {
		o.Watch = &Progress{}
	}
	chosen, err := choose(o.Phases, o.NATS != "")
	if err != nil {
		return nil, nil, err
	}
	at, err := NewReceiverAt(o.Receiver)
	if err != nil {
		return nil, nil, err
	}
	callback, err := NewReceiverAt(o.Callback)
	if err != nil {
		return nil, nil, err
	}
	o.Callback = callback.base.JoinPath(FirePath).String()
	return &run{
		Options: o, receiver: at,
		id:      strconv.FormatUint(rand.Uint64()>>28, 36),
		distant: time.Now().Add(30 * 24 * time.Hour),
	}, chosen, nil
}
