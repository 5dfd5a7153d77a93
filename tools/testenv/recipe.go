//go:build unix

package main

import (
	"context"
	"strings"
)

// recipe describes how to start one kind of server. Each recipe has a separate file.
type recipe struct {
	// name is the name for --need: lower-case letters and digits.
	name string
	// container describes the server as a container; nil if it cannot run as one.
	container *container
	// start starts the server from packages or from an installed program, and returns its address once the server
	// answers. The site stops all processes that start has run at the site, also if start fails.
	start func(ctx context.Context, s *site) (address string, err error)
}

func recipes() []recipe {
	return []recipe{
		postgres(),
		postgres15(),
		kafka(),
		kafka3(),
		dynamodb(),
		dynamodbdisk(),
		nats(),
		nats3(),
		mariadb(),
		mysql(),
		redis(),
		tlc(),
		kubernetes(),
	}
}

// variable returns the environment variable for the address.
func (r *recipe) variable() string { return "TIMERBUS_TEST_" + strings.ToUpper(r.name) }

func names(all []recipe) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].name
	}
	return out
}
