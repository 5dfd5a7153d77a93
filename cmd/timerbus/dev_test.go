package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dev starts the whole service on free ports and returns its address.
func dev(t *testing.T, folder string, args ...string) (b *background, api string) {
	t.Helper()
	b = start(t, append([]string{"dev", "--listen", "127.0.0.1:0", "--nats-listen", "", "--data", folder}, args...)...)
	return b, b.see(t, b.stdout, `HTTP API +(http://\S+)`)[1]
}

func post(t *testing.T, url, body, token string, change ...func(*http.Request)) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for _, c := range change {
		c(request)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// TestNewcomer runs the commands of the README's quick start.
func TestNewcomer(t *testing.T) {
	hermetic(t)
	folder := filepath.Join(t.TempDir(), "data ?%#")
	service, api := dev(t, folder)
	receiver := start(t, "receive", "--listen", "127.0.0.1:0", "--fail-first", "1")
	callback := receiver.see(t, receiver.stderr, `receiving on (http://\S+)`)[1]
	t.Setenv("TIMERBUS_URL", api)

	shown := service.see(t, service.stdout, `curl (http://\S+) -d '(.*)'`)
	status, answer := post(t, shown[1], strings.Replace(shown[2], "http://127.0.0.1:9000/", callback, 1), "")
	if status != http.StatusOK {
		t.Fatalf("the banner's curl: %d %s", status, answer)
	}
	got := command(t, "timer", "create", "soon", "--in", "100ms", "--callback-url", callback, "--payload", `"x"`, "--initial-interval", "50ms")
	if got.code != exitOK {
		t.Fatal(got.stderr)
	}
	receiver.see(t, receiver.stdout, `soon +attempt 1 +\d+ ms late  default  "x" → 503`)
	receiver.see(t, receiver.stdout, `soon +attempt 2 +\d+ ms late  default  "x" → 200`)
	if got = command(t, "timer", "history", "soon"); !strings.Contains(got.stdout, "failed") {
		t.Errorf("history: %s%s", got.stdout, got.stderr)
	}
	if code := service.stop(t); code != exitOK {
		t.Errorf("exit code %d: %s", code, service.stderr)
	}
	if !strings.Contains(service.stderr.String(), "draining") {
		t.Errorf("nothing about draining in %s", service.stderr)
	}

	// The data is present after a restart. "hello" has fired by now or waits for its retry.
	_, api = dev(t, folder)
	t.Setenv("TIMERBUS_URL", api)
	if got = command(t, "timer", "get", "hello"); got.code != exitOK || !strings.Contains(got.stdout, "id              hello") {
		t.Errorf("after a restart: %s%s", got.stdout, got.stderr)
	}
	if got = command(t, "namespace", "list"); !strings.Contains(got.stdout, "default  16") {
		t.Errorf("namespaces: %s%s", got.stdout, got.stderr)
	}
}

func TestNoTimeToDrain(t *testing.T) {
	hermetic(t)
	// Not t.TempDir(): abandoned goroutines may still write into the folder while it is removed.
	folder, err := os.MkdirTemp("", "timerbus-undrained-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	b, _ := dev(t, folder, "--drain-timeout", "0s")
	if code := b.stop(t); code != exitFailure || !strings.Contains(b.stderr.String(), "not stopped within the drain timeout") {
		t.Errorf("exit code %d: %s", code, b.stderr)
	}
}

func TestARequestThatNeverEndsLeavesTheOthersTimeToStop(t *testing.T) {
	hermetic(t)
	b, api := dev(t, t.TempDir(), "--drain-timeout", "2s")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(api, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const head = "POST /api/v1/timers/create HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the request has not begun: %q, %v", line, err)
	}
	if code := b.stop(t); code != exitOK {
		t.Fatalf("exit code %d: %s", code, b.stderr)
	}
}

// TestDNSRebinding: a web page whose name resolves to 127.0.0.1 must not reach an API without a token. The browser
// treats its requests as same-origin.
func TestDNSRebinding(t *testing.T) {
	hermetic(t)
	list := func(api, host, token string) (int, string) {
		t.Helper()
		return post(t, api+"/api/v1/timers/list", "{}", token, func(r *http.Request) {
			r.Host = host
			r.Header.Set("Origin", "http://"+host)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		})
	}
	b, api := dev(t, t.TempDir(), "--allowed-hosts", "timers.internal")
	status, answer := list(api, "rebound.example:8080", "")
	if status != http.StatusForbidden || !strings.Contains(answer, "rebound.example:8080") || !strings.Contains(answer, "--allowed-hosts") {
		t.Errorf("a foreign host: %d %s", status, answer)
	}
	for _, host := range []string{"", "localhost:1", "timers.internal"} {
		if status, answer := list(api, host, ""); status != http.StatusOK {
			t.Errorf("host %q: %d %s", host, status, answer)
		}
	}
	b.stop(t)

	// With a token, the Host header is not checked: a web page does not have the token.
	t.Setenv("TIMERBUS_TOKEN", "secret")
	_, api = dev(t, t.TempDir())
	if status, answer := list(api, "rebound.example", "secret"); status != http.StatusOK {
		t.Errorf("with a token: %d %s", status, answer)
	}
}

func TestSettingsFromAFile(t *testing.T) {
	hermetic(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "timerbus.yaml")
	if err := os.WriteFile(file, []byte("partitions: 3\nlog-format: text\nlog-level: debug\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TIMERBUS_CONFIG", file)
	b, _ := dev(t, filepath.Join(folder, "data"))
	b.see(t, b.stderr, `DEBUG partition opened .*partition=2`)
	b.stop(t)
	if !strings.Contains(b.stderr.String(), "DEBUG component stopped") || strings.Contains(b.stderr.String(), "partition=3") {
		t.Errorf("log: %s", b.stderr)
	}
}

func TestTokenGuardsTheAPI(t *testing.T) {
	hermetic(t)
	t.Setenv("TIMERBUS_TOKEN", "secret")
	b, api := dev(t, t.TempDir())
	if strings.Contains(b.stdout.String(), "secret") || !strings.Contains(b.stdout.String(), "Bearer $TIMERBUS_TOKEN") {
		t.Errorf("banner: %s", b.stdout)
	}
	if status, _ := post(t, api+"/api/v1/namespaces/list", "{}", ""); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	if got := command(t, "namespace", "list", "--url", api); got.code != exitOK {
		t.Errorf("with the token: %s", got.stderr)
	}
	if got := command(t, "namespace", "list", "--url", api, "--token", "wrong"); got.code != exitRefused || !strings.Contains(got.stderr, "UNAUTHORIZED") {
		t.Errorf("with a wrong one: %d %s", got.code, got.stderr)
	}
}

func TestMetricsTellWhatWaits(t *testing.T) {
	hermetic(t)
	_, api := dev(t, t.TempDir())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	for _, name := range []string{"timerbus_timers_pending", "timerbus_timers_overdue", "timerbus_clock_offset_seconds", "timerbus_build_info"} {
		if !bytes.Contains(text, []byte("\n"+name)) {
			t.Errorf("no %s among the metrics, %v", name, err)
		}
	}
}

// Each of these conditions produces one line that names the cause, and exit code 1.
func TestWhatIsInTheWay(t *testing.T) {
	hermetic(t)
	folder := t.TempDir()
	dev(t, folder)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	first, _ := dev(t, other, "--partitions", "2")
	first.stop(t)

	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"HTTP port":  {[]string{"--listen", taken}, []string{"--listen " + taken, "port is in use"}},
		"NATS port":  {[]string{"--listen", "127.0.0.1:0", "--nats-listen", taken, "--data", t.TempDir()}, []string{"--nats-listen " + taken, "port is in use"}},
		"folder":     {[]string{"--listen", "127.0.0.1:0", "--nats-listen", "", "--data", folder}, []string{folder, "in use by another process"}},
		"not one":    {[]string{"--listen", "127.0.0.1:0", "--nats-listen", "", "--data", file}, []string{file, "data folder"}},
		"partitions": {[]string{"--listen", "127.0.0.1:0", "--nats-listen", "", "--data", other}, []string{"--partitions 16", other, "the cluster has 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(t, append([]string{"dev"}, c.args...)...)
			lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
			last := lines[len(lines)-1]
			if got.code != exitFailure || !strings.HasPrefix(last, "timerbus: ") || strings.Count(got.stderr, "timerbus: ") != 1 {
				t.Errorf("exit code %d: %s", got.code, got.stderr)
			}
			for _, part := range c.want {
				if !strings.Contains(last, part) {
					t.Errorf("%q does not name %q", last, part)
				}
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	hermetic(t)
	if os.Getuid() == 0 {
		// Permissions do not apply to root; folders cannot be created in /proc.
		got := command(t, "dev", "--listen", "127.0.0.1:0", "--nats-listen", "", "--data", "/proc/timerbus")
		if got.code != exitFailure || !strings.Contains(got.stderr, "data folder /proc/timerbus cannot be created") {
			t.Errorf("exit code %d: %s", got.code, got.stderr)
		}
		return
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	got := command(t, "dev", "--listen", "127.0.0.1:0", "--nats-listen", "", "--data", folder)
	if got.code != exitFailure || !strings.Contains(got.stderr, "data folder "+folder+" cannot be written to") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}
