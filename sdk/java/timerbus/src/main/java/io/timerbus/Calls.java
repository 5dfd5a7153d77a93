package io.timerbus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.timerbus.types.MatchingPage;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/** Sends calls, and repeats them if that is safe. */
final class Calls {
  private static final long FIRST_PAUSE = 100;

  private final HttpClient http;
  private final String base;
  private final String token;
  private final String userAgent;
  private final Duration timeout;
  private final int tries;
  private final Duration longestPause;

  Calls(Timerbus.Builder options) {
    String url = options.baseUrl;
    URI uri = null;
    try {
      uri = URI.create(url);
    } catch (IllegalArgumentException e) {
      // reported below
    }
    boolean accepted =
        uri != null
            && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
            && uri.getHost() != null
            && uri.getQuery() == null
            && uri.getFragment() == null;
    if (!accepted) {
      throw new IllegalArgumentException(
          "base URL \"" + url + "\" is not accepted: want http:// or https://, a host, and at most a path");
    }
    base = url.replaceAll("/+$", "") + "/api/v1/";
    token = options.token;
    userAgent = options.userAgent;
    timeout = options.timeout;
    tries = options.tries;
    longestPause = options.longestPause;
    http =
        options.httpClient != null
            ? options.httpClient
            : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout).build();
  }

  /** An answer with its HTTP status. */
  record Answer(int status, JsonNode json) {}

  /** Sends a request. repeat means that applying the call twice has the same effect as applying it once. */
  Answer send(String path, JsonNode request, boolean repeat) {
    return send(path, request, repeat, timeout);
  }

  /** Sends a request with a timeout of each try that is at least this long. */
  Answer send(String path, JsonNode request, boolean repeat, Duration atLeast) {
    Duration limit = atLeast.compareTo(timeout) > 0 ? atLeast : timeout;
    byte[] body;
    try {
      body = Wire.MAPPER.writeValueAsBytes(request);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(path + ": the request is not JSON", e);
    }
    for (int attempt = 1; ; attempt++) {
      try {
        return attempt(path, body, limit);
      } catch (TimerbusException e) {
        Duration pause = pause(attempt, repeat, e);
        if (pause == null) {
          throw e;
        }
        sleep(pause, e);
      }
    }
  }

  Answer send(String path, Fields request, boolean repeat) {
    return send(path, Wire.encode(request), repeat);
  }

  <T> T one(Function<JsonNode, T> from, String path, Fields request, boolean repeat) {
    return from.apply(send(path, request, repeat).json());
  }

  <T> Written<T> written(Function<JsonNode, T> from, String path, Fields request, boolean repeat) {
    Answer answer = send(path, request, repeat);
    return new Written<>(from.apply(answer.json()), answer.status() == 200);
  }

  /** Sends a batch, and returns the results of its items. */
  <T> List<T> batch(String path, String name, List<? extends Fields> requests, boolean repeat, Function<JsonNode, T> item) {
    ArrayNode items = Wire.MAPPER.createArrayNode();
    requests.forEach(one -> items.add(Wire.encode(one)));
    JsonNode results = send(path, Wire.MAPPER.createObjectNode().set(name, items), repeat).json().path("results");
    if (results.size() != requests.size()) {
      throw new ConnectionException(path + ": " + results.size() + " results for " + requests.size() + " items", true, null);
    }
    return Wire.list(results, item);
  }

  /** Sends a request for all pages of a filter. */
  MatchingTotal walk(String path, Fields request, boolean repeat, Consumer<? super MatchingTotal> progress) {
    MatchingTotal total = MatchingTotal.from((String) request.fields().get("cursor"), null);
    while (true) {
      MatchingPage page;
      try {
        page = MatchingPage.from(send(path, with(request, "cursor", total.cursor()), repeat).json());
      } catch (TimerbusException e) {
        e.setProgress(total);
        throw e;
      }
      total = total.plus(page);
      progress.accept(total);
      if (total.cursor().isEmpty()) {
        return total;
      }
    }
  }

  /** Returns a request with one more field, unless the value is empty. */
  static JsonNode with(Fields request, String name, Object value) {
    Map<String, Object> values = new LinkedHashMap<>(request.fields());
    if (value != null && !"".equals(value)) {
      values.put(name, value);
    }
    return Wire.encode(new Fields(values) {});
  }

  /** Returns the pause before the next try, or null if the error is the result. */
  Duration pause(int attempt, boolean repeat, TimerbusException error) {
    if (attempt >= tries) {
      return null;
    }
    // Half of the pause is random, so that callers that failed together do not retry together.
    long longest = Math.min(FIRST_PAUSE << Math.min(attempt - 1, 16), longestPause.toMillis());
    Duration pause = Duration.ofMillis(longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1));
    if (!(error instanceof ServiceException answered)) {
      return repeat || !error.mayBeApplied() ? pause : null;
    }
    if (answered.status() != 429 && answered.status() != 503) {
      return null;
    }
    Duration after = answered.retryAfter() == null ? Duration.ZERO : answered.retryAfter();
    if (after.compareTo(longestPause) > 0) {
      return null;
    }
    return after.compareTo(pause) > 0 ? after : pause;
  }

  /** Waits. An interrupt ends the call with its error. */
  static void sleep(Duration pause, TimerbusException error) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw error;
    }
  }

  private Answer attempt(String path, byte[] body, Duration limit) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .header("User-Agent", userAgent)
            .timeout(limit)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    CompletableFuture<HttpResponse<byte[]>> future = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    try {
      // The timeout of the request ends with the headers of the answer.
      return answered(path, future.get(limit.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      future.cancel(true);
      throw new RequestTimeoutException(path + ": no answer within " + limit.toMillis() + " ms", true, e);
    } catch (InterruptedException e) {
      future.cancel(true);
      Thread.currentThread().interrupt();
      throw new ConnectionException(path + ": the thread was interrupted", true, e);
    } catch (ExecutionException e) {
      throw failure(path, e.getCause());
    }
  }

  private static TimerbusException failure(String path, Throwable cause) {
    String message = path + ": " + cause;
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof ConnectException) {
        return new ConnectionException(message, false, cause);
      }
      if (t instanceof HttpTimeoutException) {
        return new RequestTimeoutException(message, !(t instanceof HttpConnectTimeoutException), cause);
      }
    }
    return new ConnectionException(message, true, cause);
  }

  private static Answer answered(String path, HttpResponse<byte[]> response) {
    int status = response.statusCode();
    if (status == 204) {
      return new Answer(status, Wire.MAPPER.createObjectNode());
    }
    byte[] body = response.body();
    JsonNode json;
    try {
      json = Wire.MAPPER.readTree(body);
    } catch (IOException e) {
      json = MissingNode.getInstance(); // as for an empty body
    }
    if (status < 300) {
      if (json.isMissingNode()) {
        throw new ConnectionException(path + ": the answer is not JSON", true, null);
      }
      return new Answer(status, json);
    }
    Duration retryAfter =
        response.headers().firstValue("Retry-After").filter(t -> t.matches("\\d{1,9}")).map(t -> Duration.ofSeconds(Long.parseLong(t))).orElse(null);
    if (json.path("error").isTextual()) {
      throw new ServiceException(status, json.get("error").asText(), json.path("message").asText(), json.get("details"), retryAfter);
    }
    String text = new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8).strip();
    throw new ServiceException(status, "", text.isEmpty() ? "the answer has no message" : text, null, retryAfter);
  }

  /** Returns the start of a page of a resume with a rate that is sent again: after the times that its first try may have used. */
  static Instant laterStart(Instant startAt, long limit, long rate) {
    Instant now = Instant.now();
    return (startAt == null || startAt.isBefore(now) ? now : startAt).plusMillis(limit * 1000 / rate);
  }
}
