package timertest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest"
)

// A test would call timertest.Start(t), which returns no error.
func Example() {
	ctx := context.Background()
	bus, err := timertest.Open(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()

	called := make(chan string)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.Header.Get("Content-Type")
		_, _ = io.WriteString(w, `{"ok": true}`)
	}))
	defer hook.Close()

	timer, err := bus.Client.CreateTimer(ctx, client.CreateTimerRequest{
		ID: "order-17", ExecuteIn: "10ms", CallbackURL: hook.URL, Payload: []byte(`{"order": 17}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("set", timer.ID)
	fmt.Println("called with", <-called)
	// Output:
	// set order-17
	// called with application/json
}
