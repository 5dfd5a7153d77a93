package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// fake is a Timerbus with one timer, "order-17".
func fake() *httptest.Server {
	const timer = `{"namespace":"default","id":"order-17","status":"scheduled",
		"executeAt":"2030-01-31T09:00:00.000Z","generation":"3706188562493276161","attempts":0}`
	mux := http.NewServeMux()
	for path, answer := range map[string]string{
		"create": timer, "get": timer, "update": timer, "list": `{"timers":[` + timer + `]}`,
	} {
		mux.HandleFunc("POST /api/v1/timers/"+path, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, answer)
		})
	}
	mux.HandleFunc("POST /api/v1/timers/delete", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"TIMER_NOT_FOUND","message":"there is no timer \"order-18\" in namespace \"default\"","details":{}}`)
	})
	return httptest.NewServer(mux)
}

func ExampleClient_CreateTimer() {
	server := fake()
	defer server.Close()

	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	timer, err := c.CreateTimer(context.Background(), client.CreateTimerRequest{
		ID:          "order-17",
		ExecuteAt:   client.At(time.Date(2030, 1, 31, 9, 0, 0, 0, time.UTC)),
		CallbackURL: "https://shop.example/expire",
		Payload:     json.RawMessage(`{"order":17}`),
		OnConflict:  client.Keep, // if it is sent twice, it fires once
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(timer.ID, timer.Status, timer.ExecuteAt)
	// Output: order-17 scheduled 2030-01-31T09:00:00.000Z
}

func ExampleClient_UpdateTimer() {
	server := fake()
	defer server.Close()

	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	timer, err := c.UpdateTimer(context.Background(), client.UpdateTimerRequest{
		TimerID:     "order-17",
		ExecuteIn:   "1h",
		Payload:     json.RawMessage("null"), // removes the payload
		CallbackURL: client.Clear[string](),  // removes the callback URL
		Deliver:     client.Set(client.DeliverEvent),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if !timer.InTime {
		fmt.Println("its earlier delivery may have gone out")
	}
	fmt.Println(timer.ID, timer.Status)
	// Output: order-17 scheduled
}

func ExampleIsCode() {
	server := fake()
	defer server.Close()

	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.DeleteTimer(context.Background(), client.DeleteTimerRequest{TimerID: "order-18"})
	fmt.Println(err)
	fmt.Println("already gone:", client.IsCode(err, client.CodeTimerNotFound))
	// Output:
	// timers/delete: there is no timer "order-18" in namespace "default" (TIMER_NOT_FOUND)
	// already gone: true
}

func ExampleClient_AllTimers() {
	server := fake()
	defer server.Close()

	c, err := client.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	for timer, err := range c.AllTimers(context.Background(), client.ListTimersRequest{Namespace: "default"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(timer.ID, timer.Status)
	}
	// Output: order-17 scheduled
}
