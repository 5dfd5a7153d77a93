// Command mutants checks that tests notice faults. Each patch in a folder changes product code, usually by one line, so
// that a rule of docs/design.md is broken. mutants runs the tests that the patch names on the changed code, with
// `go test -overlay`: no file of the repository changes.
//
//	mutants [-run PATTERN] [-sample N -seed TEXT] [-within D] [-list] [-timeout D] [-testenv FILE] FOLDER
//
// A patch is a unified diff of files in the repository, with these lines in front of it:
//
//	rule: I7                                   the rule that it breaks, or a part of the program (I1 to I22, egress, ...)
//	fault: A row is read before its due time.  what it breaks, in one sentence
//	test: services/dispatcher TestI7_          a folder with tests and a pattern for `go test -run`; more lines name more
//	                                           tests, which run until one fails
//	test: e2e/sim TestSeeds SIM_SEEDS=300      the same with environment variables
//	needs: postgres                            the servers that the tests need (tools/testenv); optional
//	survives: WHY                              optional: no test can notice it
//
// In a patch of several files, each file after the first needs a line `diff --git a/FILE b/FILE` in front of it.
//
// A test that notices a patch must pass without it, which mutants checks once for each test line. It prints one line for
// each patch, and exits with 1 if a patch survives without a reason, is noticed although it has one, does not apply or
// does not compile. For each such patch it also prints the command that runs it alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/timerbus/timerbus/tools/internal/program"
)

func main() { os.Exit(program.Run("mutants", run)) }

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ExitOnError)
	pattern := flags.String("run", "", "run only the patches whose file name or rule matches this regular expression")
	sample := flags.Int("sample", 0, "run only this many patches, chosen by -seed; 0: all")
	seed := flags.String("seed", "", "any text, such as a commit")
	within := flags.Duration("within", 0, "begin no further patch after this time; 0: run all")
	list := flags.Bool("list", false, "print the patches by rule, and run nothing")
	timeout := flags.Duration("timeout", 5*time.Minute, "how long the tests of one line may take; a test that takes longer fails")
	testenv := flags.String("testenv", "", "the binary of tools/testenv; needed for patches whose tests need servers")
	_ = flags.Parse(args) // it exits on an error
	matching, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("-run %q: %w", *pattern, err)
	}
	if flags.NArg() != 1 || *sample < 0 {
		return errors.New("want one folder with patches, and -sample of at least 0")
	}
	mutants, err := read(flags.Arg(0))
	if err != nil {
		return err
	}
	if *list {
		return printList(out, mutants)
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !matching.MatchString(m.name) && !matching.MatchString(m.rule) })
	if *sample > 0 {
		mutants = choose(mutants, *sample, *seed)
	}
	if len(mutants) == 0 {
		return fmt.Errorf("no patch in %s matches -run %q", flags.Arg(0), *pattern)
	}
	work, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	r := &runner{
		out: out, work: work, timeout: *timeout, within: *within, testenv: *testenv, passed: map[testLine]bool{},
	}
	if r.root, err = moduleRoot("."); err != nil {
		return err
	}
	return r.runAll(ctx, mutants)
}

// runAll runs the tests of each mutant, and prints the results. A mutant whose tests cannot run does not end the run.
func (r *runner) runAll(ctx context.Context, mutants []mutant) error {
	var unexpected []*mutant
	noticed, broken := 0, 0
	start := time.Now()
	for i := range mutants {
		m := &mutants[i]
		began := time.Now()
		if r.within > 0 && i > 0 && began.Sub(start) >= r.within {
			fmt.Fprintf(r.out, "%v are over: %d mutants are not run\n", r.within, len(mutants)-i)
			mutants = mutants[:i]
			break
		}
		result, err := r.test(ctx, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			broken++
			unexpected = append(unexpected, m)
			fmt.Fprintf(r.out, "BROKEN   %-10s %s: %v\n", m.rule, m.name, err)
			continue
		}
		if result.by != "" {
			noticed++
		}
		if (result.by == "") != (m.survives != "") {
			unexpected = append(unexpected, m)
		}
		fmt.Fprintln(r.out, m.line(&result, time.Since(began)))
	}
	all := len(mutants)
	fmt.Fprintf(r.out, "%d mutants: %d noticed (%d %%), %d survived, %d broken\n",
		all, noticed, 100*noticed/all, all-noticed-broken, broken)
	names := make([]string, len(unexpected))
	for i, m := range unexpected {
		names[i] = m.name
		fmt.Fprintf(r.out, "\n%s: %s\nRun it alone: make mutants RUN='^%s$'\n", m.name, m.fault, m.name)
	}
	if len(unexpected) > 0 {
		return fmt.Errorf("unexpected results: %s", strings.Join(names, ", "))
	}
	return nil
}

// line is the mutant's line in the table.
func (m *mutant) line(r *result, took time.Duration) string {
	verdict := "noticed"
	text := "by " + r.by
	switch {
	case r.by == "" && m.survives != "":
		verdict, text = "survived", "as expected: "+m.survives
	case r.by == "":
		verdict, text = "SURVIVED", "(UNEXPECTED)"
	case m.survives != "":
		text += " (UNEXPECTED: it has a line \"survives\")"
	}
	return fmt.Sprintf("%-8s %-10s %-44s %4.0f s  %s", verdict, m.rule, m.name, took.Seconds(), text)
}

// printList prints the mutants by rule.
func printList(out io.Writer, mutants []mutant) error {
	count := map[string]int{}
	for i := range mutants {
		m := &mutants[i]
		count[m.rule]++
		fmt.Fprintf(out, "%-10s %-44s %s\n", m.rule, m.name, m.fault)
	}
	var rules []string
	for rule, n := range count {
		rules = append(rules, fmt.Sprintf("%s %d", rule, n))
	}
	slices.Sort(rules)
	_, err := fmt.Fprintf(out, "%d mutants: %s\n", len(mutants), strings.Join(rules, ", "))
	return err
}

// moduleRoot returns the outermost folder above dir that has a go.mod.
func moduleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root := ""
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			root = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if root == "" {
		return "", errors.New("no go.mod in this folder or above it")
	}
	return root, nil
}
