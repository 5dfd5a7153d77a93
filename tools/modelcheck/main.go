// Command modelcheck runs the model checker TLC on the specifications in a folder (docs/model). It runs every
// configuration unchanged, which must find no error, and once for each rule that a "must fail" comment of the configuration
// names: with that rule switched off, the invariant in the comment must be violated.
//
//	modelcheck [-run PATTERN] [-all] [-parallel N] [-timeout D] FOLDER
//
// The jar's path is in TIMERBUS_TEST_TLC; `make check-model` sets it. Comments in a configuration control modelcheck:
//
//	\* module: Timers                         the specification
//	\* must fail: "no sweep" DeliveredInTime  with Broken = {"no sweep"} the invariant DeliveredInTime is violated
//	\* must fail: "no sweep" DeliveredInTime with Writes = 1   the same with other constants
//	\* quick: Writes = 2, MaxTime = 7         without -all, the run with no rule switched off uses these constants,
//	                                          because it takes minutes with its own; runs that must fail end early
//
// It prints one line for each run and exits with 1 if a result differs from the expected one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/timerbus/timerbus/tools/internal/program"
)

func main() { os.Exit(program.Run("modelcheck", check)) }

func check(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("modelcheck", flag.ExitOnError)
	pattern := flags.String("run", "", "run only configurations whose file name matches this regular expression")
	all := flags.Bool("all", false, "run configurations with their own constants instead of the quick ones")
	parallel := flags.Int("parallel", 2, "how many model checkers run at once")
	timeout := flags.Duration("timeout", time.Hour, "how long one run may take")
	_ = flags.Parse(args) // it exits on an error
	matching, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("-run %q: %w", *pattern, err)
	}
	jar := os.Getenv("TIMERBUS_TEST_TLC")
	if flags.NArg() != 1 || jar == "" {
		return errors.New("want one folder, and the path of the TLC jar in TIMERBUS_TEST_TLC (make check-model)")
	}
	runs, err := plan(flags.Arg(0), matching, *all)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%-14s %-26s %-34s %10s %7s\n", "config", "switched off", "result", "states", "time")
	var printing sync.Mutex
	slots := make(chan struct{}, max(1, *parallel))
	results := make([]result, len(runs))
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			bounded, cancel := context.WithTimeout(ctx, *timeout)
			defer cancel()
			results[i] = runs[i].do(bounded, jar)
			printing.Lock()
			defer printing.Unlock()
			fmt.Fprintln(out, results[i].line(&runs[i]))
		})
	}
	group.Wait()
	failed := 0
	for i := range runs {
		if why := results[i].differs(&runs[i]); why != "" {
			failed++
			fmt.Fprintf(out, "\n%s: %s\n%s\n", runs[i].title(), why, results[i].output)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d runs had an unexpected result", failed, len(runs))
	}
	return nil
}

// plan reads the configurations of a folder.
func plan(folder string, matching *regexp.Regexp, all bool) ([]run, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.cfg"))
	if err != nil {
		return nil, err
	}
	var runs []run
	for _, file := range files {
		if !matching.MatchString(filepath.Base(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		of, err := runsOf(filepath.Base(file), string(text), all)
		if err != nil {
			return nil, err
		}
		for i := range of {
			of[i].folder = folder
		}
		runs = append(runs, of...)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s has no configuration that matches", folder)
	}
	return runs, nil
}

// run is one execution of TLC.
type run struct {
	folder, file, module string
	// broken is the rule that is switched off; empty for none.
	broken string
	// violates is the invariant that must be violated; empty if there must be no error.
	violates string
	text     string
	// quick: some constants are smaller than the configuration's.
	quick bool
}

func (r *run) title() string {
	if r.broken == "" {
		return r.file
	}
	return fmt.Sprintf("%s with %q switched off", r.file, r.broken)
}

var (
	moduleLine   = regexp.MustCompile(`(?m)^\\\* module: (\w+)$`)
	mustFailLine = regexp.MustCompile(`(?m)^\\\* must fail:(.*)$`)
	mustFail     = regexp.MustCompile(`^ "([^"]+)" (\w+)(?: with (.+))?$`)
	quickLine    = regexp.MustCompile(`(?m)^\\\* quick:(.*)$`)
	constant     = regexp.MustCompile(`^\s*(\w+) = (\S.*)$`)
	brokenLine   = regexp.MustCompile(`(?m)^ {2}Broken = \{\}$`)
)

// runsOf returns the runs that the comments of a configuration define.
func runsOf(file, text string, all bool) ([]run, error) {
	module := moduleLine.FindStringSubmatch(text)
	if module == nil {
		return nil, fmt.Errorf(`%s: no line "\* module: NAME"`, file)
	}
	if !brokenLine.MatchString(text) {
		return nil, fmt.Errorf(`%s: no line "  Broken = {}"`, file)
	}
	good := run{file: file, module: module[1], text: text}
	runs := []run{good}
	if quick := quickLine.FindStringSubmatch(text); quick != nil && !all {
		var err error
		if runs[0].text, err = withConstants(text, quick[1]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		runs[0].quick = true
	}
	for _, found := range mustFailLine.FindAllStringSubmatch(text, -1) {
		parts := mustFail.FindStringSubmatch(found[1])
		if parts == nil {
			return nil, fmt.Errorf(`%s: "must fail:%s" is not: must fail: "RULE" INVARIANT [with NAME = VALUE, ...]`, file, found[1])
		}
		bad := good
		bad.broken, bad.violates = parts[1], parts[2]
		bad.text = brokenLine.ReplaceAllString(text, fmt.Sprintf("  Broken = {%q}", bad.broken))
		if parts[3] != "" {
			var err error
			if bad.text, err = withConstants(bad.text, parts[3]); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		runs = append(runs, bad)
	}
	return runs, nil
}

// withConstants returns a configuration with other values of some constants, such as "Writes = 2, MaxTime = 7".
func withConstants(text, constants string) (string, error) {
	for one := range strings.SplitSeq(constants, ",") {
		parts := constant.FindStringSubmatch(one)
		if parts == nil {
			return "", fmt.Errorf("%q: want NAME = VALUE, separated by commas", constants)
		}
		line := regexp.MustCompile(`(?m)^  ` + parts[1] + ` = .*$`)
		if !line.MatchString(text) {
			return "", fmt.Errorf("%q: the configuration has no constant %s", constants, parts[1])
		}
		text = line.ReplaceAllLiteralString(text, "  "+parts[1]+" = "+parts[2])
	}
	return text, nil
}

// result is what TLC printed.
type result struct {
	// violated is the invariant that is violated; empty for none.
	violated string
	// complete: the search ended without an error.
	complete bool
	states   string
	took     time.Duration
	output   string
}

var (
	violatedLine = regexp.MustCompile(`(?m)^Error: Invariant (\w+) is violated`)
	completeLine = regexp.MustCompile(`(?m)^Model checking completed\. No error has been found\.$`)
	statesLine   = regexp.MustCompile(`(?m)^[\d,]+ states generated, ([\d,]+) distinct states found`)
)

func parse(output string) result {
	r := result{complete: completeLine.MatchString(output), output: output}
	if found := violatedLine.FindStringSubmatch(output); found != nil {
		r.violated = found[1]
	}
	if found := statesLine.FindAllStringSubmatch(output, -1); found != nil {
		r.states = strings.ReplaceAll(found[len(found)-1][1], ",", "")
	}
	return r
}

// differs says how the result differs from the expected one; empty if it does not.
func (r *result) differs(of *run) string {
	switch {
	case of.violates == "" && r.complete:
		return ""
	case of.violates == "":
		return "must find no error"
	case r.violated == of.violates:
		return ""
	default:
		return "must violate " + of.violates
	}
}

func (r *result) line(of *run) string {
	text := "no answer"
	switch {
	case r.complete:
		text = "no error"
	case r.violated != "":
		text = "violates " + r.violated
	}
	if r.differs(of) != "" {
		text += " (UNEXPECTED)"
	}
	name := strings.TrimSuffix(of.file, ".cfg")
	if of.quick {
		name += " quick"
	}
	return fmt.Sprintf("%-14s %-26s %-34s %10s %6.1fs", name, of.broken, text, r.states, r.took.Seconds())
}

// do runs TLC in a temporary folder, because it writes next to the specification.
func (r *run) do(ctx context.Context, jar string) result {
	began := time.Now()
	output, err := r.tlc(ctx, jar)
	done := parse(output)
	done.took = time.Since(began)
	if err != nil && !done.complete && done.violated == "" {
		done.output += err.Error()
	}
	return done
}

func (r *run) tlc(ctx context.Context, jar string) (string, error) {
	folder, err := os.MkdirTemp("", "modelcheck-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
	specification, err := os.ReadFile(filepath.Join(r.folder, r.module+".tla"))
	if err != nil {
		return "", err
	}
	config := filepath.Join(folder, r.module+".cfg")
	if err := errors.Join(
		os.WriteFile(filepath.Join(folder, r.module+".tla"), specification, 0o600),
		os.WriteFile(config, []byte(r.text), 0o600)); err != nil {
		return "", err
	}
	// TLC unpacks its standard modules in Java's temporary folder under fixed names, so runs side by side need one each.
	//nolint:gosec // the jar is the one that the caller names
	cmd := exec.CommandContext(ctx, "java", "-XX:+UseSerialGC", "-Xmx2g", "-Djava.io.tmpdir="+folder, "-cp", jar,
		"tlc2.TLC", "-workers", "1", "-metadir", filepath.Join(folder, "states"), "-config", config, r.module+".tla")
	cmd.Dir = folder
	output, err := cmd.CombinedOutput()
	return string(output), err
}
