package client

import (
	"cmp"
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// MatchingTotal is the total over the pages of a filter that were processed.
type MatchingTotal struct {
	Pages int
	// Matched timers or schedules were selected by the filter. Applied counts the timers that were deleted, rescheduled, armed
	// again, paused, resumed or purged, and Late those of them whose earlier delivery may have gone out; of a pause, also those
	// that were paused before. Skipped timers were not changed: they were deleted or changed meanwhile, or have the state already.
	Matched, Applied, Late, Skipped int
	// Cursor is where to continue: after an error, pass it to the next call.
	Cursor string
	// StartAt is when the next timer of a resume with a rate becomes due: after an error, pass it on with Cursor.
	StartAt Instant
}

func (t *MatchingTotal) add(p *MatchingPage) {
	t.Pages++
	t.Matched += p.Matched
	t.Applied += p.Applied
	t.Late += p.Late
	t.Skipped += p.Skipped
	t.Cursor = p.NextCursor
}

// DeleteMatching deletes the timers on one page of a filter. A page may be sent again: deleted timers no longer match,
// and the second answer counts only the remaining timers.
func (c *Client) DeleteMatching(ctx context.Context, r DeleteMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/delete-matching", true, r)
}

// DeleteAllMatching deletes the timers on all pages of a filter, starting at r.Cursor. progress, if not nil, is called
// after each page. If there is an error, the total counts the pages before it.
func (c *Client) DeleteAllMatching(
	ctx context.Context, r DeleteMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.DeleteMatching(ctx, r)
	})
}

// RescheduleMatching changes the time of the timers on one page of a filter. With ShiftBy, a page is never sent again
// after a broken connection, because it could be shifted twice.
func (c *Client) RescheduleMatching(ctx context.Context, r RescheduleMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/reschedule-matching", repeatable(r.ShiftBy == ""), r)
}

// RescheduleAllMatching is RescheduleMatching over all pages, as DeleteAllMatching. ExecuteIn counts from the request
// of each page.
func (c *Client) RescheduleAllMatching(
	ctx context.Context, r RescheduleMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.RescheduleMatching(ctx, r)
	})
}

// RetryMatching arms the dead or parked timers on one page of a filter again.
func (c *Client) RetryMatching(ctx context.Context, r RetryMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/retry-matching", true, r)
}

// RetryAllMatching is RetryMatching over all pages, as DeleteAllMatching.
func (c *Client) RetryAllMatching(
	ctx context.Context, r RetryMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.RetryMatching(ctx, r)
	})
}

// PauseMatching pauses the timers on one page of a filter. A page may be sent again: paused timers are skipped.
func (c *Client) PauseMatching(ctx context.Context, r PauseMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/pause-matching", true, r)
}

// PauseAllMatching is PauseMatching over all pages, as DeleteAllMatching.
func (c *Client) PauseAllMatching(
	ctx context.Context, r PauseMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.PauseMatching(ctx, r)
	})
}

// ResumeMatching resumes the paused timers on one page of a filter. A page without ResumeRate may be sent again. With ResumeRate, a
// page is never sent again after a broken connection: if it was applied, the same page contains the timers that follow, which
// would get the times of the first ones.
func (c *Client) ResumeMatching(ctx context.Context, r ResumeMatchingRequest) (ResumePage, error) {
	var page ResumePage
	_, err := c.call(ctx, "timers/resume-matching", repeatable(r.ResumeRate == 0), r, &page)
	return page, err
}

// ResumeAllMatching is ResumeMatching over all pages, as DeleteAllMatching. It keeps ResumeRate over all pages: after a broken
// connection it sends the page again with a StartAt that is later by the seconds that the page may have used. An error returns the
// StartAt with which, and with the Cursor of the total, the next call continues.
func (c *Client) ResumeAllMatching(
	ctx context.Context, r ResumeMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	seen := progress
	if progress != nil {
		seen = func(total MatchingTotal) {
			total.StartAt = r.StartAt
			progress(total)
		}
	}
	total, err := walk(r.Cursor, seen, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		p, err := c.resumePage(ctx, &r)
		return MatchingPage{Matched: p.Matched, Applied: p.Applied, Skipped: p.Skipped, NextCursor: p.NextCursor}, err
	})
	total.StartAt = r.StartAt
	return total, err
}

// pageSize is the Limit of a page whose request has none.
const pageSize = 100

// resumePage resumes a page, and sets the StartAt of the next one.
func (c *Client) resumePage(ctx context.Context, r *ResumeMatchingRequest) (ResumePage, error) {
	for try := 1; ; try++ {
		page, err := c.ResumeMatching(ctx, *r)
		switch {
		case err == nil && !page.NextStartAt.IsZero():
			r.StartAt = page.NextStartAt
			return page, nil
		case err == nil, r.ResumeRate == 0, !MayBeApplied(err):
			return page, err
		}
		start := r.StartAt.Time
		if now := time.Now(); start.Before(now) {
			start = now
		}
		r.StartAt = At(start.Add(time.Duration(cmp.Or(r.Limit, pageSize)) * time.Second / time.Duration(r.ResumeRate)))
		if pause, again := c.retry.pause(try, true, err); !again || !timer.Sleep(ctx, pause) {
			return page, err
		}
	}
}

// PurgeMatching removes the dead or done timers on one page of a filter from history. A page may be sent again, as with
// DeleteMatching.
func (c *Client) PurgeMatching(ctx context.Context, r PurgeMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/purge-matching", true, r)
}

// PurgeAllMatching is PurgeMatching over all pages, as DeleteAllMatching. Skipped timers are those whose event is not
// published yet.
func (c *Client) PurgeAllMatching(
	ctx context.Context, r PurgeMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.PurgeMatching(ctx, r)
	})
}

// PauseMatchingSchedules pauses the schedules on one page of a filter. A page may be sent again: paused schedules are skipped.
func (c *Client) PauseMatchingSchedules(ctx context.Context, r PauseMatchingSchedulesRequest) (MatchingPage, error) {
	return c.matching(ctx, "schedules/pause-matching", true, r)
}

// PauseAllMatchingSchedules is PauseMatchingSchedules over all pages, as DeleteAllMatching.
func (c *Client) PauseAllMatchingSchedules(
	ctx context.Context, r PauseMatchingSchedulesRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.PauseMatchingSchedules(ctx, r)
	})
}

// ResumeMatchingSchedules resumes the paused schedules on one page of a filter, or with the status parked starts parked ones again.
// A page may be sent again.
func (c *Client) ResumeMatchingSchedules(ctx context.Context, r ResumeMatchingSchedulesRequest) (MatchingPage, error) {
	return c.matching(ctx, "schedules/resume-matching", true, r)
}

// ResumeAllMatchingSchedules is ResumeMatchingSchedules over all pages, as DeleteAllMatching.
func (c *Client) ResumeAllMatchingSchedules(
	ctx context.Context, r ResumeMatchingSchedulesRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.ResumeMatchingSchedules(ctx, r)
	})
}

// DeleteMatchingSchedules deletes the schedules on one page of a filter. A page may be sent again, as with DeleteMatching.
func (c *Client) DeleteMatchingSchedules(ctx context.Context, r DeleteMatchingSchedulesRequest) (MatchingPage, error) {
	return c.matching(ctx, "schedules/delete-matching", true, r)
}

// DeleteAllMatchingSchedules is DeleteMatchingSchedules over all pages, as DeleteAllMatching.
func (c *Client) DeleteAllMatchingSchedules(
	ctx context.Context, r DeleteMatchingSchedulesRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.DeleteMatchingSchedules(ctx, r)
	})
}

func (c *Client) matching(ctx context.Context, path string, repeat repeatable, request any) (MatchingPage, error) {
	var page MatchingPage
	_, err := c.call(ctx, path, repeat, request, &page)
	return page, err
}

func walk(cursor string, progress func(MatchingTotal), page func(cursor string) (MatchingPage, error)) (MatchingTotal, error) {
	total := MatchingTotal{Cursor: cursor}
	for {
		p, err := page(total.Cursor)
		if err != nil {
			return total, err
		}
		total.add(&p)
		if progress != nil {
			progress(total)
		}
		if p.NextCursor == "" {
			return total, nil
		}
	}
}
