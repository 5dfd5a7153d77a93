package io.timerbus;

import java.time.Instant;

/**
 * The total of the requests of a backfill.
 *
 * @param requests the number of requests
 * @param created occurrences that are new
 * @param kept occurrences that existed, also those of the first try of a request that was repeated
 * @param nextFrom where to continue: after an error, pass it to the next call as from. null if the range is complete
 */
public record BackfillTotal(long requests, long created, long kept, Instant nextFrom) {}
