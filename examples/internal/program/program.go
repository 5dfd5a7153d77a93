// Package program starts and stops a program with a Timerbus inside, for all examples.
//
// It imports pkg/timerbus, like the examples, and contains nothing that an example demonstrates.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// patience is the time limit of an example, which should need only seconds.
const patience = time.Minute

// Main runs an example and ends the process. An example prints to out.
func Main(example func(ctx context.Context, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := example(ctx, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:revive // it is the end of main.
	}
}

// InMemory runs a Timerbus whose timers are lost when the process ends. Otherwise it is like Timerbus.
func InMemory(ctx context.Context, o timerbus.Options, topics ...string) (_ *timerbus.Service, stop func() error, err error) {
	return Timerbus(ctx, memstore.NewDatabaseAt(timer.SystemClock).Open(), membus.New(membus.Options{}).Join("example"), o, topics...)
}

// Timerbus runs a Timerbus until stop, which waits for its end and closes store and bus. The service is ready when Timerbus
// returns, because Pub/Subs in memory drop messages that are published before the first subscription. Timers may use the
// topics.
func Timerbus(
	ctx context.Context, s store.Store, b bus.Bus, o timerbus.Options, topics ...string,
) (_ *timerbus.Service, stop func() error, err error) {
	o.CallbackAllow = "loopback"
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	service, err := timerbus.New(ctx, s, b, o)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close(), s.Close())
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- service.Run(running) }()
	stop = func() error {
		end()
		err := <-ended
		if errors.Is(err, timerbus.ErrNotDrained) {
			return err // a part of the service still uses the bus and the store
		}
		return errors.Join(err, b.Close(), s.Close())
	}
	if err := prepare(ctx, service, topics); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return service, stop, nil
}

func prepare(ctx context.Context, service *timerbus.Service, topics []string) error {
	if err := ready(ctx, service.URL()); err != nil || len(topics) == 0 {
		return err
	}
	_, err := service.Client().UpdateNamespace(ctx, client.UpdateNamespaceRequest{
		Name: "default", Settings: client.NamespaceSettingsInput{EventTopics: client.Set(topics)},
	})
	return err
}

func ready(ctx context.Context, url string) error {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		again := time.NewTimer(20 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", ctx.Err())
		}
	}
}
