package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
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
	binary, json string
	short        bool
	rounds       int
	setups       []host.Setup
	testenv      string
	phases       []string
	// extra is added to every `timerbus bench`; tests use it to make everything small.
	extra []string
}

// run is the whole program. It returns the exit code: 0 done, 1 failed, 2 invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "benchmark: %v\n", err)
		return 2
	}
	if err := measure(ctx, o, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "benchmark: %v\n", err)
		return 1
	}
	return 0
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	f := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.binary, "binary", "", "path of the timerbus binary to measure (default: timerbus in the folder of this program)")
	f.StringVar(&o.json, "json", "", "file for the figures (default: bench.json in the folder of this program)")
	f.BoolVar(&o.short, "short", false, "one round on fewer timers")
	f.IntVar(&o.rounds, "rounds", 0, "number of rounds, 1 to 100 (default 3, with -short 1)")
	on := f.String("setup", host.Embedded.Name,
		"store and bus of the service, several separated by commas: "+strings.Join(host.SetupNames(), ", "))
	f.StringVar(&o.testenv, "testenv", "", "path of the program that starts servers (tools/testenv)")
	phases := f.String("phases", "", "phases of timerbus bench, separated by commas (default all, with -short all but million and tenants)")
	crowd := f.Int("crowd", 0, "timers of the backlog in the phase fairness (default that of timerbus bench)")
	tenants := f.Int("tenants", 0, "namespaces in the phase tenants (default that of timerbus bench)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is not accepted: want flags only", f.Arg(0))
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
	if *crowd != 0 {
		o.extra = append(o.extra, "--crowd", strconv.Itoa(*crowd))
	}
	if *tenants != 0 {
		o.extra = append(o.extra, "--tenants", strconv.Itoa(*tenants))
	}
	if *phases != "" {
		o.phases = strings.Split(*phases, ",")
	}
	var err error
	if o.setups, err = host.SetupsNamed(*on); err != nil {
		return o, err
	}
	return o, o.locate()
}

// locate sets defaults for the files that make puts into the folder of this program.
func (o *options) locate() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if o.binary == "" {
		o.binary = filepath.Join(filepath.Dir(self), "timerbus")
	}
	if o.json == "" {
		o.json = filepath.Join(filepath.Dir(self), "bench.json")
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("no service binary to measure (run `make bench`, or set -binary): %w", err)
	}
	return nil
}

// muchOther is the number of processors busy with other work from which the program prints a note.
const muchOther = 0.2

func measure(ctx context.Context, o options, stdout, stderr io.Writer) error {
	before, err := host.SpentUntilNow()
	if err != nil {
		return err
	}
	all := reports{Started: before.At.UTC(), Short: o.short}
	if all.Version, err = host.VersionOf(ctx, o.binary); err != nil {
		return err
	}
	if all.Machine, err = host.ThisMachine(); err != nil {
		return err
	}
	for i := range o.setups {
		all.Setups = append(all.Setups, &report{Setup: o.setups[i].Name, About: o.setups[i].About})
	}
	// A run that is interrupted or fails shows the rounds that have ended.
	failed := playRounds(ctx, &o, &all, stderr)
	if all.Setups[len(all.Setups)-1].Rounds == 0 {
		return failed
	}
	after, err := host.SpentUntilNow()
	if err != nil {
		return err
	}
	all.Seconds, all.Others = after.At.Sub(before.At).Seconds(), after.OthersSince(before)
	if err := errors.Join(all.write(o.json), all.show(stdout)); err != nil {
		return errors.Join(failed, err)
	}
	if all.Others > muchOther {
		fmt.Fprintf(stderr, "Other processes used %.1f of %d processors meanwhile: figures are lower than on an idle machine.\n",
			all.Others, all.Machine.Processors)
	}
	fmt.Fprintf(stderr, "Wrote all figures to %s after %.0f s.\n", o.json, all.Seconds)
	return failed
}

// playRounds plays all rounds of all setups. Setups alternate, so that other work on the machine affects all of them
// equally.
func playRounds(ctx context.Context, o *options, all *reports, stderr io.Writer) error {
	for n := range o.rounds {
		for i, r := range all.Setups {
			fmt.Fprintf(stderr, "round %d of %d: %s\n", n+1, o.rounds, r.About)
			measured, err := playRound(ctx, o, &o.setups[i], stderr)
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", r.Setup, n+1, err)
			}
			r.add(measured)
		}
	}
	return nil
}

func (r *reports) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
