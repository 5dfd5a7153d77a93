package io.timerbus;

import java.net.http.HttpClient;
import java.time.Duration;

/**
 * A client of one Timerbus. It is safe for concurrent use.
 *
 * <p>It repeats failed calls if that is safe: after 429 and 503, which mean that nothing was applied, and after a failure to connect,
 * always; after a broken connection or a timeout, only calls that may be applied twice (each method says which are not).
 * OUTCOME_UNKNOWN (504) is never repeated.
 */
public final class Timerbus {
  private final Timers timers;
  private final Schedules schedules;
  private final Namespaces namespaces;
  private final Keys keys;
  private final Clock clock;

  private Timerbus(Builder options) {
    Calls calls = new Calls(options);
    timers = new Timers(calls);
    schedules = new Schedules(calls);
    namespaces = new Namespaces(calls);
    keys = new Keys(calls);
    clock = new Clock(calls);
  }

  /** Returns a client of the service at this URL with the default options. It does not connect. */
  public static Timerbus of(String baseUrl) {
    return builder(baseUrl).build();
  }

  /** Returns a builder of a client of the service at this URL, such as "http://127.0.0.1:8080". */
  public static Builder builder(String baseUrl) {
    return new Builder(baseUrl);
  }

  public Timers timers() {
    return timers;
  }

  public Schedules schedules() {
    return schedules;
  }

  public Namespaces namespaces() {
    return namespaces;
  }

  public Keys keys() {
    return keys;
  }

  public Clock clock() {
    return clock;
  }

  /** The options of a client. */
  public static final class Builder {
    final String baseUrl;
    String token;
    String userAgent = "timerbus-java/" + Version.VERSION;
    Duration timeout = Duration.ofSeconds(30);
    int tries = 4;
    Duration longestPause = Duration.ofSeconds(5);
    HttpClient httpClient;

    private Builder(String baseUrl) {
      this.baseUrl = baseUrl;
    }

    /** Sends a bearer token with every call. */
    public Builder token(String value) {
      token = value;
      return this;
    }

    /** Limits each try; by default 30 s. */
    public Builder timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Sets how often a call is tried at most; by default 4, and 1 means no retries. */
    public Builder tries(int value) {
      tries = value;
      return this;
    }

    /**
     * Sets the longest pause between tries; by default 5 s. Pauses are random times that double from 100 ms. A Retry-After of the service
     * is followed if it is at most as long.
     */
    public Builder longestPause(Duration value) {
      longestPause = value;
      return this;
    }

    /** Names the caller in the logs of the service. */
    public Builder userAgent(String value) {
      userAgent = value;
      return this;
    }

    /** Sets the HTTP client, which determines connections, proxies and certificates. */
    public Builder httpClient(HttpClient value) {
      httpClient = value;
      return this;
    }

    public Timerbus build() {
      return new Timerbus(this);
    }
  }
}
