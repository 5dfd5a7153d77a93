package client

import "context"

// MatchingTotal is how far a walk over all pages of a filter has come.
type MatchingTotal struct {
	Pages int
	// Matched timers were selected by the filter. Applied counts those that were deleted, rescheduled or
	// armed again, and Late those of them whose earlier delivery may have gone out. Skipped were gone or
	// changed before they could be written, and no longer match.
	Matched, Applied, Late, Skipped int
	// Cursor is where the walk goes on: after an error, give it to the next one.
	Cursor string
}

func (t *MatchingTotal) add(p *MatchingPage) {
	t.Pages++
	t.Matched += p.Matched
	t.Applied += p.Applied
	t.Late += p.Late
	t.Skipped += p.Skipped
	t.Cursor = p.NextCursor
}

// DeleteMatching deletes the timers on one page of a filter. A page may be sent again: what is gone no
// longer matches, and the second answer counts only what the first one left.
func (c *Client) DeleteMatching(ctx context.Context, r DeleteMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/delete-matching", true, r)
}

// DeleteAllMatching deletes the timers on all pages of a filter from r.Cursor on. progress, if not nil, is
// called after each page. With an error, the total tells what was done before.
func (c *Client) DeleteAllMatching(
	ctx context.Context, r DeleteMatchingRequest, progress func(MatchingTotal),
) (MatchingTotal, error) {
	return walk(r.Cursor, progress, func(cursor string) (MatchingPage, error) {
		r.Cursor = cursor
		return c.DeleteMatching(ctx, r)
	})
}

// RescheduleMatching gives the timers on one page of a filter another time. With ShiftBy a page is never
// sent again after a broken connection: it would be shifted twice.
func (c *Client) RescheduleMatching(ctx context.Context, r RescheduleMatchingRequest) (MatchingPage, error) {
	return c.matching(ctx, "timers/reschedule-matching", repeatable(r.ShiftBy == ""), r)
}

// RescheduleAllMatching is RescheduleMatching over all pages, as DeleteAllMatching. With ExecuteIn each
// page counts from its own request.
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
