package io.timerbus;

import io.timerbus.types.ScheduleBatchResult;
import java.time.Instant;

/**
 * The result of one item of a batch of schedules.
 *
 * @param namespace the schedule's namespace
 * @param id the schedule's id
 * @param version of the schedule that was created, kept or deleted; null if the item was refused
 * @param nextAt the instant of the next occurrence; null after a deletion
 * @param kept true if onConflict was "keep" and the id existed, so that nothing was written
 * @param inTime false if an occurrence by the earlier state may have been created at the moment of the write
 * @param error why the item was refused; null if it was applied
 */
public record ScheduleBatchItem(
    String namespace, String id, Long version, Instant nextAt, boolean kept, boolean inTime, ServiceException error) {

  static ScheduleBatchItem of(ScheduleBatchResult r) {
    if (r.status() < 300) {
      boolean kept = Boolean.TRUE.equals(r.kept());
      return new ScheduleBatchItem(r.namespace(), r.id(), r.version(), r.nextAt(), kept, r.status() != 202, null);
    }
    return new ScheduleBatchItem(null, null, null, null, false, false, BatchItem.refusal(r.status(), r.error()));
  }
}
