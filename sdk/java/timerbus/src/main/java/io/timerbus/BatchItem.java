package io.timerbus;

import io.timerbus.types.BatchResult;
import io.timerbus.types.Error;
import java.time.Instant;

/**
 * The result of one item of a batch.
 *
 * @param namespace the timer's namespace
 * @param id the timer's id
 * @param generation of the timer that was created, replaced, kept or deleted
 * @param dueAt null after a deletion
 * @param kept true if onConflict was "keep" and the id existed, so that nothing was written
 * @param inTime false if the timer's earlier delivery may have been sent before the write
 * @param error why the item was refused; null if it was applied
 */
public record BatchItem(
    String namespace, String id, String generation, Instant dueAt, boolean kept, boolean inTime, ServiceException error) {

  static BatchItem of(BatchResult r) {
    if (r.status() < 300) {
      boolean kept = Boolean.TRUE.equals(r.kept());
      return new BatchItem(r.namespace(), r.id(), r.generation(), r.dueAt(), kept, r.status() != 202, null);
    }
    return new BatchItem(null, null, null, null, false, false, refusal(r.status(), r.error()));
  }

  /** Returns the error that a call with this item alone would have thrown. */
  static ServiceException refusal(long status, Error error) {
    return error == null
        ? new ServiceException((int) status, "", "the item has no message", null, null)
        : new ServiceException((int) status, error.error().value(), error.message(), error.details(), null);
  }
}
