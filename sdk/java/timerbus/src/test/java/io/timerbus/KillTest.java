package io.timerbus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timerbus.types.CreateNamespaceRequest;
import io.timerbus.types.OnConflict;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Creates timers while the service is killed: none that was acknowledged is lost, and none exists twice. */
class KillTest {
  private static final String PROXY = System.getenv("TIMERBUS_CONFORMANCE_URL");
  private static final String SERVICE = System.getenv("TIMERBUS_CONFORMANCE_SERVICE");
  private static final int KILLS = Integer.parseInt(System.getenv().getOrDefault("TIMERBUS_SDK_KILLS", "2"));

  /** Writers with onConflict keep, and as many with fail. */
  private static final int WRITERS = 4;

  /** How many creates are acknowledged between two kills. */
  private static final int BETWEEN = 200;

  /** The generation of each timer whose create was acknowledged. */
  private final Map<String, String> acknowledged = new ConcurrentHashMap<>();

  private final Set<String> unknown = ConcurrentHashMap.newKeySet();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();
  private final Queue<String> duplicates = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  /** Creates timers one after another. */
  private void write(String prefix, OnConflict onConflict) {
    Timerbus bus = Timerbus.builder(SERVICE).token("conformance").tries(8).longestPause(Duration.ofMillis(500)).build();
    for (int i = 1; !stopped; i++) {
      int n = i;
      String id = prefix + "-" + n;
      try {
        String generation =
            bus.timers()
                .create(id, t -> t.namespace("kill").executeIn(Duration.ofDays(1)).payload(Map.of("n", n)).onConflict(onConflict))
                .value()
                .generation();
        acknowledged.put(id, generation);
      } catch (TimerbusException e) {
        if (e instanceof ServiceException s && s.code().value().equals("TIMER_EXISTS")) {
          // With fail, a conflict means that a try of this call was repeated after it had been applied.
          duplicates.add(id);
        } else {
          (e.mayBeApplied() ? unknown : refused).add(id);
        }
      }
    }
  }

  /** Returns when further creates are acknowledged. */
  private void more() throws InterruptedException {
    int wanted = acknowledged.size() + BETWEEN;
    for (long end = System.nanoTime() + Duration.ofSeconds(60).toNanos(); acknowledged.size() < wanted; Thread.sleep(5)) {
      assertTrue(System.nanoTime() < end, acknowledged.size() + " creates are acknowledged, want " + wanted + " within 60 s");
    }
  }

  private static void kill(HttpClient http) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(PROXY + "/conformance/kill"))
            .timeout(Duration.ofSeconds(60))
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertEquals(204, answer.statusCode(), answer.body());
  }

  @Test
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  void noCreateIsLostOrDoubled() throws Exception {
    Timerbus bus = Timerbus.builder(SERVICE).token("conformance").build();
    bus.namespaces().create(CreateNamespaceRequest.of(b -> b.name("kill")));
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    ExecutorService threads = Executors.newFixedThreadPool(2 * WRITERS);
    List<? extends Future<?>> writers =
        Stream.of(OnConflict.KEEP, OnConflict.FAIL)
            .flatMap(mode -> IntStream.range(0, WRITERS).mapToObj(n -> threads.submit(() -> write(mode.value() + "-" + n, mode))))
            .toList();
    try {
      for (int n = 0; n < KILLS; n++) {
        more();
        kill(http);
      }
      more();
    } finally {
      stopped = true;
      threads.shutdown();
    }
    for (Future<?> writer : writers) {
      writer.get(60, TimeUnit.SECONDS);
    }
    Map<String, String> present = new HashMap<>();
    bus.timers()
        .all(l -> l.namespace("kill").limit(1000L))
        .forEach(t -> assertNull(present.put(t.id(), t.generation()), t.id() + " exists twice"));
    System.out.printf(
        "%d kills: %d acknowledged, %d unknown, %d refused, %d present%n",
        KILLS, acknowledged.size(), unknown.size(), refused.size(), present.size());
    List<String> lost = acknowledged.keySet().stream().filter(id -> !acknowledged.get(id).equals(present.get(id))).toList();
    assertEquals(List.of(), lost, "acknowledged and lost");
    assertEquals(List.of(), List.copyOf(duplicates), "creates that were repeated after they had been applied");
    List<String> wrong = present.keySet().stream().filter(id -> !acknowledged.containsKey(id) && !unknown.contains(id)).toList();
    assertEquals(List.of(), wrong, "calls that were certainly not applied, and were");
    assertTrue(!unknown.isEmpty(), "no call was in flight at a kill: the test proves nothing");
  }
}
