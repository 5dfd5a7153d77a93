package bench

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"time"
)

// Options say what is measured and with what.
type Options struct {
	Target *Target
	// NATS is where the service's bus is reached, such as nats://127.0.0.1:4222; empty: the phase topic
	// is left out unless it is named.
	NATS string
	// Prefix is that of the cluster's topics. Default "timerbus".
	Prefix string
	// Namespace is made if it is missing, with Shards shards. Defaults: "bench", 16.
	Namespace string
	Shards    int
	// Receiver is where a Receiver is told and asked, a base URL; Callback is the same receiver as the
	// service reaches it. Default of Callback: Receiver.
	Receiver, Callback string
	// Local: that receiver runs in this process, so its processor time cannot be told from the
	// generator's.
	Local bool
	// Phases are those to run; empty for all but the seldom ones.
	Phases []string
	Plan   Plan
	// Meter reads the service. Default: Exposition of the Target.
	Meter Meter
	// Keep leaves the timers that are still pending where they are.
	Keep bool
	// Watch is told what goes on; nil: nobody is.
	Watch *Progress
}

// prepare fills in the defaults and checks what is given.
func prepare(o Options) (*run, []phase, error) {
	if o.Target == nil {
		return nil, nil, errors.New("bench: Target is required")
	}
	if o.Prefix == "" {
		o.Prefix = "timerbus"
	}
	if o.Namespace == "" {
		o.Namespace = "bench"
	}
	if o.Shards == 0 {
		o.Shards = 16
	}
	if o.Callback == "" {
		o.Callback = o.Receiver
	}
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
	at, err := newReceiverAt(o.Receiver)
	if err != nil {
		return nil, nil, err
	}
	callback, err := newReceiverAt(o.Callback)
	if err != nil {
		return nil, nil, err
	}
	o.Callback = callback.base.JoinPath(firePath).String()
	return &run{
		Options: o, receiver: at,
		id:      strconv.FormatUint(rand.Uint64()>>28, 36),
		distant: time.Now().Add(30 * 24 * time.Hour),
	}, chosen, nil
}
