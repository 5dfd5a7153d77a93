package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/bench"
)

func (p *program) benchReceiveCommand() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use: "receive", Short: "Receive the callbacks of a benchmark in another process", Args: exactly(),
		Long: `Receive the callbacks of timerbus bench --receiver, and count them. Lateness is measured with this
machine's clock. Any client that reaches the address can control the receiver.`,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := (&net.ListenConfig{}).Listen(c.Context(), "tcp", listen)
			if err != nil {
				return cannotListen("--listen", listen, err)
			}
			stop := serveReceiver(l)
			fmt.Fprintf(p.stdout, "http://%s\n", l.Addr())
			<-c.Context().Done()
			return stop()
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:9100", "address, host:port; port 0 selects a free port")
	return c
}

// serveReceiver serves a benchmark's receiver until stop is called.
func serveReceiver(l net.Listener) (stop func() error) {
	receiver := bench.NewReceiver()
	server := newHTTPServer(receiver, nil)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		receiver.Close()
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close() // connections that a caller keeps open
		}
		return errors.Join(err, ended(<-served))
	}
}
