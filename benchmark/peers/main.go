package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/timerbus/timerbus/benchmark/host"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command line's options.
type options struct {
	binary, json, svg, testenv string
	// bullmq is the folder of the driver of BullMQ with its packages.
	bullmq   string
	short    bool
	rounds   int
	peers    []peer
	workload workload
}

// run is the whole program. It returns the exit code: 0 done, 1 failed, 2 invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "drive" {
		if err := drive(ctx, args[1:], stdout); err != nil && ctx.Err() == nil {
			fmt.Fprintf(stderr, "drive: %v\n", err)
			return 1
		}
		return 0
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 2
	}
	if err := measure(ctx, &o, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{workload: fullWorkload()}
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.binary, "binary", "", "path of the timerbus binary (default: timerbus in the folder of this program)")
	f.StringVar(&o.json, "json", "", "file for the figures (default: bench-peers.json in the folder of this program)")
	f.StringVar(&o.svg, "svg", "", "file for the report (default: bench-peers.svg in the folder of this program)")
	f.StringVar(&o.testenv, "testenv", "", "path of the program that starts servers (tools/testenv)")
	f.StringVar(&o.bullmq, "bullmq", "benchmark/peers/bullmq", "folder of the driver of BullMQ, with its packages")
	f.BoolVar(&o.short, "short", false, "one round on few timers")
	f.IntVar(&o.rounds, "rounds", 0, "number of rounds, 1 to 100 (default 3, with -short 1)")
	names := f.String("peers", strings.Join(peerNames(), ","), "systems, separated by commas")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is not accepted: want flags only", f.Arg(0))
	}
	if o.short {
		o.workload = shortWorkload()
	}
	if o.rounds == 0 {
		o.rounds = 3
		if o.short {
			o.rounds = 1
		}
	}
	if o.rounds < 1 || o.rounds > 100 {
		return o, fmt.Errorf("-rounds %d is not accepted: want 1 to 100", o.rounds)
	}
	for name := range strings.SplitSeq(*names, ",") {
		p, err := peerNamed(name)
		if err != nil {
			return o, fmt.Errorf("-peers: %w", err)
		}
		o.peers = append(o.peers, p)
	}
	return o, o.locate()
}

// locate sets defaults for the files that make puts into the folder of this program.
func (o *options) locate() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for name, at := range map[string]*string{"timerbus": &o.binary, "bench-peers.json": &o.json, "bench-peers.svg": &o.svg} {
		if *at == "" {
			*at = filepath.Join(filepath.Dir(self), name)
		}
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("no timerbus binary, which is measured and is the receiver (run `make bench-peers`, or set -binary): %w", err)
	}
	return nil
}

// muchOther is the number of processors busy with other work from which the program prints a note.
const muchOther = 0.2

func measure(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	if err := o.workload.check(); err != nil {
		return err
	}
	before, err := host.SpentUntilNow()
	if err != nil {
		return err
	}
	all := report{Started: before.At.UTC(), Short: o.short, Workload: o.workload}
	if all.Version, err = host.VersionOf(ctx, o.binary); err != nil {
		return err
	}
	if all.Machine, err = host.ThisMachine(); err != nil {
		return err
	}
	for i := range o.peers {
		p := &o.peers[i]
		all.Peers = append(all.Peers, &result{Peer: p.name, About: p.about, Durability: p.durability, NotRun: p.missing(o)})
	}
	failed := playRounds(ctx, o, &all, stderr)
	after, err := host.SpentUntilNow()
	if err != nil {
		return err
	}
	all.Seconds, all.Others = after.At.Sub(before.At).Seconds(), after.OthersSince(before)
	all.compare(reference)
	if err := errors.Join(all.write(o.json, o.svg), all.show(stdout)); err != nil {
		return errors.Join(failed, err)
	}
	if all.Others > muchOther {
		fmt.Fprintf(stderr, "Other processes used %.1f of %d processors meanwhile: only ratios within this run are meaningful.\n",
			all.Others, all.Machine.Processors)
	}
	fmt.Fprintf(stderr, "Wrote all figures to %s and %s after %.0f s.\n", o.json, o.svg, all.Seconds)
	return failed
}

// playRounds plays all rounds. In each round every system is measured once, and each round begins with another system, so
// that other work on the machine affects all of them equally. A system that fails does not end the run.
func playRounds(ctx context.Context, o *options, all *report, stderr io.Writer) error {
	var failed []error
	for n := range o.rounds {
		for k := range o.peers {
			i := (k + n) % len(o.peers)
			r := all.Peers[i]
			if r.NotRun != "" {
				continue
			}
			fmt.Fprintf(stderr, "round %d of %d: %s\n", n+1, o.rounds, o.peers[i].name)
			played, err := playRound(ctx, o, &o.peers[i], stderr)
			if ctx.Err() != nil {
				return errors.Join(append(failed, context.Cause(ctx))...)
			}
			var absent *absentError
			switch {
			case errors.As(err, &absent):
				r.NotRun = absent.Error()
				fmt.Fprintf(stderr, "%s is not run: %v\n", r.Peer, err)
				continue
			case err != nil:
				err = fmt.Errorf("%s, round %d: %w", r.Peer, n+1, err)
				r.Failed, _, _ = strings.Cut(err.Error(), "\n")
				failed = append(failed, errors.New(r.Failed))
				fmt.Fprintln(stderr, err)
			}
			r.add(played)
		}
	}
	return errors.Join(failed...)
}
