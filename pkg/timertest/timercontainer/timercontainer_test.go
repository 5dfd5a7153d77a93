package timercontainer_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/testcontainers/testcontainers-go"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest/timercontainer"
)

const patience = time.Minute

// image returns the image to test, which `make e2e-containers` builds.
func image(t *testing.T) string {
	t.Helper()
	name := os.Getenv("TIMERBUS_TEST_IMAGE")
	if name == "" {
		t.Skip("TIMERBUS_TEST_IMAGE is not set: make e2e-containers builds the image and runs this test on a Docker engine")
	}
	return name
}

// receiver listens on all addresses of the machine and sends the ids of timers that it is called for.
func receiver(t *testing.T) (url string, calls <-chan string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	ids := make(chan string, 100)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ids <- strings.TrimPrefix(r.URL.Path, "/")
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	at, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("address %v", listener.Addr())
	}
	return timercontainer.ReceiverURL(at.Port, "/"), ids
}

func await(t *testing.T, calls <-chan string, id string) {
	t.Helper()
	for end := time.After(patience); ; {
		select {
		case got := <-calls:
			if got == id {
				return
			}
		case <-end:
			t.Fatalf("%s was not called", id)
		}
	}
}

// TestContainer: timers fire, and survive kill -9 and a restart, because the data is in a volume.
func TestContainer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	volume := fmt.Sprintf("timercontainer-%d", time.Now().UnixNano())
	began := time.Now()
	service, err := timercontainer.Run(ctx, image(t), testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
		c.Mounts = append(c.Mounts, mount.Mount{Type: mount.TypeVolume, Source: volume, Target: "/data"})
	}))
	testcontainers.CleanupContainer(t, service, testcontainers.RemoveVolumes(volume))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
	url, calls := receiver(t)
	create := func(id, in string) {
		t.Helper()
		api, err := service.Client(ctx)
		if err == nil {
			_, err = api.CreateTimer(ctx, client.CreateTimerRequest{ID: id, ExecuteIn: in, CallbackURL: url + id})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	create("first", "100ms")
	await(t, calls, "first")

	create("over-kill", "3s")
	if id := service.GetContainerID(); id == "" {
		t.Fatal("no id")
	}
	kill := time.Duration(0)
	if err := service.Stop(ctx, &kill); err != nil { // a timeout of 0 is kill -9
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // the timer is due while the service is down
	if err := service.Start(ctx); err != nil {
		t.Fatal(err)
	}
	await(t, calls, "over-kill")

	create("over-stop", "2s")
	if err := service.Stop(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := service.Start(ctx); err != nil {
		t.Fatal(err)
	}
	await(t, calls, "over-stop")

	base, err := service.URL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := client.New(base, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.GetTimer(ctx, client.TimerSelection{ID: "first"}); err == nil || !strings.Contains(err.Error(), "UNAUTHORIZED") {
		t.Errorf("without the token: %v", err)
	}
	if nats, err := service.NATSURL(ctx); err != nil || !strings.HasPrefix(nats, "nats://"+service.Token()+"@") {
		t.Errorf("NATS at %q, %v", nats, err)
	}
}

// TestASettingIsRefused: testcontainers prints the log of the container, which names the setting.
func TestASettingIsRefused(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	service, err := timercontainer.Run(ctx, image(t), timercontainer.WithToken("open-sesame"),
		testcontainers.WithEnv(map[string]string{"TIMERBUS_PARTITIONS": "many"}))
	testcontainers.CleanupContainer(t, service)
	if err == nil || !strings.Contains(err.Error(), "exited with code 2") {
		t.Errorf("%v, want an error with the exit code", err)
	}
	if service.Token() != "open-sesame" {
		t.Errorf("token %q", service.Token())
	}
}

func TestReceiverURL(t *testing.T) {
	if got := timercontainer.ReceiverURL(9000, "/hook"); got != "http://host.docker.internal:9000/hook" {
		t.Error(got)
	}
}
