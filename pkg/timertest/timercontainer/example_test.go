package timercontainer_test

import (
	"context"
	"fmt"

	"github.com/testcontainers/testcontainers-go"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timertest/timercontainer"
)

// A test would call testcontainers.CleanupContainer(t, service) instead of TerminateContainer.
func Example() { //nolint:testableexamples // it needs a Docker engine and the image
	ctx := context.Background()
	service, err := timercontainer.Run(ctx, "ghcr.io/timerbus/timerbus:0.2.0")
	defer func() { _ = testcontainers.TerminateContainer(service) }()
	if err != nil {
		fmt.Println(err)
		return
	}
	api, err := service.Client(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = api.CreateTimer(ctx, client.CreateTimerRequest{
		ID: "order-17", ExecuteIn: "1s", CallbackURL: timercontainer.ReceiverURL(9000, "/expire"),
	})
	fmt.Println(err)
}
