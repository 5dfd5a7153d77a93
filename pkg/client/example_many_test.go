package client_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest"
)

// These examples run against a real service in the test process.

func ExampleClient_BatchCreateTimers() {
	ctx := context.Background()
	bus, err := timertest.Open(ctx, timertest.InMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()

	results, err := bus.Client.BatchCreateTimers(ctx, []client.CreateTimerRequest{
		{ID: "order-17", ExecuteIn: "15m", CallbackURL: "https://shop.example/expire"},
		{ID: "order-18", ExecuteIn: "15m", CallbackURL: "shop.example/expire"},
		{ID: "order-19", ExecuteIn: "15m"},
	})
	if err != nil {
		fmt.Println(err) // it is unknown whether any of them was created
		return
	}
	for i, r := range results {
		if r.Err != nil {
			fmt.Println(i, r.Err.Code, r.Err.Details["field"])
			continue
		}
		fmt.Println(i, "created", r.ID)
	}
	// Output:
	// 0 created order-17
	// 1 INVALID_INPUT timers[1].callbackUrl
	// 2 created order-19
}

func ExampleBatcher() {
	ctx := context.Background()
	bus, err := timertest.Open(ctx, timertest.InMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()

	batcher := client.NewBatcher(bus.Client, client.BatcherOptions{})
	var requests sync.WaitGroup
	for i := range 100 { // for example, the handlers of a web server
		requests.Go(func() {
			_, err := batcher.CreateTimer(ctx, client.CreateTimerRequest{
				ID: fmt.Sprintf("session-%d", i), ExecuteIn: "30m", OnConflict: client.Keep,
			})
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	requests.Wait()
	if err := batcher.Close(ctx); err != nil {
		fmt.Println(err)
	}

	last, err := bus.Client.GetTimer(ctx, client.TimerSelection{TimerID: "session-99"})
	fmt.Println(last.Status, err)
	// Output: scheduled <nil>
}

func ExampleClient_DeleteAllMatching() {
	ctx := context.Background()
	bus, err := timertest.Open(ctx, timertest.InMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()
	for i := range 5 {
		if _, err := bus.Client.CreateTimer(ctx, client.CreateTimerRequest{
			ID: fmt.Sprint("reminder-", i), ExecuteIn: "1h", CorrelationID: "customer-7",
		}); err != nil {
			fmt.Println(err)
			return
		}
	}

	total, err := bus.Client.DeleteAllMatching(ctx,
		client.DeleteMatchingRequest{Namespace: "default", CorrelationID: "customer-7", Limit: 2},
		func(so client.MatchingTotal) { fmt.Println("deleted", so.Applied) })
	if err != nil {
		fmt.Println("continue later at", total.Cursor, err)
		return
	}
	fmt.Println(total.Applied, "in all,", total.Late, "of them late")
	// Output:
	// deleted 2
	// deleted 4
	// deleted 5
	// 5 in all, 0 of them late
}
