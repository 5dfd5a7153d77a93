package main

import (
	"fmt"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/internal/process"
)

// banner prints the addresses of the service and the commands to try next.
func (p *program) banner(listening, nats string, config *process.Config) {
	api := "http://" + listening
	if config.TLSCert != "" {
		api = "https://" + listening
	}
	authorization := ""
	if config.Token != "" {
		// The shell expands the variable, so that the token does not appear on the screen.
		authorization = ` -H "Authorization: Bearer $TIMERBUS_TOKEN"`
	}
	bus, data := "NATS      "+nats, "data      "+config.Data
	switch {
	case config.Bus != "":
		bus = "bus       " + backend.Redacted(config.Bus)
	case nats == "":
		bus = "NATS      in this process only"
	}
	if config.Store != "" {
		data = "store     " + backend.Redacted(config.Store)
	}
	page := ""
	if config.UI {
		page = "  web UI    " + api + config.UIPath + "\n"
	}
	fmt.Fprintf(p.stdout, `Timerbus %s

  HTTP API  %s
  %s
  %s
%s  stop      Ctrl-C finishes the work in flight first, a second Ctrl-C exits immediately

In a second terminal, receive callbacks:

  %s receive

In a third one, set a timer:

  curl%s %s/api/v1/timers/create -d '{"id":"hello","executeIn":"3s","callbackUrl":"http://127.0.0.1:9000/","payload":{"hello":"world"}}'

`, version, api, bus, data, page, invocation(), authorization, api)
}
