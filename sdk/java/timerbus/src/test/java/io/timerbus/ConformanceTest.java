package io.timerbus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.timerbus.types.*;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Executes the conformance scripts. */
class ConformanceTest {
  private static final String PROXY = System.getenv("TIMERBUS_CONFORMANCE_URL");
  private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final Map<String, BiFunction<Timerbus, JsonNode, Object>> CALLS = new HashMap<>();

  private static <R> void call(String name, Class<R> type, BiFunction<Timerbus, R, Object> call) {
    CALLS.put(name, (bus, json) -> call.apply(bus, Scripts.request(type, json)));
  }

  private static <R> List<R> items(Class<R> type, JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(one -> Scripts.request(type, one)).toList();
  }

  static {
    call("CreateTimer", CreateTimerRequest.class, (bus, r) -> bus.timers().create(r));
    call("GetTimer", TimerSelection.class, (bus, r) -> bus.timers().get(r));
    call("UpdateTimer", UpdateTimerRequest.class, (bus, r) -> bus.timers().update(r));
    call("DeleteTimer", DeleteTimerRequest.class, (bus, r) -> Map.of("inTime", bus.timers().delete(r)));
    call("ListTimers", ListTimersRequest.class, (bus, r) -> bus.timers().page(r));
    call("AllTimers", ListTimersRequest.class, (bus, r) -> bus.timers().all(r).toList());
    call("CountTimers", CountTimersRequest.class, (bus, r) -> bus.timers().count(r));
    call("ForecastTimers", ForecastTimersRequest.class, (bus, r) -> bus.timers().forecast(r));
    call("GetTimerHistory", TimerHistoryRequest.class, (bus, r) -> bus.timers().history(r));
    call("RunTimerNow", RunTimerRequest.class, (bus, r) -> bus.timers().runNow(r));
    call("PauseTimer", PauseTimerRequest.class, (bus, r) -> bus.timers().pause(r));
    call("ResumeTimer", ResumeTimerRequest.class, (bus, r) -> bus.timers().resume(r));
    call("RetryTimer", RetryTimerRequest.class, (bus, r) -> bus.timers().retry(r));
    CALLS.put("BatchCreateTimers", (bus, json) -> bus.timers().createMany(items(CreateTimerRequest.class, json.get("timers"))));
    CALLS.put("BatchDeleteTimers", (bus, json) -> bus.timers().deleteMany(items(DeleteTimerRequest.class, json.get("timers"))));
    call("DeleteMatchingTimers", DeleteMatchingRequest.class, (bus, r) -> bus.timers().deleteMatchingPage(r));
    call("RescheduleMatchingTimers", RescheduleMatchingRequest.class, (bus, r) -> bus.timers().rescheduleMatchingPage(r));
    call("ResumeMatchingTimers", ResumeMatchingRequest.class, (bus, r) -> bus.timers().resumeMatchingPage(r));
    call("DeleteAllMatchingTimers", DeleteMatchingRequest.class, (bus, r) -> bus.timers().deleteMatching(r, t -> {}));
    call("RescheduleAllMatchingTimers", RescheduleMatchingRequest.class, (bus, r) -> bus.timers().rescheduleMatching(r, t -> {}));
    call("RetryAllMatchingTimers", RetryMatchingRequest.class, (bus, r) -> bus.timers().retryMatching(r, t -> {}));
    call("PauseAllMatchingTimers", PauseMatchingRequest.class, (bus, r) -> bus.timers().pauseMatching(r, t -> {}));
    call("ResumeAllMatchingTimers", ResumeMatchingRequest.class, (bus, r) -> bus.timers().resumeMatching(r, t -> {}));
    call("PurgeAllMatchingTimers", PurgeMatchingRequest.class, (bus, r) -> bus.timers().purgeMatching(r, t -> {}));
    call("PauseAllMatchingSchedules", PauseMatchingSchedulesRequest.class, (bus, r) -> bus.schedules().pauseMatching(r, t -> {}));
    call("ResumeAllMatchingSchedules", ResumeMatchingSchedulesRequest.class, (bus, r) -> bus.schedules().resumeMatching(r, t -> {}));
    call("DeleteAllMatchingSchedules", DeleteMatchingSchedulesRequest.class, (bus, r) -> bus.schedules().deleteMatching(r, t -> {}));
    call("CreateSchedule", CreateScheduleRequest.class, (bus, r) -> bus.schedules().create(r));
    call("GetSchedule", ScheduleSelection.class, (bus, r) -> bus.schedules().get(r));
    call("UpdateSchedule", UpdateScheduleRequest.class, (bus, r) -> bus.schedules().update(r));
    call("DeleteSchedule", DeleteScheduleRequest.class, (bus, r) -> Map.of("inTime", bus.schedules().delete(r)));
    call("ListSchedules", ListSchedulesRequest.class, (bus, r) -> bus.schedules().page(r));
    call("AllSchedules", ListSchedulesRequest.class, (bus, r) -> bus.schedules().all(r).toList());
    call("PauseSchedule", PauseScheduleRequest.class, (bus, r) -> bus.schedules().pause(r));
    call("ResumeSchedule", ScheduleSelection.class, (bus, r) -> bus.schedules().resume(r));
    call("TriggerSchedule", ScheduleSelection.class, (bus, r) -> bus.schedules().trigger(r));
    call("BackfillSchedule", BackfillScheduleRequest.class, (bus, r) -> bus.schedules().backfillPage(r));
    call("BackfillAll", BackfillScheduleRequest.class, (bus, r) -> bus.schedules().backfill(r, t -> {}));
    call("PreviewSchedule", PreviewScheduleRequest.class, (bus, r) -> bus.schedules().preview(r));
    call("GetScheduleHistory", ScheduleHistoryRequest.class, (bus, r) -> bus.schedules().history(r));
    CALLS.put("BatchCreateSchedules", (bus, json) -> bus.schedules().createMany(items(CreateScheduleRequest.class, json.get("schedules"))));
    CALLS.put("BatchDeleteSchedules", (bus, json) -> bus.schedules().deleteMany(items(DeleteScheduleRequest.class, json.get("schedules"))));
    call("CreateNamespace", CreateNamespaceRequest.class, (bus, r) -> bus.namespaces().create(r));
    CALLS.put("GetNamespace", (bus, json) -> bus.namespaces().get(json.get("name").asText()));
    call("UpdateNamespace", UpdateNamespaceRequest.class, (bus, r) -> bus.namespaces().update(r));
    call("DeleteNamespace", DeleteNamespaceRequest.class, (bus, r) -> bus.namespaces().deleteStep(r));
    CALLS.put("ListNamespaces", (bus, json) -> bus.namespaces().all());
    CALLS.put("ListShards", (bus, json) -> bus.namespaces().shards(json.get("namespace").asText()));
    call("ListFlows", ListFlowsRequest.class, (bus, r) -> bus.namespaces().flows(r));
    call("ListTargets", ListTargetsRequest.class, (bus, r) -> bus.namespaces().targets(r));
    call("CreateKey", CreateKeyRequest.class, (bus, r) -> bus.keys().create(r));
    call("RotateKey", RotateKeyRequest.class, (bus, r) -> bus.keys().rotate(r));
    CALLS.put(
        "RevokeKey",
        (bus, json) -> {
          bus.keys().revoke(json.get("name").asText());
          return Map.of();
        });
    CALLS.put("ListKeys", (bus, json) -> bus.keys().all());
    CALLS.put("GetCaller", (bus, json) -> bus.keys().caller());
    call("AdvanceClock", AdvanceClockRequest.class, (bus, r) -> bus.clock().advance(r));
    call("SetClock", SetClockRequest.class, (bus, r) -> bus.clock().set(r));
    CALLS.put("GetClock", (bus, json) -> bus.clock().get());
  }

  static List<String> scripts() throws IOException {
    return Scripts.files().stream().map(f -> f.getFileName().toString()).toList();
  }

  @ParameterizedTest
  @MethodSource("scripts")
  void script(String file) throws Exception {
    assertNotNull(PROXY, "TIMERBUS_CONFORMANCE_URL is not set: run `make sdk-test-java`");
    Map<String, String> variables = new HashMap<>(Map.of("proxy", PROXY));
    Path path = Scripts.folder().resolve(file);
    for (JsonNode step : Scripts.MAPPER.readTree(Files.readString(path)).get("steps")) {
      long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
      while (true) {
        try {
          attempt(step, variables);
          break;
        } catch (AssertionError | TimerbusException e) {
          if (!step.has("until") || System.nanoTime() > end) {
            throw new AssertionError(step.get("name").asText() + ": " + e.getMessage(), e);
          }
          Thread.sleep(50);
        }
      }
    }
  }

  private static void attempt(JsonNode step, Map<String, String> variables) throws Exception {
    control("POST", "faults", step.has("faults") ? step.get("faults").toString() : "[]");
    JsonNode options = step.path("client");
    Timerbus bus =
        Timerbus.builder(PROXY)
            .token("conformance")
            .httpClient(HTTP)
            .tries(options.path("tries").asInt(4))
            .longestPause(Wire.parseDuration(options.path("longest").asText("50ms")))
            .timeout(Wire.parseDuration(options.path("timeout").asText("30s")))
            .build();
    BiFunction<Timerbus, JsonNode, Object> call = CALLS.get(step.get("call").asText());
    assertNotNull(call, "unknown call " + step.get("call"));
    JsonNode request = step.has("request") ? replaced(step.get("request"), variables) : Scripts.MAPPER.createObjectNode();
    long begin = System.nanoTime();
    Object answer = null;
    TimerbusException error = null;
    try {
      answer = Scripts.described(call.apply(bus, request));
    } catch (TimerbusException e) {
      error = e;
    }
    if (step.has("error")) {
      assertNotNull(error, "the answer is " + answer + ", want an error");
      Scripts.check(replaced(step.get("error"), variables), Scripts.described(error), "error");
    } else if (error != null) {
      throw error;
    } else {
      Scripts.check(replaced(step.get("expect"), variables), answer, "answer");
    }
    if (step.has("save")) {
      Map<?, ?> fields = (Map<?, ?>) answer;
      step.get("save").properties().forEach(one -> variables.put(one.getKey(), (String) fields.get(one.getValue().asText())));
    }
    if (step.has("atLeast")) {
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      assertTrue(took.compareTo(Wire.parseDuration(step.get("atLeast").asText())) >= 0, "the call took " + took);
    }
    if (step.has("tries")) {
      assertEquals(step.get("tries").asInt(), Scripts.MAPPER.readTree(control("GET", "tries", null)).get("tries").asInt(), "tries");
    }
  }

  private static JsonNode replaced(JsonNode value, Map<String, String> variables) throws IOException {
    String text = value.toString();
    for (Map.Entry<String, String> one : variables.entrySet()) {
      text = text.replace("${" + one.getKey() + "}", one.getValue());
    }
    return Scripts.MAPPER.readTree(text);
  }

  /** Calls the proxy itself; it may be refusing connections. */
  private static String control(String method, String path, String body) throws Exception {
    for (long end = System.nanoTime() + Duration.ofSeconds(10).toNanos(); ; Thread.sleep(10)) {
      HttpURLConnection connection = (HttpURLConnection) URI.create(PROXY + "/conformance/" + path).toURL().openConnection();
      try {
        connection.setRequestMethod(method);
        connection.setRequestProperty("Connection", "close");
        if (body != null) {
          connection.setDoOutput(true);
          try (OutputStream out = connection.getOutputStream()) {
            out.write(body.getBytes(StandardCharsets.UTF_8));
          }
        }
        try (InputStream in = connection.getInputStream()) {
          return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
      } catch (IOException e) {
        if (System.nanoTime() > end) {
          throw e;
        }
      } finally {
        connection.disconnect();
      }
    }
  }
}
