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

// load is a number of like requests over some connections.
type load struct {
	target      *Target
	path        string
	connections int
	requests    int
	// rate is how many requests a second are meant to go out, whatever the answers do; 0: the next one
	// goes out when the last was answered.
	rate float64
	// body appends the body of a request.
	body func(to []byte, i int) []byte
	// check judges an answer with a good status; nil takes all.
	check func(answer []byte) error
	// done counts answers, for whoever looks on.
	done *atomic.Int64
}

// loaded is what became of a load.
type loaded struct {
	took time.Duration
	// latencies are sorted. With a rate they count from when the request was meant to go out, so that
	// a service that stands still for a second is seen by all who would have come meanwhile.
	latencies samples
}

func (l loaded) rate(each int) float64 {
	return float64(len(l.latencies)*each) / l.took.Seconds()
}

// run sends everything and stops at the first failure.
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
	// Whoever cancels does not wait for answers.
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

// allTaken checks the answer to a batch, without reading each result.
func allTaken(answer []byte) error {
	if bytes.Contains(answer, []byte(`"failed":0,`)) || bytes.Contains(answer, []byte(`"failed":0}`)) {
		return nil
	}
	return fmt.Errorf("items were refused: %s", answer[:min(len(answer), 600)])
}
