// Command delivery shows options of a timer's delivery: a custom request, a timer that expires because its receiver is down, and
// the call of a URL when a timer has finished.
//
// It imports Timerbus like a user's program. main.go is the whole example.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

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

	said := make(chan string)
	mux := http.NewServeMux()
	// An API that knows nothing of Timerbus.
	mux.HandleFunc("PUT /orders/{id}", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said <- fmt.Sprintf("%s %s, %s: %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"), body)
	})
	mux.HandleFunc("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	// The payload of a call when a timer has finished is the result of its last attempt.
	mux.HandleFunc("/finished", func(_ http.ResponseWriter, r *http.Request) {
		var call struct {
			Payload struct {
				TimerID string `json:"timerId"`
				Outcome string `json:"outcome"`
			} `json:"payload"`
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			said <- err.Error()
			return
		}
		said <- call.Payload.TimerID + " is " + call.Payload.Outcome
	})
	receiver := httptest.NewServer(mux)
	defer receiver.Close()

	for _, timer := range []client.CreateTimerRequest{
		{
			ID: "order-17", ExecuteIn: "0s", CallbackURL: receiver.URL + "/orders/17", OnDone: receiver.URL + "/finished",
			Request: client.TimerRequest{Method: "PUT", Body: new("state=expired"), ContentType: "application/x-www-form-urlencoded"},
		},
		{ID: "otp-17", ExecuteIn: "0s", CallbackURL: receiver.URL + "/down", ExpireAfter: "500ms", OnDead: receiver.URL + "/finished"},
	} {
		if _, err := service.Client().CreateTimer(ctx, timer); err != nil {
			return err
		}
	}
	for range 3 {
		select {
		case text := <-said:
			fmt.Fprintln(out, text)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
