package runtime

import (
	"context"
	"sync"
)

// Rounds calls serve until it returns while ctx lives and the channel from next is still open. When that channel is
// closed, the round's context ends, and once serve has returned the next round begins, with a new channel. A nil
// channel is never closed.
func Rounds(ctx context.Context, next func() <-chan struct{}, serve func(ctx context.Context) error) error {
	for {
		round, end := context.WithCancel(ctx)
		over := next()
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
