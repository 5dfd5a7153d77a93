package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/client"
)

// patience bounds every wait for an event that takes milliseconds on an idle machine.
const patience = 30 * time.Second

// binary is the path of the timerbus under test.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "timerbus-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if binary, err = harness.Binary(context.Background(), "..", folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	parallel := ordinary
	if onDatabase() {
		parallel = chosen().parallel
	}
	// The command line's value is applied after this.
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := common.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "the service that tests share:", err)
		code = max(code, 1)
	}
	return code
}

// world is one service with a client, a receiver and a bus connection.
type world struct {
	*harness.Service

	namespace string
	api       *client.Client
	receiver  *receiver.Receiver
	tap       *tap.Tap
}

// common is the service of all tests that neither stop nor break it. Each test has its namespace.
var common shared

type shared struct {
	once    sync.Once
	folder  string
	service *harness.Service
	err     error
}

func (s *shared) start() (*harness.Service, error) {
	s.once.Do(func() {
		if s.folder, s.err = os.MkdirTemp("", "timerbus-e2e-data-"); s.err != nil {
			return
		}
		var options []harness.Option
		if onDatabase() {
			var store string
			on := chosen()
			if store, s.err = on.make(os.Getenv(testserver.Variable(on.server))); s.err != nil {
				return
			}
			options = append(options, harness.WithArgs("--store", store))
		}
		if s.service, s.err = harness.New(binary, s.folder, options...); s.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s.err = s.service.Start(ctx)
	})
	return s.service, s.err
}

// stop stops it in an orderly way, which is also a test.
func (s *shared) stop() error {
	if s.service == nil {
		return s.err
	}
	defer os.RemoveAll(s.folder)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	code, err := s.service.Stop(ctx)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d after SIGTERM\n%s", code, s.service.Log())
	}
	return err
}

// onShared returns a world on the common service, in a new namespace for this test.
func onShared(t *testing.T) *world {
	t.Helper()
	service, err := common.start()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Service: service, namespace: strings.NewReplacer("/", ".", "_", "-").Replace(t.Name())}
	w.connect(t)
	if _, err := w.api.CreateNamespace(t.Context(), client.CreateNamespaceRequest{Name: w.namespace, NumShards: 4}); err != nil {
		t.Fatal(err)
	}
	return w
}

// startOwn starts a service for this test alone.
func startOwn(t *testing.T, options ...harness.Option) *world {
	t.Helper()
	w := &world{Service: newService(t, t.TempDir(), options...), namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.connect(t)
	return w
}

// newService returns a service that is closed at the end of the test. Its log is printed if the test failed.
func newService(t *testing.T, data string, options ...harness.Option) *harness.Service {
	t.Helper()
	if data != "" && onDatabase() {
		options = append(options, harness.WithArgs("--store", chosen().of(t, data)))
	}
	s, err := harness.New(binary, data, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log of the service:\n%s", s.Log())
		}
	})
	return s
}

func (w *world) connect(t *testing.T) {
	t.Helper()
	w.connectAPI(t)
	w.connectTap(t)
}

// connectAPI is connect without the bus.
func (w *world) connectAPI(t *testing.T) {
	t.Helper()
	var err error
	// One try, so that tests see every answer.
	if w.api, err = client.New(w.URL(), client.WithRetry(1, 0)); err != nil {
		t.Fatal(err)
	}
	if w.receiver, err = receiver.Start(nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.receiver.Close() })
}

// connectTap opens a new bus connection for the world. After a kill that is more reliable than the old connection,
// because the reconnection of clients is not tested here.
func (w *world) connectTap(t *testing.T) {
	t.Helper()
	var err error
	if w.tap, err = tap.Connect(w.NATSURL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.tap.Close)
}

// within returns the test's context with a timeout.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// create creates a timer in the world's namespace that calls its receiver. changes change the request.
func (w *world) create(t *testing.T, id string, in time.Duration, changes ...func(*client.CreateTimerRequest)) client.Written {
	t.Helper()
	r := client.CreateTimerRequest{
		Namespace: w.namespace, ID: id, ExecuteIn: in.String(), CallbackURL: w.receiver.URL, RetryPolicy: quick(2),
	}
	for _, change := range changes {
		change(&r)
	}
	written, err := w.api.CreateTimer(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// quick is a retry policy with short intervals.
func quick(attempts int) client.RetryPolicyInput {
	return client.RetryPolicyInput{
		MaxAttempts: client.Set(attempts), InitialInterval: client.Set("100ms"), MaxInterval: client.Set("500ms"),
	}
}

func (w *world) selection(id string) client.TimerSelection {
	return client.TimerSelection{Namespace: w.namespace, ID: id}
}

// calls waits for the first n callbacks of a timer.
func (w *world) calls(t *testing.T, id string, n int) []receiver.Call {
	t.Helper()
	calls, err := w.receiver.Await(within(t, patience), w.namespace, id, n)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// reaches waits until a timer satisfies is, and returns it.
func (w *world) reaches(t *testing.T, id string, is func(*client.Timer) bool) client.Timer {
	t.Helper()
	ctx := within(t, patience)
	for {
		timer, err := w.api.GetTimer(ctx, w.selection(id))
		switch {
		case client.IsCode(err, client.CodeTimerNotFound): // a topic command may not be applied yet
		case err != nil:
			t.Fatalf("timer %s: %v; last seen: %s %s", id, err, timer.Status, timer.LastError)
		case is(&timer):
			return timer
		}
		pause(ctx, 20*time.Millisecond)
	}
}

func isStatus(s client.Status) func(*client.Timer) bool {
	return func(t *client.Timer) bool { return t.Status == s }
}

// pause waits between two polls.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// reply is an HTTP answer as received.
type reply struct {
	status int
	header http.Header
	body   string
}

// field returns a member of a JSON body, by a path with dots.
func (r *reply) field(t *testing.T, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(r.body), &value); err != nil {
		t.Fatalf("%q is not JSON: %v", r.body, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

// post sends a body as given. NS at the beginning of a string in it is replaced by the world's namespace.
func (w *world) post(t *testing.T, path, body string, headers ...string) *reply {
	t.Helper()
	return w.do(t, http.MethodPost, "/api/v1/"+path, strings.ReplaceAll(body, `"NS`, `"`+w.namespace), headers...)
}

func (w *world) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &reply{status: response.StatusCode, header: response.Header, body: string(text)}
}
