package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/client"
)

// defaultURL is the address on which `timerbus dev` listens by default.
const defaultURL = "http://127.0.0.1:8080"

// remote has the flags of every command that is a client of a running service.
type remote struct {
	url, token string
	json       bool
}

func (r *remote) flags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&r.url, "url", "", "URL of the service (default $TIMERBUS_URL, else "+defaultURL+")")
	c.PersistentFlags().StringVar(&r.token, "token", "", "token of the service (default $TIMERBUS_TOKEN)")
	c.PersistentFlags().BoolVar(&r.json, "json", false, "print the API's JSON")
}

func (r *remote) client() (*client.Client, error) {
	c, err := client.New(
		cmp.Or(r.url, os.Getenv("TIMERBUS_URL"), defaultURL),
		client.WithToken(cmp.Or(r.token, os.Getenv("TIMERBUS_TOKEN"))),
		client.WithUserAgent("timerbus-cli/"+version),
	)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
