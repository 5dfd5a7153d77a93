package io.timerbus;

import io.timerbus.types.MatchingPage;
import java.time.Instant;

/**
 * The total of the pages of a filter.
 *
 * @param pages the number of pages
 * @param matched timers or schedules that the filter selected
 * @param applied those that were changed
 * @param late those of them whose earlier delivery may have been sent
 * @param skipped those that were not changed: they were deleted or changed meanwhile, or have the state already
 * @param cursor where to continue: after an error, pass it to the next call. "" if all pages are processed
 * @param startAt when the next timer of a resume with a rate becomes due: after an error, pass it on with the cursor
 */
public record MatchingTotal(long pages, long matched, long applied, long late, long skipped, String cursor, Instant startAt) {
  static MatchingTotal from(String cursor, Instant startAt) {
    return new MatchingTotal(0, 0, 0, 0, 0, cursor == null ? "" : cursor, startAt);
  }

  MatchingTotal startingAt(Instant start) {
    return new MatchingTotal(pages, matched, applied, late, skipped, cursor, start);
  }

  MatchingTotal plus(MatchingPage page) {
    String cursor = page.nextCursor() == null ? "" : page.nextCursor();
    return new MatchingTotal(
        pages + 1, matched + page.matched(), applied + page.applied(), late + page.late(), skipped + page.skipped(), cursor, startAt);
  }
}
