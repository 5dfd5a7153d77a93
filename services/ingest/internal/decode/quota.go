package decode

import (
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// quotaFields are the quotas in a body. null removes one of them, or all.
type quotaFields struct {
	null                      bool
	pending, creates, payload optional[int]
}

var quotaNames = []string{"maxPending", "createsPerSecond", "maxPayloadBytes"}

func (f *quotaFields) read(v value) error {
	if f.null = v.isNull(); f.null {
		return nil
	}
	return v.object("quota", quotaNames, func(name string, v value) (err error) {
		bounded := func(limit int, want string) func(string, value) (int, error) {
			return func(field string, v value) (int, error) { return v.integer(field, 1, limit, want) }
		}
		switch field := "quota." + name; name {
		case "maxPending":
			f.pending, err = maybe(field, v, bounded(store.MaxPendingQuota, "1 to 1000000000, or null"))
		case "createsPerSecond":
			f.creates, err = maybe(field, v, bounded(store.MaxCreateQuota, "1 to 1000000, or null"))
		case "maxPayloadBytes":
			f.payload, err = maybe(field, v, bounded(timer.MaxPayload, "1 to 102400, or null"))
		}
		return err
	})
}

func (f *quotaFields) apply(q store.Quota) store.Quota {
	if f.null {
		return store.Quota{}
	}
	if n := f.pending.to(0); n != nil {
		q.MaxPending = *n
	}
	if n := f.creates.to(0); n != nil {
		q.CreatesPerSecond = *n
	}
	if n := f.payload.to(0); n != nil {
		q.MaxPayload = *n
	}
	return q
}
