package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

// Service is a running `timerbus dev`.
type Service struct {
	*Process

	API, NATS string
	// Up is the time from the start to the first answer.
	Up time.Duration
}

const (
	// startPatience bounds a start.
	startPatience = time.Minute
	askEvery      = time.Millisecond
)

var banner = regexp.MustCompile(`HTTP API +(http://\S+)\n +(?:NATS +(nats://\S+)|bus )`)

// StartService starts a service and waits until it is ready.
func StartService(ctx context.Context, binary string, args []string) (_ *Service, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errors.New("the service did not become ready"))
	defer cancel()
	began := time.Now()
	p, err := Start("the service", binary, nil, args...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Stop())
		}
	}()
	found, err := p.See(ctx, banner)
	if err != nil {
		return nil, err
	}
	s := &Service{Process: p, API: found[1], NATS: found[2]}
	for {
		if err = ready(ctx, s.API); err == nil {
			s.Up = time.Since(began)
			return s, nil
		}
		again := time.NewTimer(askEvery)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func ready(ctx context.Context, api string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}
