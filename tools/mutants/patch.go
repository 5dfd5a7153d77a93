package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is one patch.
type mutant struct {
	name, rule, fault, needs, survives string

	tests []testLine
	files []string // that it changes, relative to the root
	diff  string
}

// testLine names tests.
type testLine struct {
	folder, pattern, environment string // environment: NAME=VALUE pairs, separated by spaces
}

func (t testLine) String() string {
	return strings.TrimSpace(t.folder + " " + t.pattern + " " + t.environment)
}

var (
	ruleName = regexp.MustCompile(`^(I([1-9]|1\d|2[012])|[a-z]+)$`)
	oldFile  = regexp.MustCompile(`(?m)^--- a/(\S+)$`)
	newFile  = regexp.MustCompile(`(?m)^\+{3} b/(\S+)$`)
	variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*=\S*$`)
)

// read reads the patches of a folder, sorted by name.
func read(folder string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.patch"))
	if err != nil {
		return nil, err
	}
	mutants := make([]mutant, 0, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		m, err := parse(strings.TrimSuffix(filepath.Base(file), ".patch"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		mutants = append(mutants, m)
	}
	if len(mutants) == 0 {
		return nil, fmt.Errorf("%s has no file *.patch", folder)
	}
	return mutants, nil
}

// parse parses one patch.
func parse(name, text string) (mutant, error) {
	m := mutant{name: name}
	head, diff, found := strings.Cut("\n"+text, "\n--- a/")
	if !found {
		return m, errors.New(`it has no line "--- a/FILE"`)
	}
	m.diff = "--- a/" + diff
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := m.set(line); err != nil {
			return m, err
		}
	}
	for _, file := range oldFile.FindAllStringSubmatch(m.diff, -1) {
		m.files = append(m.files, file[1])
	}
	var after []string
	for _, file := range newFile.FindAllStringSubmatch(m.diff, -1) {
		after = append(after, file[1])
	}
	switch {
	case !ruleName.MatchString(m.rule):
		return m, fmt.Errorf("rule %q: want I1 to I22, or a word in lower case", m.rule)
	case m.fault == "":
		return m, errors.New(`it has no line "fault: ..."`)
	case len(m.tests) == 0:
		return m, errors.New(`it has no line "test: FOLDER PATTERN"`)
	case !slices.Equal(m.files, after):
		return m, fmt.Errorf("it creates, removes or renames files: %v and %v", m.files, after)
	}
	return m, nil
}

// set sets one line in front of the diff.
func (m *mutant) set(line string) error {
	key, value, _ := strings.Cut(line, ": ")
	value = strings.TrimSpace(value)
	switch key {
	case "rule":
		m.rule = value
	case "fault":
		m.fault = value
	case "needs":
		m.needs = value
	case "survives":
		m.survives = value
	case "test":
		fields := strings.Fields(value)
		if len(fields) < 2 {
			return fmt.Errorf("test %q: want a folder and a pattern", value)
		}
		for _, field := range fields[2:] {
			if !variable.MatchString(field) {
				return fmt.Errorf("test %q: %q is not NAME=VALUE", value, field)
			}
		}
		m.tests = append(m.tests, testLine{fields[0], fields[1], strings.Join(fields[2:], " ")})
	default:
		return fmt.Errorf("%q: want rule, fault, test, needs or survives", line)
	}
	return nil
}

// choose returns n of the mutants. The choice depends on the seed only.
func choose(mutants []mutant, n int, seed string) []mutant {
	order := func(m *mutant) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(seed + "/" + m.name)) // it never fails
		return h.Sum64()
	}
	chosen := slices.Clone(mutants)
	slices.SortFunc(chosen, func(a, b mutant) int { return cmp.Compare(order(&a), order(&b)) })
	return chosen[:min(n, len(chosen))]
}
