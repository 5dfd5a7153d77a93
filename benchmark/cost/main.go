package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// addressVariable has DynamoDB Local's endpoint, set by tools/testenv.
const addressVariable = "TIMERBUS_TEST_DYNAMODB"

type options struct {
	binary, store string
	timers, alone int
	window        time.Duration
}

// run is the whole program. It returns the exit code: 0 done, 1 failed, 2 invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	f := flag.NewFlagSet("cost", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.binary, "binary", "bin/timerbus", "path of the timerbus binary to measure")
	f.StringVar(&o.store, "store", "", "URL of the store (default: new tables on the DynamoDB Local at $"+addressVariable+")")
	f.IntVar(&o.timers, "timers", 1000, "number of timers that are due within five seconds")
	f.IntVar(&o.alone, "alone", 12, "number of single timers, due five seconds apart")
	o.window = time.Minute
	f.Func("window", "how long to measure idle shards: at least 30s, preferably a multiple of it (default 1m)", func(s string) (err error) {
		o.window, err = timer.ParseDuration(s)
		return err
	})
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	switch {
	case f.NArg() > 0:
		fmt.Fprintf(stderr, "cost: %q is not accepted: want flags only\n", f.Arg(0))
		return 2
	case o.timers < 1 || o.alone < 1 || o.window < 30*time.Second:
		fmt.Fprintln(stderr, "cost: want -timers and -alone of at least 1, and a -window of at least 30s")
		return 2
	}
	if o.store == "" {
		endpoint := os.Getenv(addressVariable)
		if endpoint == "" {
			fmt.Fprintf(stderr, "cost: set -store, or an endpoint in %s: `make bench-dynamodb` starts DynamoDB Local\n", addressVariable)
			return 2
		}
		o.store = fmt.Sprintf("dynamodb://cost-%d?", rand.Uint64()) + url.Values{"region": {"local"}, "endpoint": {endpoint}}.Encode()
	}
	if err := measure(ctx, &o, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "cost: %v\n", err)
		return 1
	}
	return 0
}

const (
	// defaultShards are the shards of namespace "default", moreShards those of the namespace created for comparison.
	defaultShards, moreShards = 16, 256
	// apart is the time between two timers that come alone: longer than a shard needs to become idle.
	apart = 5 * time.Second
	// ahead is the time until the first of the timers that are due together.
	ahead  = 30 * time.Second
	spread = 5 * time.Second
)

func measure(ctx context.Context, o *options, stdout, progress io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "timerbus-cost-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fmt.Fprintf(progress, "starting %s on %s\n", o.binary, o.store)
	s, err := launch(ctx, o.binary, o.store, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m := &measurement{service: s, options: o, progress: progress}

	created, fired, err := m.together(ctx)
	if err != nil {
		return err
	}
	alone, err := m.alone(ctx)
	if err != nil {
		return err
	}
	// Waiting timers cost nothing while their shards are idle; these exist to show that.
	if err := s.create(ctx, "default", "waiting", 100, 24*time.Hour, 0); err != nil {
		return err
	}
	few, err := m.idle(ctx, defaultShards)
	if err != nil {
		return err
	}
	if _, err := s.post(ctx, "namespaces/create", map[string]any{"name": "more", "numShards": moreShards}); err != nil {
		return err
	}
	if err := s.create(ctx, "more", "waiting", 1000, 24*time.Hour, 0); err != nil {
		return err
	}
	many, err := m.idle(ctx, defaultShards+moreShards)
	if err != nil {
		return err
	}

	head(stdout, "per timer", "$/million")
	row(stdout, "created", created, leastCreate)
	row(stdout, fmt.Sprintf("fired and done, %d in %v", o.timers, spread), fired, leastFire)
	row(stdout, "created, fired, done", created.plus(fired), leastCreate.plus(leastFire))
	row(stdout, fmt.Sprintf("created, fired, done: single, %v apart", apart), alone, leastCreate.plus(leastFire))
	shard := many.minus(few).over(moreShards)
	idle(stdout, shard, few.minus(shard.times(defaultShards)))
	notes(stdout, o.window)
	return nil
}

// measurement runs the phases and reads the metrics before and after each.
type measurement struct {
	*service

	options  *options
	progress io.Writer
}

// together measures the creation and the delivery of many timers that are due at nearly the same time.
func (m *measurement) together(ctx context.Context) (created, fired bill, err error) {
	n := m.options.timers
	fmt.Fprintf(m.progress, "%d timers due within %v\n", n, spread)
	if err := m.rest(ctx, defaultShards); err != nil {
		return created, fired, err
	}
	before, err := m.read(ctx)
	if err != nil {
		return created, fired, err
	}
	if err := m.create(ctx, "default", "together", n, ahead, spread); err != nil {
		return created, fired, err
	}
	halfway, err := m.read(ctx)
	if err != nil {
		return created, fired, err
	}
	if err := m.done(ctx, int64(n)); err != nil {
		return created, fired, err
	}
	after, err := m.read(ctx)
	return between(before, halfway).over(float64(n)), between(halfway, after).over(float64(n)), err
}

// alone measures timers of which each is created in an idle cluster. It subtracts the cost of the idle cluster.
func (m *measurement) alone(ctx context.Context) (bill, error) {
	n := m.options.alone
	fmt.Fprintf(m.progress, "%d timers, one every %v\n", n, apart)
	before, err := m.read(ctx)
	if err != nil {
		return bill{}, err
	}
	start := time.Now()
	for i := range n {
		if err := m.create(ctx, "default", fmt.Sprint("alone-", i), 1, time.Second, 0); err != nil {
			return bill{}, err
		}
		if !timer.Sleep(ctx, apart) {
			return bill{}, ctx.Err()
		}
	}
	if err := m.done(ctx, int64(m.options.timers+n)); err != nil {
		return bill{}, err
	}
	after, err := m.read(ctx)
	if err != nil {
		return bill{}, err
	}
	took := between(before, after)
	elapsed := time.Since(start)
	still, err := m.still(ctx)
	if err != nil {
		return bill{}, err
	}
	return took.minus(still.times(elapsed.Hours())).over(float64(n)), nil
}

// idle measures an hour without activity.
func (m *measurement) idle(ctx context.Context, shards float64) (bill, error) {
	fmt.Fprintf(m.progress, "%.0f idle shards, for %v\n", shards, m.options.window)
	if err := m.rest(ctx, shards); err != nil {
		return bill{}, err
	}
	return m.still(ctx)
}

// still measures the window without activity.
func (m *measurement) still(ctx context.Context) (bill, error) {
	before, err := m.read(ctx)
	if err != nil {
		return bill{}, err
	}
	start := time.Now()
	if !timer.Sleep(ctx, m.options.window) {
		return bill{}, ctx.Err()
	}
	after, err := m.read(ctx)
	return between(before, after).over(time.Since(start).Hours()), err
}

// rest waits until all shards are idle, and until the outbox was read for the last time.
func (m *measurement) rest(ctx context.Context, shards float64) error {
	const patience = 3 * time.Minute
	err := m.until(ctx, patience, func() (bool, error) {
		r, err := m.read(ctx)
		return r.atRest == shards, err
	})
	if err != nil {
		return fmt.Errorf("wait until %.0f shards are idle: %w", shards, err)
	}
	timer.Sleep(ctx, 15*time.Second)
	return ctx.Err()
}

// done waits until calls callbacks were made and all shards are idle again.
func (m *measurement) done(ctx context.Context, calls int64) error {
	const patience = 5 * time.Minute
	err := m.until(ctx, patience, func() (bool, error) { return m.called.Load() >= calls, nil })
	if err != nil {
		return fmt.Errorf("received %d of %d callbacks: %w", m.called.Load(), calls, err)
	}
	return m.rest(ctx, defaultShards)
}

// create creates timers that are due after in, spread over over.
func (s *service) create(ctx context.Context, namespace, name string, n int, in, over time.Duration) error {
	const batch = 250
	now := time.Now().UTC()
	for from := 0; from < n; from += batch {
		var timers []map[string]any
		for i := from; i < min(n, from+batch); i++ {
			timers = append(timers, map[string]any{
				"namespace": namespace, "id": fmt.Sprintf("%s-%d", name, i), "callbackUrl": s.hook,
				"executeAt": now.Add(in + over*time.Duration(i)/time.Duration(n)),
				"payload":   map[string]string{"text": fmt.Sprintf("%0190d", i)},
			})
		}
		text, err := s.post(ctx, "timers/batch-create", map[string]any{"timers": timers})
		if err != nil {
			return err
		}
		var answer struct {
			Results []struct {
				Error any `json:"error"`
			} `json:"results"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return err
		}
		for i := range answer.Results {
			if answer.Results[i].Error != nil {
				return fmt.Errorf("create %s-%d: %v", name, from+i, answer.Results[i].Error)
			}
		}
	}
	return nil
}
