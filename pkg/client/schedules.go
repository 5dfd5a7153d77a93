package client

import (
	"context"
	"iter"
	"net/http"
)

// WrittenSchedule is a schedule after a write.
type WrittenSchedule struct {
	Schedule

	// InTime is false if an occurrence by the earlier state may have been created at the moment of the write.
	InTime bool
}

// CreateSchedule creates a schedule. If the id exists, it replaces that schedule, which starts again with new counts, unless
// OnConflict is ScheduleKeep or ScheduleFail.
func (c *Client) CreateSchedule(ctx context.Context, r CreateScheduleRequest) (WrittenSchedule, error) {
	return c.writeSchedule(ctx, "schedules/create", repeatable(r.OnConflict != ScheduleFail), r)
}

// UpdateSchedule changes the given fields. A Timer replaces the whole template. An *Error with CodeScheduleNotFound means that
// the schedule does not exist or has ended.
func (c *Client) UpdateSchedule(ctx context.Context, r UpdateScheduleRequest) (WrittenSchedule, error) {
	// A second try with PendingDelete would also delete the occurrences that the first one let the schedule create.
	return c.writeSchedule(ctx, "schedules/update", r.IfVersion == 0 && r.Pending != PendingDelete, r)
}

func (c *Client) writeSchedule(ctx context.Context, path string, repeat repeatable, request any) (WrittenSchedule, error) {
	var w WrittenSchedule
	status, err := c.call(ctx, path, repeat, request, &w.Schedule)
	w.InTime = status == http.StatusOK
	return w, err
}

// GetSchedule returns a schedule. A schedule that has ended is returned until its history expires.
func (c *Client) GetSchedule(ctx context.Context, r ScheduleSelection) (Schedule, error) {
	var s Schedule
	_, err := c.call(ctx, "schedules/get", true, r, &s)
	return s, err
}

// DeleteSchedule removes a schedule. If inTime is true, no occurrence follows; if not, one may have been created at the moment
// of the deletion. Occurrences that exist stay, unless Pending is PendingDelete.
func (c *Client) DeleteSchedule(ctx context.Context, r DeleteScheduleRequest) (inTime bool, err error) {
	status, err := c.call(ctx, "schedules/delete", false, r, nil)
	return status == http.StatusNoContent, err
}

// ListSchedules returns one page. It may have fewer schedules than the limit, even none, and still have a NextCursor.
func (c *Client) ListSchedules(ctx context.Context, r ListSchedulesRequest) (SchedulePage, error) {
	var page SchedulePage
	_, err := c.call(ctx, "schedules/list", true, r, &page)
	return page, err
}

// AllSchedules iterates over all pages, starting at r.Cursor. An error ends the iteration.
func (c *Client) AllSchedules(ctx context.Context, r ListSchedulesRequest) iter.Seq2[Schedule, error] {
	return func(yield func(Schedule, error) bool) {
		for {
			page, err := c.ListSchedules(ctx, r)
			if err != nil {
				yield(Schedule{}, err)
				return
			}
			for i := range page.Schedules {
				if !yield(page.Schedules[i], nil) {
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

// PauseSchedule pauses a schedule: it creates no occurrences until it is resumed. Occurrences that exist are delivered. A
// schedule that is paused already is not changed.
func (c *Client) PauseSchedule(ctx context.Context, r PauseScheduleRequest) (WrittenSchedule, error) {
	return c.writeSchedule(ctx, "schedules/pause", true, r)
}

// ResumeSchedule resumes a paused schedule, without the occurrences of the pause. A schedule that is not paused is not changed.
func (c *Client) ResumeSchedule(ctx context.Context, r ScheduleSelection) (Schedule, error) {
	w, err := c.writeSchedule(ctx, "schedules/resume", true, r)
	return w.Schedule, err
}

// TriggerSchedule creates an occurrence at the instant at which the service receives the call, and returns it. It is never
// repeated after a broken connection, because a second call has another instant and creates a second occurrence.
func (c *Client) TriggerSchedule(ctx context.Context, r ScheduleSelection) (Timer, error) {
	var t Timer
	_, err := c.call(ctx, "schedules/trigger", false, r, &t)
	return t, err
}

// BackfillSchedule creates the occurrences of a past time range, at most 1,000 of them. If there are more, the answer has a
// NextFrom; BackfillAll sends the further requests. Occurrences that exist are kept, so a request may be sent again.
func (c *Client) BackfillSchedule(ctx context.Context, r BackfillScheduleRequest) (ScheduleBackfill, error) {
	var b ScheduleBackfill
	_, err := c.call(ctx, "schedules/backfill", true, r, &b)
	return b, err
}

// BackfillTotal is the total over the requests of a BackfillAll.
type BackfillTotal struct {
	Requests int
	// Created occurrences are new, and Kept ones existed. If a request was repeated after a broken connection, Kept contains those
	// that its first try created.
	Created, Kept int
	// NextFrom is where to continue: after an error, pass it to the next call as From. It is zero if the range is complete.
	NextFrom Instant
}

// BackfillAll creates the occurrences of a past time range, with as many requests as are needed. progress, if not nil, is
// called after each. If there is an error, the total counts the requests before it.
func (c *Client) BackfillAll(
	ctx context.Context, r BackfillScheduleRequest, progress func(BackfillTotal),
) (BackfillTotal, error) {
	total := BackfillTotal{NextFrom: r.From}
	for {
		b, err := c.BackfillSchedule(ctx, r)
		if err != nil {
			return total, err
		}
		total.Requests++
		total.Created += b.Created
		total.Kept += b.Kept
		total.NextFrom = b.NextFrom
		if progress != nil {
			progress(total)
		}
		if b.NextFrom.IsZero() {
			return total, nil
		}
		r.From = b.NextFrom
	}
}

// PreviewSchedule computes the next occurrences of a schedule (ID), or of a definition that is not saved (Specs).
func (c *Client) PreviewSchedule(ctx context.Context, r PreviewScheduleRequest) (SchedulePreview, error) {
	var p SchedulePreview
	_, err := c.call(ctx, "schedules/preview", true, r, &p)
	return p, err
}

// ScheduleHistory returns what a schedule has decided, newest first.
func (c *Client) ScheduleHistory(ctx context.Context, r ScheduleHistoryRequest) (ScheduleHistory, error) {
	var h ScheduleHistory
	_, err := c.call(ctx, "schedules/history", true, r, &h)
	return h, err
}
