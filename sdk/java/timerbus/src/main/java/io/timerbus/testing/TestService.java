package io.timerbus.testing;

import io.timerbus.Timerbus;
import io.timerbus.Wire;
import io.timerbus.types.TestClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The real service, for tests, with a test clock. The program is the one in the environment variable TIMERBUS_BINARY, or {@code timerbus} on PATH.
 *
 * <pre>{@code
 * try (TestService service = TestService.start()) {
 *   Timerbus bus = Timerbus.of(service.url());
 *   service.advance(Duration.ofDays(30));
 * }
 * }</pre>
 */
public final class TestService implements AutoCloseable {
  private static final Pattern ADDRESS = Pattern.compile("^ *HTTP API *(http://\\S+).*");
  /** The line after that of the HTTP API. */
  private static final Pattern NATS = Pattern.compile("^ *NATS *(nats://\\S+).*");

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** How many lines of the output an error shows. */
  private static final int SHOWN = 20;

  private final Process process;
  private final Path folder;
  private final Addresses addresses;

  private record Addresses(String url, String natsUrl) {}

  private TestService(Process process, Path folder, Addresses addresses) {
    this.process = process;
    this.folder = folder;
    this.addresses = addresses;
  }

  /**
   * Runs {@code timerbus dev --test-clock} on a free port with an empty data folder, and returns when it has its address. The clock runs
   * at normal speed between calls of advance; the argument {@code --test-clock=false} starts a service on the machine's clock, and
   * {@code "--nats-listen", "127.0.0.1:0"} one that accepts NATS clients.
   */
  public static TestService start(String... arguments) {
    return start(System.getenv().getOrDefault("TIMERBUS_BINARY", "timerbus"), PATIENCE, arguments);
  }

  static TestService start(String binary, Duration patience, String... arguments) {
    Path folder;
    try {
      folder = Files.createTempDirectory("timerbus-test-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Process process = null;
    try {
      process = process(binary, folder, arguments);
      return new TestService(process, folder, addresses(process, patience));
    } catch (RuntimeException e) {
      if (process != null) {
        end(process, Duration.ZERO);
      }
      remove(folder);
      throw e;
    }
  }

  private static Process process(String binary, Path folder, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                binary, "dev", "--data", folder.toString(), "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json",
                "--test-clock"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // Settings of the caller are no settings of this service.
    builder.environment().keySet().removeIf(name -> name.startsWith("TIMERBUS_"));
    try {
      return builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(binary + " did not start: want timerbus on PATH, or its path in TIMERBUS_BINARY", e);
    }
  }

  private static Addresses addresses(Process process, Duration patience) {
    CompletableFuture<Addresses> addresses = new CompletableFuture<>();
    Queue<String> last = new ConcurrentLinkedQueue<>();
    Thread reader = new Thread(() -> read(process, addresses, last));
    reader.setDaemon(true);
    reader.start();
    String failure;
    try {
      Addresses found = addresses.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      if (found != null) {
        return found;
      }
      failure = "the service did not start:";
    } catch (TimeoutException e) {
      failure = "the service had no address after " + patience.toMillis() + " ms:";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the thread was interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
    throw new IllegalStateException(failure + "\n" + String.join("\n", last));
  }

  /** Reads the output to its end, so that the service never waits for a reader. Without an address the result is null. */
  private static void read(Process process, CompletableFuture<Addresses> addresses, Queue<String> last) {
    try (BufferedReader lines = process.inputReader()) {
      String url = null;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        last.add(line);
        if (last.size() > SHOWN) {
          last.remove();
        }
        Matcher found = (url == null ? ADDRESS : NATS).matcher(line);
        boolean matches = found.matches();
        if (url != null) {
          addresses.complete(new Addresses(url, matches ? found.group(1) : null)); // only the first call has an effect
        } else if (matches) {
          url = found.group(1);
        }
      }
      addresses.complete(null);
    } catch (IOException e) {
      addresses.completeExceptionally(e);
    }
  }

  /** Returns the address of the service. */
  public String url() {
    return addresses.url();
  }

  /**
   * Returns the address of the NATS server with the topics of events, or null without the arguments {@code "--nats-listen", "127.0.0.1:0"}.
   */
  public String natsUrl() {
    return addresses.natsUrl();
  }

  /**
   * Moves the test clock forward by a duration, and returns when no timer is due. It sends no credential; the method advance of the clock
   * of a client does.
   */
  public TestClock advance(Duration by) {
    return Timerbus.of(url()).clock().advance(by);
  }

  /** Moves the test clock forward by a duration such as "30d". */
  public TestClock advance(String by) {
    return advance(Wire.parseDuration(by));
  }

  /** Stops the service, and removes its data. A service that has not ended after 30 s, or when the thread is interrupted, is killed. */
  @Override
  public void close() {
    close(PATIENCE);
  }

  void close(Duration patience) {
    end(process, patience);
    remove(folder);
  }

  private static void end(Process process, Duration patience) {
    process.destroy();
    try {
      if (process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
    process.onExit().join(); // it writes to its folder until then; join ignores interrupts
  }

  private static void remove(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
