// Package testserver gives tests the real servers that tools/testenv starts, and disturbs them: it kills and freezes
// servers, and cuts the connections of a client. Only tests import it.
package testserver

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Variable returns the environment variable with the address of a server, by its name in tools/testenv.
func Variable(name string) string { return "TIMERBUS_TEST_" + strings.ToUpper(name) }

// Address returns the address of a server. If its variable is not set, the test is skipped, or fails if TIMERBUS_REQUIRE
// lists the server.
func Address(tb testing.TB, name string) string {
	tb.Helper()
	variable := Variable(name)
	if address := os.Getenv(variable); address != "" {
		return address
	}
	if slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), name) {
		tb.Fatalf("TIMERBUS_REQUIRE lists %s, and %s is not set", name, variable)
	}
	tb.Skipf("no %s: run the test through `go run ./tools/testenv --need %s --`", name, name)
	return ""
}

// controlTimeout bounds an action. A database that was killed takes seconds to recover.
const controlTimeout = 2 * time.Minute

// Control requests an action of testenv on the process of a server, such as kill/kafka3-1. The test is skipped if testenv
// has not started the servers. It fails if the action fails.
func Control(tb testing.TB, action string) {
	tb.Helper()
	base := os.Getenv("TIMERBUS_TESTENV")
	if base == "" {
		tb.Skip("testenv has not started the servers, so they cannot be killed")
	}
	// A test that ends starts the servers again that it killed, so the end of its context must not end the request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), controlTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/"+action, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(response.Body)
		tb.Fatalf("testenv %s: %s %s", action, response.Status, text)
	}
}

// Log discards the log unless TIMERBUS_TEST_LOG is set, because a failing test is easier to read without it.
func Log() *slog.Logger {
	if os.Getenv("TIMERBUS_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
