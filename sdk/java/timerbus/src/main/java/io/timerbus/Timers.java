package io.timerbus;

import com.fasterxml.jackson.databind.JsonNode;
import io.timerbus.types.*;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Timers. Every method throws a subclass of {@link TimerbusException}. */
public final class Timers {
  /** The limit of a page whose request has none. */
  private static final long PAGE_SIZE = 100;

  private final Calls calls;

  Timers(Calls calls) {
    this.calls = calls;
  }

  /**
   * Creates a timer, or replaces the timer with this id (onConflict KEEP and FAIL do not replace it). A call that is sent twice
   * creates one timer. With FAIL it is not repeated after a broken connection.
   */
  public Written<Timer> create(CreateTimerRequest request) {
    return calls.written(Timer::from, "timers/create", request, !OnConflict.FAIL.equals(request.onConflict()));
  }

  /** Creates a timer: {@code create("order-17", t -> t.executeIn(Duration.ofMinutes(15)).callbackUrl(url))}. */
  public Written<Timer> create(String id, Consumer<CreateTimerRequest.Builder> set) {
    return create(CreateTimerRequest.of(b -> set.accept(b.id(id))));
  }

  /** Returns a timer. Finished timers are returned until their history expires. */
  public Timer get(TimerSelection request) {
    return calls.one(Timer::from, "timers/get", request, true);
  }

  /** Returns a timer of the namespace "default". */
  public Timer get(String id) {
    return get(TimerSelection.of(b -> b.id(id)));
  }

  /** Changes the given fields. With ifGeneration it is not repeated after a broken connection. */
  public Written<Timer> update(UpdateTimerRequest request) {
    return calls.written(Timer::from, "timers/update", request, request.ifGeneration() == null);
  }

  /** Changes the fields that a function sets. A field that is set to null goes back to its default. */
  public Written<Timer> update(String id, Consumer<UpdateTimerRequest.Builder> set) {
    return update(UpdateTimerRequest.of(b -> set.accept(b.id(id))));
  }

  /**
   * Deletes a timer. True means that its delivery never follows; false, that it may have been sent before. It is not repeated
   * after a broken connection.
   */
  public boolean delete(DeleteTimerRequest request) {
    return calls.send("timers/delete", request, false).status() == 204;
  }

  /** Deletes a timer of the namespace "default". */
  public boolean delete(String id) {
    return delete(DeleteTimerRequest.of(b -> b.id(id)));
  }

  /** Returns one page of a list. It may have fewer timers than the limit, and still have a nextCursor. */
  public TimerPage page(ListTimersRequest request) {
    return calls.one(TimerPage::from, "timers/list", request, true);
  }

  /** Returns the timers of all pages, which are requested as the stream is read. */
  public Stream<Timer> all(ListTimersRequest request) {
    return pages(
        cursor -> TimerPage.from(calls.send("timers/list", Calls.with(request, "cursor", cursor), true).json()),
        TimerPage::timers,
        TimerPage::nextCursor);
  }

  /** Returns the timers that a function selects. */
  public Stream<Timer> all(Consumer<ListTimersRequest.Builder> set) {
    return all(ListTimersRequest.of(set));
  }

  /** Counts timers. If the answer is truncated, there are at least as many. */
  public TimerCount count(CountTimersRequest request) {
    return calls.one(TimerCount::from, "timers/count", request, true);
  }

  /** Counts the timers that become due, for each bucket of a time range. */
  public TimerForecast forecast(ForecastTimersRequest request) {
    return calls.one(TimerForecast::from, "timers/forecast", request, true);
  }

  /** Returns a timer's attempts, newest first. */
  public TimerHistory history(TimerHistoryRequest request) {
    return calls.one(TimerHistory::from, "timers/history", request, true);
  }

  /** Makes a timer due now, as a new generation. It is not repeated after a broken connection. */
  public Written<Timer> runNow(RunTimerRequest request) {
    return calls.written(Timer::from, "timers/run-now", request, false);
  }

  /** Pauses a timer: it is not delivered until it is resumed. */
  public Written<Timer> pause(PauseTimerRequest request) {
    return calls.written(Timer::from, "timers/pause", request, true);
  }

  /** Resumes a paused timer. A timer that is not paused is not changed. */
  public Written<Timer> resume(ResumeTimerRequest request) {
    return calls.written(Timer::from, "timers/resume", request, true);
  }

  /** Schedules a dead or parked timer again, as a new generation. It is not repeated after a broken connection. */
  public Timer retry(RetryTimerRequest request) {
    return calls.one(Timer::from, "timers/retry", request, false);
  }

  /**
   * Creates up to 1,000 timers, and returns a result for each, in order. Each item is applied or refused separately. The batch is
   * repeated if that is safe for all items; single items that were refused with UNAVAILABLE or RATE_LIMITED are not repeated.
   */
  public List<BatchItem> createMany(List<CreateTimerRequest> timers) {
    boolean repeat = timers.stream().noneMatch(t -> OnConflict.FAIL.equals(t.onConflict()));
    return calls.batch("timers/batch-create", "timers", timers, repeat, one -> BatchItem.of(BatchResult.from(one)));
  }

  /** Deletes up to 1,000 timers, and returns a result for each, in order. It is not repeated after a broken connection. */
  public List<BatchItem> deleteMany(List<DeleteTimerRequest> timers) {
    return calls.batch("timers/batch-delete", "timers", timers, false, one -> BatchItem.of(BatchResult.from(one)));
  }

  /** Deletes the timers on all pages of a filter. progress is called after each page. */
  public MatchingTotal deleteMatching(DeleteMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("timers/delete-matching", request, true, progress);
  }

  /** Deletes the timers on one page of a filter. */
  public MatchingPage deleteMatchingPage(DeleteMatchingRequest request) {
    return calls.one(MatchingPage::from, "timers/delete-matching", request, true);
  }

  /**
   * Changes the time of the timers on all pages of a filter. With shiftBy, a page is not repeated after a broken connection, because
   * it could be shifted twice.
   */
  public MatchingTotal rescheduleMatching(RescheduleMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("timers/reschedule-matching", request, request.shiftBy() == null, progress);
  }

  /** Changes the time of the timers on one page of a filter. */
  public MatchingPage rescheduleMatchingPage(RescheduleMatchingRequest request) {
    return calls.one(MatchingPage::from, "timers/reschedule-matching", request, request.shiftBy() == null);
  }

  /** Schedules the dead or parked timers on all pages of a filter again. */
  public MatchingTotal retryMatching(RetryMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("timers/retry-matching", request, true, progress);
  }

  /** Pauses the timers on all pages of a filter. */
  public MatchingTotal pauseMatching(PauseMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("timers/pause-matching", request, true, progress);
  }

  /** Removes the dead or done timers on all pages of a filter from history. */
  public MatchingTotal purgeMatching(PurgeMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    return calls.walk("timers/purge-matching", request, true, progress);
  }

  /**
   * Resumes the paused timers on one page of a filter. With resumeRate it is not repeated after a broken connection: the timers that
   * follow would get the times of the first ones.
   */
  public ResumePage resumeMatchingPage(ResumeMatchingRequest request) {
    return calls.one(ResumePage::from, "timers/resume-matching", request, rate(request) == 0);
  }

  private static long rate(ResumeMatchingRequest request) {
    return request.resumeRate() == null ? 0 : request.resumeRate();
  }

  /**
   * Resumes the paused timers on all pages of a filter, and keeps resumeRate over all pages: after a broken connection a page is sent
   * again with a startAt that is later by the seconds that the page may have used.
   */
  public MatchingTotal resumeMatching(ResumeMatchingRequest request, Consumer<? super MatchingTotal> progress) {
    Map<String, Object> next = new LinkedHashMap<>(request.fields());
    MatchingTotal total = MatchingTotal.from(request.cursor(), request.startAt());
    while (true) {
      ResumePage page;
      try {
        page = resumePage(next, rate(request), request.limit() == null ? PAGE_SIZE : request.limit());
      } catch (TimerbusException e) {
        e.setProgress(total.startingAt((Instant) next.get("startAt")));
        throw e;
      }
      total =
          total
              .plus(new MatchingPage(page.matched(), page.applied(), 0, page.skipped(), page.nextCursor()))
              .startingAt((Instant) next.get("startAt"));
      progress.accept(total);
      if (total.cursor().isEmpty()) {
        return total;
      }
      next.put("cursor", total.cursor());
    }
  }

  private ResumePage resumePage(Map<String, Object> next, long rate, long limit) {
    for (int attempt = 1; ; attempt++) {
      try {
        ResumePage page = calls.one(ResumePage::from, "timers/resume-matching", new Fields(next) {}, rate == 0);
        if (page.nextStartAt() != null) {
          next.put("startAt", page.nextStartAt());
        }
        return page;
      } catch (TimerbusException e) {
        if (rate == 0 || !e.mayBeApplied()) {
          throw e;
        }
        next.put("startAt", Calls.laterStart((Instant) next.get("startAt"), limit, rate));
        java.time.Duration pause = calls.pause(attempt, true, e);
        if (pause == null) {
          throw e;
        }
        Calls.sleep(pause, e);
      }
    }
  }

  static <P, T> Stream<T> pages(Function<String, P> page, Function<P, List<T>> items, Function<P, String> cursor) {
    Iterable<T> all = () -> new Pages<>(page, items, cursor);
    return StreamSupport.stream(all.spliterator(), false);
  }

  private static final class Pages<P, T> implements Iterator<T> {
    private final Function<String, P> page;
    private final Function<P, List<T>> items;
    private final Function<P, String> cursor;
    private final Deque<T> present = new ArrayDeque<>();
    private String next = "";

    Pages(Function<String, P> page, Function<P, List<T>> items, Function<P, String> cursor) {
      this.page = page;
      this.items = items;
      this.cursor = cursor;
    }

    @Override
    public boolean hasNext() {
      while (present.isEmpty() && next != null) {
        P one = page.apply(next);
        present.addAll(items.apply(one));
        next = cursor.apply(one);
      }
      return !present.isEmpty();
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return present.remove();
    }
  }
}
