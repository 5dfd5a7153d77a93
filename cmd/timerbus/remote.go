package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/client"
)

// defaultURL is the address on which `timerbus dev` listens by default.
const defaultURL = "http://127.0.0.1:8080"

// remote has the flags of every command that is a client of a running service.
type remote struct {
	url, token string
	tls        clientTLS
	json       bool
}

func (r *remote) flags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&r.url, "url", "", "URL of the service (default $TIMERBUS_URL, else "+defaultURL+")")
	c.PersistentFlags().StringVar(&r.token, "token", "",
		"token of the service or of an API key (default $TIMERBUS_TOKEN, or the file $TIMERBUS_TOKEN_FILE)")
	for _, file := range []struct {
		to                    *string
		flag, variable, usage string
	}{
		{&r.tls.ca, "ca", "TIMERBUS_CA", "PEM file with the authorities of the service's certificate"},
		{&r.tls.cert, "client-cert", "TIMERBUS_CLIENT_CERT", "PEM file with a client certificate"},
		{&r.tls.key, "client-key", "TIMERBUS_CLIENT_KEY", "PEM file with the key of the client certificate"},
	} {
		c.PersistentFlags().StringVar(file.to, file.flag, os.Getenv(file.variable), file.usage+" (or $"+file.variable+")")
	}
	c.PersistentFlags().BoolVar(&r.json, "json", false, "print the API's JSON")
}

func (r *remote) client() (*client.Client, error) {
	token, err := process.Secret("TOKEN")
	if err != nil {
		return nil, usageError{err}
	}
	connection, err := r.tls.client()
	if err != nil {
		return nil, err
	}
	c, err := client.New(
		cmp.Or(r.url, os.Getenv("TIMERBUS_URL"), defaultURL),
		client.WithToken(cmp.Or(r.token, token)), client.WithHTTPClient(connection),
		client.WithUserAgent("timerbus-cli/"+version),
	)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}
