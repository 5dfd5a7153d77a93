package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/pkg/runtime"
)

// serverPart serves until it is stopped, and then finishes the accepted requests. It closes connections whose requests
// do not finish within patience, because a client that never stops sending must not use up the drain time of the other
// parts.
func serverPart(server *http.Server, l net.Listener, patience time.Duration) runtime.Part {
	return runtime.Part{
		Name: "http",
		Run: func(context.Context) error {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
		Stop: func(ctx context.Context) error {
			patient, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			err := server.Shutdown(patient)
			if err == nil {
				return nil
			}
			if patient.Err() != nil && ctx.Err() == nil {
				err = nil
			}
			return errors.Join(err, server.Close())
		},
	}
}
