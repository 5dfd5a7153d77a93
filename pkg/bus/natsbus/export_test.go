package natsbus

import "time"

// Times are the intervals that tests shorten; the fields are described at times. Zero keeps the default.
type Times struct {
	AckWait, TrimEvery, TrimAgain, LookEvery, SharedExpires, OwnExpires time.Duration
}

// With returns the options with other intervals.
func (t Times) With(o Options) Options {
	o.times = times{
		ackWait: t.AckWait, trimEvery: t.TrimEvery, trimAgain: t.TrimAgain, lookEvery: t.LookEvery,
		sharedExpires: t.SharedExpires, ownExpires: t.OwnExpires,
	}
	return o
}
