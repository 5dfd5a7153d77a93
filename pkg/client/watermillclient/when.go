package watermillclient

import (
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/components/delay"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/timer"
)

// when returns the time of a delayed message. Watermill writes two forms: a time, truncated to the second, and a
// duration that counts from when it was written, which may be long ago. The present plus the duration is never too
// early, and is exact if the message is published immediately. The time limits the result to the second that was meant.
func when(m *message.Message, now timer.Millis) (at timer.Millis, delayed bool, err error) {
	until, hasUntil := m.Metadata[delay.DelayedUntilKey]
	wait, hasWait := m.Metadata[delay.DelayedForKey]
	if hasWait {
		d, err := timer.ParseDuration(wait)
		if err != nil {
			return 0, false, fmt.Errorf("metadata %s: %q is not a duration such as 1m30s", delay.DelayedForKey, wait)
		}
		at = now.Add(d) + 1 // now is truncated to the millisecond
	}
	if hasUntil {
		t, err := time.Parse(time.RFC3339, until)
		if err != nil {
			return 0, false, fmt.Errorf("metadata %s: %q is not a time such as 2030-01-31T09:00:00Z", delay.DelayedUntilKey, until)
		}
		from := timer.FromTime(t)
		if !hasWait {
			return from, true, nil
		}
		at = min(max(at, from), from.Add(time.Second))
	}
	return at, hasUntil || hasWait, nil
}
