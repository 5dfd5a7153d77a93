package client

import (
	"context"
	"iter"
	"net/http"
)

// Written is a timer after a write.
type Written struct {
	Timer

	// InTime is false if the timer's earlier delivery may have gone out before the write.
	InTime bool
}

// CreateTimer creates a timer. If the id is taken, it replaces that timer, unless OnConflict is set otherwise.
func (c *Client) CreateTimer(ctx context.Context, r CreateTimerRequest) (Written, error) {
	return c.write(ctx, "timers/create", repeatable(r.OnConflict != Fail), r)
}

// UpdateTimer changes the given fields. An *Error with CodeTimerNotFound means that the timer does not exist or is
// finished.
func (c *Client) UpdateTimer(ctx context.Context, r UpdateTimerRequest) (Written, error) {
	return c.write(ctx, "timers/update", repeatable(r.IfGeneration == ""), r)
}

func (c *Client) write(ctx context.Context, path string, repeat repeatable, request any) (Written, error) {
	var w Written
	status, err := c.call(ctx, path, repeat, request, &w.Timer)
	w.InTime = status == http.StatusOK
	return w, err
}

// GetTimer returns a timer. Finished timers are returned until their history expires.
func (c *Client) GetTimer(ctx context.Context, r TimerSelection) (Timer, error) {
	var t Timer
	_, err := c.call(ctx, "timers/get", true, r, &t)
	return t, err
}

// DeleteTimer removes a timer. If inTime is true, its delivery never follows; if not, the delivery may have gone out
// before.
func (c *Client) DeleteTimer(ctx context.Context, r DeleteTimerRequest) (inTime bool, err error) {
	status, err := c.call(ctx, "timers/delete", false, r, nil)
	return status == http.StatusNoContent, err
}

// ListTimers returns one page.
func (c *Client) ListTimers(ctx context.Context, r ListTimersRequest) (TimerPage, error) {
	var page TimerPage
	_, err := c.call(ctx, "timers/list", true, r, &page)
	return page, err
}

// AllTimers iterates over all pages, starting at r.Cursor. An error ends the iteration.
func (c *Client) AllTimers(ctx context.Context, r ListTimersRequest) iter.Seq2[Timer, error] {
	return func(yield func(Timer, error) bool) {
		for {
			page, err := c.ListTimers(ctx, r)
			if err != nil {
				yield(Timer{}, err)
				return
			}
			for i := range page.Timers {
				if !yield(page.Timers[i], nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
			r.Cursor = page.NextCursor
		}
	}
}

// CountTimers counts timers. If the answer is truncated, there are at least as many.
func (c *Client) CountTimers(ctx context.Context, r CountTimersRequest) (TimerCount, error) {
	var count TimerCount
	_, err := c.call(ctx, "timers/count", true, r, &count)
	return count, err
}

// ForecastTimers counts the timers that become due, for each bucket of a time range. If the answer is truncated, its counts
// are complete for timers that are due before CompleteBefore.
func (c *Client) ForecastTimers(ctx context.Context, r ForecastTimersRequest) (TimerForecast, error) {
	var forecast TimerForecast
	_, err := c.call(ctx, "timers/forecast", true, r, &forecast)
	return forecast, err
}

// TimerHistory returns a timer's attempts, newest first.
func (c *Client) TimerHistory(ctx context.Context, r HistoryRequest) (History, error) {
	var h History
	_, err := c.call(ctx, "timers/history", true, r, &h)
	return h, err
}

// RunTimerNow makes a live timer due immediately, as a new generation. Its errors are those of UpdateTimer.
func (c *Client) RunTimerNow(ctx context.Context, r RunTimerRequest) (Written, error) {
	return c.write(ctx, "timers/run-now", false, r)
}

// PauseTimer pauses a timer: it is not delivered until it is resumed. A timer that is paused already is not changed. An *Error
// with CodeTimerExists means that the timer is parked.
func (c *Client) PauseTimer(ctx context.Context, r PauseTimerRequest) (Written, error) {
	return c.write(ctx, "timers/pause", true, r)
}

// ResumeTimer resumes a paused timer. A timer that is not paused is not changed.
func (c *Client) ResumeTimer(ctx context.Context, r ResumeTimerRequest) (Written, error) {
	return c.write(ctx, "timers/resume", true, r)
}

// RetryTimer arms a dead or parked timer again, or a done one whose payload the namespace has kept, as a new generation. An
// *Error with CodeTimerExists means that the timer is scheduled or retrying, one with CodeTimerNotFound that it is done without its
// payload, or unknown.
func (c *Client) RetryTimer(ctx context.Context, r RetryTimerRequest) (Timer, error) {
	var t Timer
	_, err := c.call(ctx, "timers/retry", false, r, &t)
	return t, err
}
