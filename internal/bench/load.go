package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load is a number of similar requests over several connections.
type load struct {
	target      *Target
	path        string
	connections int
	requests    int
	// rate is the number of requests per second to send, independent of the answers. With 0, a connection sends the
	// next request when the previous one was answered.
	rate float64
	// body appends the body of the i-th request.
	body func(to []byte, i int) []byte
	// check validates the body of a 2xx answer; nil accepts all.
	check func(answer []byte) error
	// done counts answers, for the progress display.
	done *atomic.Int64
}

// loaded is the result of a load.
type loaded struct {
	took time.Duration
	// latencies are sorted. With a rate they are measured from the time at which the request was scheduled, so that a
	// stall of the service is included in the latency of every request scheduled during the stall.
	latencies samples
}

func (l loaded) rate(each int) float64 {
	return float64(len(l.latencies)*each) / l.took.Seconds()
}

// run sends all requests and stops at the first failure.
func (l *load) run(ctx context.Context) (loaded, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conns, err := l.connect(ctx)
	defer func() {
		for _, c := range conns {
			c.close()
		}
	}()
	if err != nil {
		return loaded{}, err
	}
	var next atomic.Int64
	perWorker := make([]samples, len(conns))
	began := time.Now()
	var workers sync.WaitGroup
	for i, c := range conns {
		workers.Go(func() {
			taken, err := l.work(ctx, c, &next, began)
			perWorker[i] = taken
			if err != nil {
				cancel(fmt.Errorf("%s: %w", l.path, err))
			}
		})
	}
	workers.Wait()
	result := loaded{took: time.Since(began), latencies: slices.Concat(perWorker...)}
	if err := context.Cause(ctx); err != nil {
		return loaded{}, err
	}
	slices.Sort(result.latencies)
	return result, nil
}

func (l *load) connect(ctx context.Context) ([]*conn, error) {
	conns := make([]*conn, 0, l.connections)
	for range min(l.connections, l.requests) {
		c, err := l.target.dial(ctx)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func (l *load) work(ctx context.Context, c *conn, next *atomic.Int64, began time.Time) (samples, error) {
	// Close the connection when ctx ends, so that work does not wait for the answer.
	stop := context.AfterFunc(ctx, c.close)
	defer stop()
	head := l.target.head(l.path)
	taken := make(samples, 0, l.requests/l.connections+l.requests/8/l.connections+1)
	var body []byte
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		i := int(next.Add(1)) - 1
		if i >= l.requests || ctx.Err() != nil {
			return taken, nil
		}
		body = l.body(body[:0], i)
		sent := time.Now()
		if l.rate > 0 {
			meant := began.Add(time.Duration(float64(i) / l.rate * float64(time.Second)))
			if ahead := meant.Sub(sent); ahead > 0 {
				pause.Reset(ahead)
				select {
				case <-pause.C:
				case <-ctx.Done():
					return taken, nil
				}
			}
			sent = meant
		}
		status, answer, err := c.post(head, body)
		switch {
		case err != nil:
			return taken, err
		case status/100 != 2:
			return taken, refused(status, answer)
		case l.check != nil:
			if err := l.check(answer); err != nil {
				return taken, err
			}
		}
		taken = append(taken, time.Since(sent))
		l.done.Add(1)
	}
}

// allTaken checks the answer to a batch without decoding the results.
func allTaken(answer []byte) error {
	if bytes.Contains(answer, []byte(`"failed":0,`)) || bytes.Contains(answer, []byte(`"failed":0}`)) {
		return nil
	}
	return fmt.Errorf("items were refused: %s", answer[:min(len(answer), 600)])
}
