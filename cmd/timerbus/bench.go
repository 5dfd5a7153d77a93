package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/internal/bench"
	"github.com/timerbus/timerbus/internal/process"
)

// benchCommand measures a running service. The benchmark module runs it as a separate process.
type benchCommand struct {
	*program

	url, token string
	json       bool
	short      bool
	listen     string
	pid        int
	full       bench.Plan // values of the quantity flags
	options    bench.Options
}

func (p *program) benchCommand() *cobra.Command {
	b := &benchCommand{program: p}
	c := &cobra.Command{
		Use: "bench", Short: "Measure a running service", Args: exactly(),
		Long: "Measure a running service: creates, commands, fires, lateness, CPU and memory.\n\n" + phaseHelp() + `
The timers are created in separate namespaces, and those still pending at the end are deleted. The namespaces
remain: each run of the phase tenants adds 10,000 namespaces (--tenants) to the store. Callbacks go to a receiver
in this process, or to a separate one (timerbus bench receive).`,
		Example: `  timerbus bench                                      a service on this machine
  timerbus bench --nats nats://127.0.0.1:4222         commands through its topic too
  timerbus bench --phases lateness --rate 1000 --for 1m
  timerbus bench --url http://10.0.0.5:8080 --listen 0.0.0.0:9100 --callback-url http://10.0.0.9:9100`,
		RunE: func(c *cobra.Command, _ []string) error { return b.run(c) },
	}
	f := c.Flags()
	f.StringVar(&b.url, "url", "", "URL of the service (default $TIMERBUS_URL, else "+defaultURL+")")
	f.StringVar(&b.token, "token", "", "token of the service (default $TIMERBUS_TOKEN)")
	f.BoolVar(&b.json, "json", false, "print JSON")
	f.BoolVar(&b.short, "short", false, "fewer timers and less time, for a quick look")
	f.StringSliceVar(&b.options.Phases, "phases", nil, "phases to run, separated by commas (default all but fairness, million and tenants)")
	f.StringVar(&b.options.NATS, "nats", "", "URL of the service's bus, for the phase topic, such as nats://127.0.0.1:4222")
	f.StringVar(&b.options.Prefix, "topic-prefix", "timerbus", "prefix of the cluster's topics")
	f.StringVar(&b.options.Namespace, "namespace", "bench", "namespace of the timers, created if it does not exist")
	f.IntVar(&b.options.Shards, "shards", 16, "shards of the namespace when it is created")
	f.StringVar(&b.listen, "listen", "127.0.0.1:0", "address of the receiver in this process; port 0 selects a free port")
	f.StringVar(&b.options.Receiver, "receiver", "", "URL of a separate receiver, such as http://127.0.0.1:9100")
	f.StringVar(&b.options.Callback, "callback-url", "", "URL at which the service reaches the receiver, if it is different")
	f.IntVar(&b.pid, "pid", 0, "process id of the service on this machine, to read its CPU and memory from /proc instead of its metrics")
	f.BoolVar(&b.options.Keep, "keep", false, "do not delete pending timers")
	quantities(c, &b.full)
	c.AddCommand(p.benchReceiveCommand())
	return c
}

func phaseHelp() string {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, phase := range bench.Phases() {
		fmt.Fprintf(t, "  %s\t%s\n", phase[0], phase[1])
	}
	_ = t.Flush() // writes to memory
	return "Phases:\n" + text.String()
}

// quantities adds the flags for the number of timers, rates and durations of the phases.
func quantities(c *cobra.Command, into *bench.Plan) {
	d := bench.FullPlan()
	f := c.Flags()
	f.IntVar(&into.Connections, "connections", d.Connections, "connections of single creates")
	f.IntVar(&into.BatchConnections, "batch-connections", d.BatchConnections, "connections of batches")
	f.IntVar(&into.Creates, "creates", d.Creates, "timers of the phase create")
	f.IntVar(&into.Large, "large", d.Large, "timers of the phase large")
	f.IntVar(&into.Commands, "commands", d.Commands, "commands of the phase topic")
	f.IntVar(&into.Pending, "pending", d.Pending, "pending timers while idle, lateness and backlog are measured")
	f.IntVar(&into.Million, "million", d.Million, "pending timers in the phase million")
	f.IntVar(&into.Tenants, "tenants", d.Tenants, "namespaces of the phase tenants, which remain in the store")
	f.IntVar(&into.Backlog, "backlog", d.Backlog, "timers of the phase backlog, due at the same time")
	durationFlag(c, &into.Hang, "hang", d.Hang, "how long hanging hosts take to answer, in the phase isolation")
	f.IntVar(&into.Crowd, "crowd", d.Crowd, "timers of another namespace that are due at the same time, in the phase fairness")
	f.Float64Var(&into.SmallRate, "small-rate", d.SmallRate, "timers per second of the small namespace, in the phase fairness")
	durationFlag(c, &into.SmallSpan, "small-for", d.SmallSpan, "how long timers of --small-rate are due")
	f.Float64Var(&into.Rate, "rate", d.Rate, "timers per second that are due while lateness is measured")
	durationFlag(c, &into.Span, "for", d.Span, "how long timers of --rate are due")
	f.Float64Var(&into.Beside, "beside", d.Beside, "creates per second, in the phase busy")
	durationFlag(c, &into.Watch, "watch", d.Watch, "how long the idle service is measured")
	durationFlag(c, &into.Patience, "patience", d.Patience, "how long to wait for the callback of a due timer")
}

// plan returns the default plan with the values of the given flags.
func (b *benchCommand) plan(c *cobra.Command) (bench.Plan, error) {
	plan, given := bench.FullPlan(), b.full
	if b.short {
		plan = bench.ShortPlan()
	}
	for flag, n := range map[string]struct{ to, from *int }{
		"connections": {&plan.Connections, &given.Connections}, "batch-connections": {&plan.BatchConnections, &given.BatchConnections},
		"creates": {&plan.Creates, &given.Creates}, "large": {&plan.Large, &given.Large}, "commands": {&plan.Commands, &given.Commands},
		"pending": {&plan.Pending, &given.Pending}, "million": {&plan.Million, &given.Million}, "backlog": {&plan.Backlog, &given.Backlog},
		"crowd": {&plan.Crowd, &given.Crowd}, "tenants": {&plan.Tenants, &given.Tenants},
	} {
		if c.Flags().Changed(flag) {
			*n.to = *n.from
		}
	}
	for flag, n := range map[string]struct{ to, from *float64 }{
		"rate": {&plan.Rate, &given.Rate}, "beside": {&plan.Beside, &given.Beside}, "small-rate": {&plan.SmallRate, &given.SmallRate},
	} {
		if c.Flags().Changed(flag) {
			*n.to = *n.from
		}
	}
	for flag, n := range map[string]struct{ to, from *time.Duration }{
		"for": {&plan.Span, &given.Span}, "watch": {&plan.Watch, &given.Watch}, "patience": {&plan.Patience, &given.Patience},
		"hang": {&plan.Hang, &given.Hang}, "small-for": {&plan.SmallSpan, &given.SmallSpan},
	} {
		if c.Flags().Changed(flag) {
			*n.to = *n.from
		}
	}
	return plan, plan.Check()
}

func (b *benchCommand) run(c *cobra.Command) (err error) {
	o := &b.options
	if err := atMostOne(c, "receiver", "listen"); err != nil {
		return err
	}
	if o.Plan, err = b.plan(c); err != nil {
		return usageError{err}
	}
	token, err := process.Secret("TOKEN")
	if err != nil {
		return usageError{err}
	}
	o.Target, err = bench.NewTarget(cmp.Or(b.url, os.Getenv("TIMERBUS_URL"), defaultURL), cmp.Or(b.token, token))
	if err != nil {
		return usageError{err}
	}
	if err := o.CheckPhases(); err != nil {
		return usageError{err}
	}
	if b.pid != 0 {
		o.Meter = bench.Process(b.pid)
	}
	if o.NATS == "" && len(o.Phases) == 0 {
		fmt.Fprintln(b.stderr, "Skipping the phase topic: set --nats to the URL of the service's bus.")
	}
	ctx := c.Context()
	if o.Receiver == "" {
		stop, err := b.receiver(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	shown := newProgressLine(b.stderr)
	o.Watch = &shown.progress
	measured, err := b.measure(ctx, shown)
	if err != nil {
		return err
	}
	if b.json {
		return printJSON(b.stdout, map[string]any{"figures": measured})
	}
	return bench.Table(b.stdout, measured)
}

func (b *benchCommand) measure(ctx context.Context, shown *progressLine) ([]bench.Figure, error) {
	stop := shown.show()
	defer stop()
	return bench.Run(ctx, b.options)
}

// receiver starts a receiver in this process.
func (b *benchCommand) receiver(ctx context.Context) (stop func() error, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", b.listen)
	if err != nil {
		return nil, cannotListen("--listen", b.listen, err)
	}
	b.options.Receiver, b.options.Local = "http://"+reachable(l.Addr().String()), true
	return serveReceiver(l), nil
}
