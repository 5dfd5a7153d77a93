package runtime

import (
	"context"
	"sync"
)

// Rounds calls serve until it returns while ctx lives and the channel from next is still open. When that channel is
// closed, the round's context ends, and once serve has returned the next round begins, with a new channel. A nil
// channel is never closed. next may wait for the moment at which the round may begin; it returns early if its context ends.
func Rounds(ctx context.Context, next func(ctx context.Context) <-chan struct{}, serve func(ctx context.Context) error) error {
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
