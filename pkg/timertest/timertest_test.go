package timertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// called starts a receiver and returns its address and the bodies it receives.
func called(t *testing.T) (hook string, bodies <-chan string) {
	t.Helper()
	got := make(chan string, 16)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

func TestATimerFires(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]Option{
		"embedded":  nil,
		"with NATS": {WithNATS()},
		"in memory": {InMemory()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook, bodies := called(t)
			begun := time.Now()
			bus := Start(t, options...)
			if _, err := bus.Client.CreateTimer(t.Context(), client.CreateTimerRequest{
				ID: "order-17", ExecuteIn: "1ms", CallbackURL: hook, Payload: []byte(`{"order":17}`),
			}); err != nil {
				t.Fatal(err)
			}
			t.Logf("first answer after %v", time.Since(begun))
			if body := <-bodies; !strings.Contains(body, `"payload":{"order":17}`) {
				t.Errorf("called with %s", body)
			}
			if (bus.NATSURL != "") != (name == "with NATS") {
				t.Errorf("NATS at %q", bus.NATSURL)
			}
		})
	}
}

// Many services in one process, at the same time, are isolated from each other.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			bus := Start(t)
			w, err := bus.Client.CreateTimer(t.Context(), client.CreateTimerRequest{
				ID: "the-same", ExecuteIn: "1h", OnConflict: client.Fail,
			})
			if err != nil || !w.InTime {
				t.Errorf("%+v, %v", w, err)
			}
		})
	}
}

// witness is a testing.TB that records its failures.
type witness struct {
	testing.TB

	failed   []string
	cleanups []func()
	folder   string
}

func (w *witness) Helper()          {}
func (w *witness) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }
func (w *witness) TempDir() string  { return w.folder }
func (w *witness) Errorf(format string, values ...any) {
	w.failed = append(w.failed, fmt.Sprintf(format, values...))
}

func (w *witness) Fatalf(format string, values ...any) {
	w.Errorf(format, values...)
	panic(w)
}

func (w *witness) Fatal(values ...any) { w.Fatalf("%s", fmt.Sprint(values...)) }

// end runs the cleanups, as the end of a test does.
func (w *witness) end() {
	for len(w.cleanups) > 0 {
		last := len(w.cleanups) - 1
		f := w.cleanups[last]
		w.cleanups = w.cleanups[:last]
		f()
	}
}

// fatal runs f, which must end the witness's test.
func (w *witness) fatal(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() != w {
			t.Error("the test went on")
		}
	}()
	f()
}

func TestItIsGoneAfterItsTest(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t, folder: t.TempDir()}
	bus := Start(w)
	if _, err := bus.Client.ListNamespaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.end()
	if len(w.failed) > 0 {
		t.Errorf("failed: %q", w.failed)
	}
	gone, err := client.New(bus.URL, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.ListNamespaces(t.Context()); err == nil {
		t.Error("the service still answers")
	}
	// The folder is free again.
	again := &witness{TB: t, folder: w.folder}
	Start(again)
	again.end()
}

func TestAServiceThatDiesFailsTheTest(t *testing.T) {
	t.Parallel()
	w, log := &witness{TB: t}, &output{to: t.Output()}
	endWith(w, run(t.Context(), func(context.Context) error { return errors.New("scheduler: claims are broken") }), log)
	w.end()
	if len(w.failed) != 1 || !strings.Contains(w.failed[0], "claims are broken") {
		t.Errorf("failed: %q", w.failed)
	}
}

func TestNothingIsLoggedAfterTheTest(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	w, log := &witness{TB: t}, &output{to: &logged}
	endWith(w, run(t.Context(), func(ctx context.Context) error {
		<-ctx.Done()
		_, err := io.WriteString(log, "stopping")
		return err
	}), log)
	w.end()
	if _, err := io.WriteString(log, "left behind"); err != nil || logged.String() != "stopping" {
		t.Errorf("logged %q, %v", &logged, err)
	}
}

func TestAStartThatGoesWrongFailsTheTest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options []Option
		want    string
	}{
		"no folder": {nil, file},
		"two ways":  {[]Option{InMemory(), WithNATS()}, "exclude each other"},
	} {
		w := &witness{TB: t, folder: file}
		w.fatal(t, func() { Start(w, c.options...) })
		if len(w.failed) != 1 || !strings.Contains(w.failed[0], c.want) {
			t.Errorf("%s: failed %q", name, w.failed)
		}
	}
}
