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
import java.util.concurrent.CompletableFuture;
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
  private static final long PATIENCE_SECONDS = 30;

  private final Process process;
  private final Path folder;
  private final String url;

  private TestService(Process process, Path folder, String url) {
    this.process = process;
    this.folder = folder;
    this.url = url;
  }

  /**
   * Runs {@code timerbus dev --test-clock} on a free port with an empty data folder, and returns when it has its address. The clock runs
   * at normal speed between calls of advance; the argument {@code --test-clock=false} starts a service on the machine's clock.
   */
  public static TestService start(String... arguments) {
    String binary = System.getenv().getOrDefault("TIMERBUS_BINARY", "timerbus");
    try {
      Path folder = Files.createTempDirectory("timerbus-test-");
      List<String> command =
          new ArrayList<>(
              List.of(
                  binary, "dev", "--data", folder.toString(), "--listen", "127.0.0.1:0", "--nats-listen", "", "--log-format", "json",
                  "--test-clock"));
      command.addAll(List.of(arguments));
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      // Settings of the caller are no settings of this service.
      builder.environment().keySet().removeIf(name -> name.startsWith("TIMERBUS_"));
      Process process = builder.start();
      return new TestService(process, folder, address(process));
    } catch (IOException e) {
      throw new UncheckedIOException(binary + " did not start: want timerbus on PATH, or its path in TIMERBUS_BINARY", e);
    }
  }

  private static String address(Process process) {
    CompletableFuture<String> address = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              StringBuilder seen = new StringBuilder();
              try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                  Matcher found = ADDRESS.matcher(line);
                  if (found.matches()) {
                    address.complete(found.group(1));
                  } else if (!address.isDone()) {
                    seen.append(line).append('\n');
                  }
                }
              } catch (IOException e) {
                seen.append(e);
              }
              address.completeExceptionally(new IllegalStateException("the service did not start:\n" + seen));
            });
    reader.setDaemon(true);
    reader.start();
    try {
      return address.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      process.destroyForcibly();
      throw new IllegalStateException(e instanceof ExecutionException ? e.getCause() : e);
    }
  }

  /** Returns the address of the service. */
  public String url() {
    return url;
  }

  /**
   * Moves the test clock forward by a duration, and returns when no timer is due. It sends no credential; the method advance of the clock
   * of a client does.
   */
  public TestClock advance(Duration by) {
    return Timerbus.of(url).clock().advance(by);
  }

  /** Moves the test clock forward by a duration such as "30d". */
  public TestClock advance(String by) {
    return advance(Wire.parseDuration(by));
  }

  /** Stops the service, and removes its data. */
  @Override
  public void close() {
    process.destroy();
    try {
      process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
