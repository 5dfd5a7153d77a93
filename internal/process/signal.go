package process

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that ends at the first SIGINT or SIGTERM, which is its cause. At the second signal it
// calls again, which should end the process immediately. release restores the default handling of the signals.
func Interruptible(parent context.Context, again func()) (ctx context.Context, release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := interruptible(parent, signals, again)
	return ctx, func() {
		signal.Stop(signals)
		stop()
	}
}

func interruptible(parent context.Context, signals <-chan os.Signal, again func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	released, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for received := 0; ; received++ {
			select {
			case <-released:
				return
			case s := <-signals:
				if received > 0 {
					again()
				}
				cancel(fmt.Errorf("signal: %v", s))
			}
		}
	}()
	return ctx, func() {
		close(released)
		<-done
		cancel(nil)
	}
}
