package client

import (
	"context"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// moveTimeout is the service's default timeout of a move of the clock.
	moveTimeout = time.Minute
	// moveAnswer is the time for the answer after the timeout.
	moveAnswer = 10 * time.Second
)

// AdvanceClock moves the test clock of a service forward by a duration. It returns when the clock has reached the target and no
// timer is due. After the timeout of the request, the error has the code CodeClockNotQuiet: then the clock has moved, and
// SetClock with the target of the details continues. If another call is moving the clock, the code is CodeClockBusy. A service
// without a test clock answers CodeNotFound. A try is not repeated after a missing answer, because the clock would move twice.
func (c *Client) AdvanceClock(ctx context.Context, r AdvanceClockRequest) (TestClock, error) {
	var clock TestClock
	_, err := c.patient(r.Timeout).call(ctx, "clock/advance", false, r, &clock)
	return clock, err
}

// SetClock is like AdvanceClock, with a time in place of a duration. The clock does not move back.
func (c *Client) SetClock(ctx context.Context, r SetClockRequest) (TestClock, error) {
	var clock TestClock
	_, err := c.patient(r.Timeout).call(ctx, "clock/set", false, r, &clock)
	return clock, err
}

// Clock reads the test clock of a service.
func (c *Client) Clock(ctx context.Context) (TestClock, error) {
	var clock TestClock
	_, err := c.call(ctx, "clock/get", true, api.GetClockRequest{}, &clock)
	return clock, err
}

// patient returns a client whose timeout of a try, if it has one, is longer than that of a move of the clock. The service
// refuses a timeout that is not a duration.
func (c *Client) patient(timeout string) *Client {
	d, err := timer.ParseDuration(timeout)
	if err != nil {
		d = moveTimeout
	}
	if c.http.Timeout == 0 || c.http.Timeout >= d+moveAnswer {
		return c
	}
	out, transport := *c, http.Client{
		Transport: c.http.Transport, CheckRedirect: c.http.CheckRedirect, Jar: c.http.Jar, Timeout: d + moveAnswer,
	}
	out.http = &transport
	return &out
}
