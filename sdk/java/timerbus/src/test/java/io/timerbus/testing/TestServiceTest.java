package io.timerbus.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts shell scripts in place of the service. */
class TestServiceTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(500);

  @TempDir private Path temp;

  /** Returns a program that writes the path of its data folder and then executes the script. */
  private String program(String script) throws IOException {
    Path file = temp.resolve("timerbus");
    Files.writeString(file, "#!/bin/sh\necho \"$3\" >" + temp.resolve("folder") + "\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    return file.toString();
  }

  private void assertFolderIsRemoved() throws IOException {
    Path folder = Path.of(Files.readString(temp.resolve("folder")).strip());
    assertTrue(folder.getFileName().toString().startsWith("timerbus-test-"), folder.toString());
    assertFalse(Files.exists(folder), folder + " exists");
  }

  @Test
  void aFailedStartShowsTheEndOfTheOutput() throws Exception {
    String binary = program("seq 1000; exit 1");
    IllegalStateException failed = assertThrows(IllegalStateException.class, () -> TestService.start(binary, LONG));
    String last = IntStream.rangeClosed(981, 1000).mapToObj(Integer::toString).collect(Collectors.joining("\n"));
    assertEquals("the service did not start:\n" + last, failed.getMessage());
    assertFolderIsRemoved();
  }

  @Test
  void aServiceWithoutAnAddressIsKilled() throws Exception {
    String binary = program("trap '' TERM; echo waiting; exec sleep 600");
    IllegalStateException failed = assertThrows(IllegalStateException.class, () -> TestService.start(binary, SHORT));
    assertEquals("the service had no address after 500 ms:\nwaiting", failed.getMessage());
    assertFolderIsRemoved();
  }

  @Test
  void aMissingProgram() {
    String binary = temp.resolve("missing").toString();
    UncheckedIOException failed = assertThrows(UncheckedIOException.class, () -> TestService.start(binary, LONG));
    assertTrue(failed.getMessage().contains("want timerbus on PATH, or its path in TIMERBUS_BINARY"), failed.getMessage());
  }

  @Test
  void aServiceThatDoesNotStopIsKilled() throws Exception {
    // exec keeps the ignored signal.
    String binary = program("trap '' TERM; echo ' HTTP API  http://127.0.0.1:1'; echo ' NATS  in this process only'; exec sleep 600");
    TestService service = TestService.start(binary, LONG);
    assertEquals("http://127.0.0.1:1", service.url());
    assertEquals(null, service.natsUrl());
    service.close(SHORT);
    assertFolderIsRemoved();
  }

  @Test
  void anInterruptKillsTheService() throws Exception {
    String binary = program("trap '' TERM; echo ' HTTP API  http://127.0.0.1:1'; echo ' NATS  in this process only'; exec sleep 600");
    TestService service = TestService.start(binary, LONG);
    Thread.currentThread().interrupt();
    service.close();
    assertTrue(Thread.interrupted());
    assertFolderIsRemoved();
    Thread.currentThread().interrupt();
    assertThrows(IllegalStateException.class, () -> TestService.start(program("exec sleep 600"), LONG));
    assertTrue(Thread.interrupted());
  }
}
