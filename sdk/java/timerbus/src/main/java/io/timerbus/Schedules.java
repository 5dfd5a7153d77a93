package io.timerbus;

import io.timerbus.types.*;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Schedules create timers, their occurrences. */
public final class Schedules {
  private final Calls calls;

  Schedules(Calls calls) {
    this.calls = calls;
  }

  /** Creates a schedule, or replaces the schedule with this id (onConflict KEEP and FAIL do not replace it). */
  public Written<Schedule> create(CreateScheduleRequest request) {
    return calls.written(Schedule::from, "schedules/create", request, !OnConflict.FAIL.equals(request.onConflict()));
  }

  /** Creates a schedule with the fields that a function sets. */
  public Written<Schedule> create(String id, Consumer<CreateScheduleRequest.Builder> set) {
    return create(CreateScheduleRequest.of(b -> set.accept(b.id(id))));
  }

  /** Returns a schedule. A schedule that has ended is returned until its history expires. */
  public Schedule get(ScheduleSelection request) {
    return calls.one(Schedule::from, "schedules/get", request, true);
  }

  /**
   * Changes the given fields; timer replaces the whole template. With ifVersion or pending DELETE it is not repeated after a broken
   * connection.
   */
  public Written<Schedule> update(UpdateScheduleRequest request) {
    boolean repeat = request.ifVersion() == null && !SchedulePending.DELETE.equals(request.pending());
    return calls.written(Schedule::from, "schedules/update", request, repeat);
  }

  /** Changes the fields that a function sets. A field that is set to null goes back to its default. */
  public Written<Schedule> update(String id, Consumer<UpdateScheduleRequest.Builder> set) {
    return update(UpdateScheduleRequest.of(b -> set.accept(b.id(id))));
  }

  /**
   * Deletes a schedule. True means that no occurrence follows; false, that one may have been created at that moment. Occurrences that
   * exist stay, unless pending is DELETE. It is not repeated after a broken connection.
   */
  public boolean delete(DeleteScheduleRequest request) {
    return calls.send("schedules/delete", request, false).status() == 204;
  }

  /** Returns one page of a list. */
  public SchedulePage page(ListSchedulesRequest request) {
    return calls.one(SchedulePage::from, "schedules/list", request, true);
  }

  /** Returns the schedules of all pages, which are requested as the stream is read. */
  public Stream<Schedule> all(ListSchedulesRequest request) {
    return Timers.pages(
        cursor -> SchedulePage.from(calls.send("schedules/list", Calls.with(request, "cursor", cursor), true).json()),
        SchedulePage::schedules,
        SchedulePage::nextCursor);
  }

  /** Pauses a schedule: it creates no occurrences until it is resumed. */
  public Written<Schedule> pause(PauseScheduleRequest request) {
    return calls.written(Schedule::from, "schedules/pause", request, true);
  }

  /** Resumes a paused schedule, without the occurrences of the pause. */
  public Written<Schedule> resume(ScheduleSelection request) {
    return calls.written(Schedule::from, "schedules/resume", request, true);
  }

  /** Creates an occurrence now. It is not repeated after a broken connection, because a second call creates a second occurrence. */
  public Timer trigger(ScheduleSelection request) {
    return calls.one(Timer::from, "schedules/trigger", request, false);
  }

  /** Creates at most 1,000 occurrences of a past time range. */
  public ScheduleBackfill backfillPage(BackfillScheduleRequest request) {
    return calls.one(ScheduleBackfill::from, "schedules/backfill", request, true);
  }

  /** Creates the occurrences of a past time range, with as many requests as are needed. progress is called after each. */
  public BackfillTotal backfill(BackfillScheduleRequest request, Consumer<? super BackfillTotal> progress) {
    BackfillTotal total = new BackfillTotal(0, 0, 0, request.from());
    while (true) {
      ScheduleBackfill part;
      try {
        Instant from = total.nextFrom();
        part = ScheduleBackfill.from(calls.send("schedules/backfill", Calls.with(request, "from", from), true).json());
      } catch (TimerbusException e) {
        e.setProgress(total);
        throw e;
      }
      total = new BackfillTotal(total.requests() + 1, total.created() + part.created(), total.kept() + part.kept(), part.nextFrom());
      progress.accept(total);
      if (part.nextFrom() == null) {
        return total;
      }
    }
  }

  /** Computes the next occurrences of a schedule (id), or of a definition that is not saved (specs). */
  public SchedulePreview preview(PreviewScheduleRequest request) {
    return calls.one(SchedulePreview::from, "schedules/preview", request, true);
  }

  /** Returns what a schedule has decided, newest first. */
  public ScheduleHistory history(ScheduleHistoryRequest request) {
    return calls.one(ScheduleHistory::from, "schedules/history", request, true);
  }

  /** Creates up to 1,000 schedules, and returns a result for each, in order. It is repeated as createMany of timers is. */
  public List<ScheduleBatchItem> createMany(List<CreateScheduleRequest> schedules) {
    boolean repeat = schedules.stream().noneMatch(s -> OnConflict.FAIL.equals(s.onConflict()));
    return calls.batch("schedules/batch-create", "schedules", schedules, repeat, one -> ScheduleBatchItem.of(ScheduleBatchResult.from(one)));
  }

  /** Deletes up to 1,000 schedules, and returns a result for each, in order. It is not repeated after a broken connection. */
  public List<ScheduleBatchItem> deleteMany(List<DeleteScheduleRequest> schedules) {
    return calls.batch("schedules/batch-delete", "schedules", schedules, false, one -> ScheduleBatchItem.of(ScheduleBatchResult.from(one)));
  }

  /** Pauses the schedules on all pages of a filter. */
  public MatchingTotal pauseMatching(PauseMatchingSchedulesRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("schedules/pause-matching", request, true, progress);
  }

  /** Resumes the schedules on all pages of a filter; with the status PARKED, starts parked ones again. */
  public MatchingTotal resumeMatching(ResumeMatchingSchedulesRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("schedules/resume-matching", request, true, progress);
  }

  /** Deletes the schedules on all pages of a filter. */
  public MatchingTotal deleteMatching(DeleteMatchingSchedulesRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("schedules/delete-matching", request, true, progress);
  }
}
