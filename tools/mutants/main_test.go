package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// module is a module with one function and its test.
var module = map[string]string{
	"go.mod": "module example.test/late\n\ngo 1.26.0\n",
	"late.go": `package late

// Late reports whether now is after due.
func Late(now, due int) bool {
	return now > due
}
`,
	"late_test.go": `package late

import (
	"testing"
	"time"
)

func TestLate(t *testing.T) {
	if Late(1, 2) {
		t.Fatal("early")
	}
}

func TestEnds(t *testing.T) {
	for !Late(3, 2) {
		time.Sleep(time.Millisecond)
	}
}

func TestFails(t *testing.T) { t.Fatal("always") }
`,
}

// patch is a patch of late.go that replaces the comparison.
func patch(head, line string) string {
	return head + `
--- a/late.go
+++ b/late.go
@@ -3,4 +3,4 @@
 // Late reports whether now is after due.
 func Late(now, due int) bool {
-	return now > due
+	` + line + `
 }
`
}

func TestPatchesAreNoticed(t *testing.T) {
	const head = "rule: I7\nfault: Something.\n"
	for _, c := range []struct {
		name, patch string
		want        []string // in the output or the error
		fails       bool
	}{
		{"noticed", patch(head+"test: . TestLate\n", "return now < due"), []string{"noticed  I7", "by TestLate", "1 noticed (100 %)"}, false},
		{"timeout", patch(head+"test: . TestEnds\n", "return now < due"), []string{"by TestEnds (timeout)"}, false},
		{"the second line notices it", patch(head+"test: . TestLate\ntest: . TestEnds\n", "return false"), []string{"by TestEnds"}, false},
		{"survives", patch(head+"test: . TestLate\n", "return now > due+1"), []string{"SURVIVED", "Run it alone: make mutants RUN='^m$'", "unexpected results: m"}, true},
		{"survives with a reason", patch(head+"test: . TestLate\nsurvives: it is equal\n", "return due < now"), []string{"survived", "as expected: it is equal"}, false},
		{"noticed in spite of a reason", patch(head+"test: . TestLate\nsurvives: no\n", "return now < due"), []string{"UNEXPECTED", "unexpected results: m"}, true},
		{"does not compile", patch(head+"test: . TestLate\n", "return due"), []string{"does not compile"}, true},
		{"does not apply", strings.Replace(patch(head+"test: . TestLate\n", "return true"), "-	return now > due", "-	return now >= due", 1), []string{"git apply"}, true},
		{"no such test", patch(head+"test: . TestAbsent\n", "return true"), []string{"no test matches"}, true},
		{"a test that always fails", patch(head+"test: . TestFails\n", "return true"), []string{"TestFails fails on the unchanged code"}, true},
		{"no rule", patch("fault: x\ntest: . T\n", "return true"), []string{`rule ""`}, true},
		{"no test", patch(head, "return true"), []string{`no line "test:`}, true},
		{"unknown line", patch(head+"when: now\n", "return true"), []string{"when: now"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range module {
				write(t, folder, name, text)
			}
			write(t, folder, "mutants/m.patch", c.patch)
			t.Chdir(folder)
			var out strings.Builder
			timeout := time.Minute
			if strings.Contains(c.patch, "TestEnds") {
				timeout = 2 * time.Second
			}
			err := run(t.Context(), &out, []string{"-timeout", timeout.String(), "mutants"})
			text := out.String()
			if err != nil {
				text += err.Error()
			}
			if (err != nil) != c.fails {
				t.Fatalf("error: %v\n%s", err, text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
		})
	}
}

// TestPatchesOfTheRepository checks that all patches apply and change product code, and that their tests exist.
func TestPatchesOfTheRepository(t *testing.T) {
	mutants, err := read("../../e2e/mutants")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		for _, file := range m.files {
			if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "e2e/") {
				t.Errorf("%s changes %s, which is no product code", m.name, file)
			}
		}
		for _, test := range m.tests {
			if !hasTest(t, filepath.Join("..", "..", test.folder), test.pattern) {
				t.Errorf("%s: no test of %s matches %q", m.name, test.folder, test.pattern)
			}
		}
		check := exec.CommandContext(t.Context(), "git", "apply", "--check", "--recount", "-")
		check.Dir, check.Stdin = filepath.Join("..", ".."), strings.NewReader(m.diff)
		if output, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply: %v: %s", m.name, err, output)
		}
	}
}

// hasTest reports whether a test function in the folder matches a pattern of go test -run. It does not check the names of
// subtests.
func hasTest(t *testing.T, folder, pattern string) bool {
	t.Helper()
	function, _, _ := strings.Cut(pattern, "/")
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range testFunction.FindAllSubmatch(source, -1) {
			if matched, err := regexp.Match(function, found[1]); err != nil {
				t.Fatal(err)
			} else if matched {
				return true
			}
		}
	}
	return false
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+|Fuzz\w+)\(`)

func TestASampleDependsOnItsSeed(t *testing.T) {
	var all []mutant
	for name := range strings.FieldsSeq("a b c d e f g h i j k l m n o p") {
		all = append(all, mutant{name: name})
	}
	names := func(seed string) (found []string) {
		for _, m := range choose(all, 5, seed) {
			found = append(found, m.name)
		}
		return found
	}
	first, again, other := names("one"), names("one"), names("two")
	if len(first) != 5 || !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("one: %v, again: %v, two: %v", first, again, other)
	}
}

func TestNoMutantBeginsAfterTheTime(t *testing.T) {
	folder := t.TempDir()
	for name, text := range module {
		write(t, folder, name, text)
	}
	for _, name := range []string{"a", "b", "c"} {
		write(t, folder, "mutants/"+name+".patch", patch("rule: I7\nfault: Something.\ntest: . TestLate\n", "return now < due"))
	}
	t.Chdir(folder)
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-within", "1ns", "mutants"}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "2 mutants are not run") || !strings.Contains(text, "1 mutants: 1 noticed") {
		t.Errorf("want one of three mutants:\n%s", text)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
