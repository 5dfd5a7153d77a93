//go:build unix

package main

import (
	"context"
	"strings"
)

// recipe says how one kind of server is had. Each has a file of its own.
type recipe struct {
	// name is what --need calls it: small letters and digits.
	name string
	// container is how it runs as a container; nil if it does not.
	container *container
	// start brings it up from packages or from what is installed, and returns its address once it
	// answers. Whatever it runs at the site is stopped by the site, also when start fails.
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
		redis(),
		tlc(),
	}
}

// variable is where the address goes.
func (r *recipe) variable() string { return "TIMERBUS_TEST_" + strings.ToUpper(r.name) }

func names(all []recipe) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].name
	}
	return out
}
