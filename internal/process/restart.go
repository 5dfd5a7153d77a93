package process

import (
	"context"
	"sync"
)

// RestartOnSignal runs serve in rounds. When the channel from next is closed, it cancels the round's context, and after
// serve has returned it begins the next round with a new channel. It returns if serve fails or returns before its round
// ends, or when ctx ends. A nil channel is never closed. next may wait until the next round may begin; it must return
// early if its context ends.
func RestartOnSignal(ctx context.Context, next func(ctx context.Context) <-chan struct{}, serve func(ctx context.Context) error) error {
	for {
		round, end := context.WithCancel(ctx)
		over := next(ctx)
		var watcher sync.WaitGroup
		watcher.Go(func() {
			select {
			case <-over:
				end()
			case <-round.Done():
			}
		})
		err := serve(round)
		ended := round.Err() != nil
		end()
		watcher.Wait()
		if err != nil || !ended || ctx.Err() != nil {
			return err
		}
	}
}
