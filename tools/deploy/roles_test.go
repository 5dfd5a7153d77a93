package deploy

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// serviceLinks are variables that the kubelet sets for Services of the namespace in pods whose enableServiceLinks is not false, such
// as those of an operator's manifests.
var serviceLinks = []string{
	"TIMERBUS_INGEST_SERVICE_HOST=10.96.0.7", "TIMERBUS_INGEST_SERVICE_PORT=8080", "TIMERBUS_INGEST_SERVICE_PORT_HTTP=8080",
	"TIMERBUS_INGEST_PORT=tcp://10.96.0.7:8080", "TIMERBUS_INGEST_PORT_8080_TCP=tcp://10.96.0.7:8080",
	"TIMERBUS_INGEST_PORT_8080_TCP_PROTO=tcp", "TIMERBUS_INGEST_PORT_8080_TCP_PORT=8080", "TIMERBUS_INGEST_PORT_8080_TCP_ADDR=10.96.0.7",
	"TIMERBUS_SERVICE_HOST=10.96.0.8", "TIMERBUS_SERVICE_PORT=80", "TIMERBUS_PORT=tcp://10.96.0.8:80",
}

// buildTimerbus returns the path of the program.
func buildTimerbus(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "timerbus")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", path, "./cmd/timerbus")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// environ returns the variables of a container as the kubelet sets them. secret has the values of the Secret by key.
func environ(c *corev1.Container, secret map[string]string) []string {
	all := slices.Clone(serviceLinks)
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			value = secret[e.ValueFrom.SecretKeyRef.Key]
		}
		all = append(all, e.Name+"="+value)
	}
	return all
}

// TestChartRolesAcceptTheirSettings: the program knows the variables of every Deployment and accepts their values.
func TestChartRolesAcceptTheirSettings(t *testing.T) {
	timerbus, c := buildTimerbus(t), loadChart(t)
	const store, bus, key = "postgres://u:p@db/timerbus", "nats://token@nats:4222", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	secret := map[string]string{
		"store": store, "bus": bus, "token": "t", "STORE_URL": store, "BUS_URL": bus, "TOKEN": "t", "SECRET_KEY": key,
	}
	for set, values := range valueSets {
		r, err := render(t, c, values, "1.34.0")
		if err != nil {
			t.Fatal(err)
		}
		all := decode(t, r)
		for name := range all {
			if !strings.HasPrefix(name, "Deployment ") {
				continue
			}
			container := &get[appsv1.Deployment](t, all, name).Spec.Template.Spec.Containers[0]
			config := exec.CommandContext(t.Context(), timerbus, append([]string{"config"}, container.Args...)...)
			config.Env = environ(container, secret)
			if out, err := config.CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v\n%s", set, name, err, out)
			}
		}
	}
}

// TestChartRolesOnServers runs the migration and the roles as the chart starts them, on a real database and bus, without Kubernetes:
// their arguments, variables, probes and grace periods. A timer fires.
func TestChartRolesOnServers(t *testing.T) {
	store, bus := os.Getenv("TIMERBUS_TEST_POSTGRES"), os.Getenv("TIMERBUS_TEST_NATS")
	if os.Getenv(kubeconfigVariable) == "" || store == "" || bus == "" {
		t.Skip("`make e2e-helm` starts the servers")
	}
	timerbus := buildTimerbus(t)
	secret := map[string]string{"store": store, "bus": bus, "token": "hunter2"}
	r, err := render(t, loadChart(t), "{existingSecret: s, settings: {callback-allow: loopback}}", "1.34.0")
	if err != nil {
		t.Fatal(err)
	}
	all := decode(t, r)

	job := &get[batchv1.Job](t, all, "Job demo-timerbus-migrate").Spec.Template.Spec.Containers[0]
	migrate := exec.CommandContext(t.Context(), timerbus, job.Args...)
	migrate.Env = environ(job, secret)
	out, err := migrate.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s: %s", strings.Join(job.Args, " "), bytes.TrimSpace(out))

	running := map[string]*rolePod{}
	for _, role := range roles {
		running[role] = startRole(t, timerbus, &get[appsv1.Deployment](t, all, "Deployment demo-timerbus-"+role).Spec.Template.Spec, secret)
	}
	for _, role := range roles {
		running[role].awaitReady(t)
	}

	fired := make(chan time.Time, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fired <- time.Now() }))
	t.Cleanup(receiver.Close)
	create := exec.CommandContext(t.Context(), timerbus, "timer", "create", "hello", "--in", "1s", "--callback-url", receiver.URL,
		"--url", "http://"+running["ingest"].address, "--token", "hunter2")
	create.Env = serviceLinks
	begun := time.Now()
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	select {
	case at := <-fired:
		t.Logf("a timer of 1 s has fired after %d ms", at.Sub(begun).Milliseconds())
	case <-time.After(15 * time.Second):
		t.Fatal("the timer has not fired within 15 s")
	}
	for _, role := range slices.Sorted(maps.Keys(running)) {
		running[role].terminate(t)
	}
}

// rolePod is the process of a container, and the pod that describes it.
type rolePod struct {
	pod       *corev1.PodSpec
	container *corev1.Container
	address   string
	process   *exec.Cmd
	log       *bytes.Buffer
	ended     chan error
}

func startRole(t *testing.T, timerbus string, pod *corev1.PodSpec, secret map[string]string) *rolePod {
	t.Helper()
	// All pods have port 8080, each at its own address. Here they have one address.
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &rolePod{pod: pod, container: &pod.Containers[0], address: l.Addr().String(), log: new(bytes.Buffer), ended: make(chan error, 1)}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p.process = exec.Command(timerbus, p.container.Args...)
	p.process.Env = append(environ(p.container, secret), "TIMERBUS_LISTEN="+p.address)
	p.process.Stdout, p.process.Stderr = p.log, p.log
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.process.Wait() }()
	t.Cleanup(func() { _ = p.process.Process.Kill() })
	return p
}

// probe asks as the kubelet does: without a token, at most for the timeout of the probe.
func (p *rolePod) probe(ctx context.Context, probe *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(probe.TimeoutSeconds)*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+probe.HTTPGet.Path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", probe.HTTPGet.Path, response.Status)
	}
	return nil
}

// awaitReady waits until all probes succeed, at most as long as the startup probe does.
func (p *rolePod) awaitReady(t *testing.T) {
	t.Helper()
	for _, probe := range []*corev1.Probe{p.container.StartupProbe, p.container.LivenessProbe, p.container.ReadinessProbe} {
		var err error
		limit := time.Duration(p.container.StartupProbe.PeriodSeconds*p.container.StartupProbe.FailureThreshold) * time.Second
		for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
			if err = p.probe(t.Context(), probe); err == nil {
				break
			}
			if len(p.ended) > 0 || time.Now().After(deadline) {
				t.Fatalf("%s: %v\n%s", p.container.Name, err, p.log)
			}
		}
	}
}

// terminate stops the process as the kubelet does, which kills it after the grace period.
func (p *rolePod) terminate(t *testing.T) {
	t.Helper()
	begun := time.Now()
	if err := p.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err != nil {
			t.Errorf("%s: %v\n%s", p.container.Name, err, p.log)
		}
		t.Logf("%s has stopped after %d ms, it has %d s", p.container.Name, time.Since(begun).Milliseconds(), *p.pod.TerminationGracePeriodSeconds)
	case <-time.After(time.Duration(*p.pod.TerminationGracePeriodSeconds) * time.Second):
		t.Errorf("%s has not stopped within its grace period of %d s\n%s", p.container.Name, *p.pod.TerminationGracePeriodSeconds, p.log)
	}
}
