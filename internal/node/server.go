package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/internal/process"
)

// httpComponent serves until it is stopped, and then finishes the accepted requests. It closes connections whose
// requests do not finish within shutdownTimeout, because a client that never stops sending must not use up the drain
// time of the other parts.
func httpComponent(server *http.Server, l net.Listener, shutdownTimeout time.Duration) process.Component {
	return process.Component{
		Name: "http",
		Run: func(context.Context) error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		Stop: func(ctx context.Context) error {
			shutdown, cancel := context.WithTimeout(ctx, shutdownTimeout)
			defer cancel()
			err := server.Shutdown(shutdown)
			if err == nil {
				return nil
			}
			if shutdown.Err() != nil && ctx.Err() == nil {
				err = nil
			}
			return errors.Join(err, server.Close())
		},
	}
}
