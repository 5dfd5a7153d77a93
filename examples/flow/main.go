// Command flow shows flow control: a receiver that accepts one request of each tenant at a time, and ten in a second.
//
// It imports Timerbus like a user's program. main.go is the whole example.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/timerbus/timerbus/examples/internal/program"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

func main() { program.Main(run) }

func run(ctx context.Context, out io.Writer) (err error) {
	service, stop, err := program.InMemory(ctx, timerbus.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	var mu sync.Mutex
	running, most := map[string]int{}, map[string]int{}
	called := make(chan struct{}, 20)
	mux := http.NewServeMux()
	mux.HandleFunc("/{tenant}", func(_ http.ResponseWriter, r *http.Request) {
		tenant := r.PathValue("tenant")
		mu.Lock()
		running[tenant]++
		most[tenant] = max(most[tenant], running[tenant])
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		running[tenant]--
		mu.Unlock()
		called <- struct{}{}
	})
	receiver := httptest.NewServer(mux)
	defer receiver.Close()

	api := service.Client()
	_, err = api.UpdateNamespace(ctx, client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{Flows: client.Set([]client.FlowLimit{
			{Pattern: "tenant-*", Rate: client.FlowRate{Count: 10, Per: "1s"}, Concurrency: 1},
		})},
	})
	if err != nil {
		return err
	}
	// A flow key that no pattern matches is refused.
	_, err = api.CreateTimer(ctx, client.CreateTimerRequest{ID: "x", ExecuteIn: "0s", CallbackURL: receiver.URL, FlowKey: "other"})
	fmt.Fprintln(out, err)

	began := time.Now()
	for i := range 10 {
		for _, tenant := range []string{"tenant-1", "tenant-2"} {
			timer := client.CreateTimerRequest{
				ID: fmt.Sprintf("%s-%d", tenant, i), ExecuteIn: "0s", CallbackURL: receiver.URL + "/" + tenant, FlowKey: tenant,
			}
			if _, err := api.CreateTimer(ctx, timer); err != nil {
				return err
			}
		}
	}
	for range 20 {
		select {
		case <-called:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintln(out, "10 timers of each tenant took at least 0.9 s:", time.Since(began) >= 900*time.Millisecond)
	fmt.Fprintln(out, "at the same time, at most:", most["tenant-1"], "and", most["tenant-2"])
	return nil
}
