package timerbus_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/timerbus/timerbus"

// rule lists the packages that the packages of a unit may import. Patterns are separated by spaces.
type rule struct {
	unit  string // pattern of the packages that the rule applies to
	may   string // packages of this module that they may import, in addition to those of their unit
	tests string // additional packages of this module that their _test files may import
	std   bool   // other imports must be from the standard library
	why   string
}

// graph maps the path of each package of this module to the package. Paths are relative to modulePath; "." is the root.
// Imports of this module are written in the same way, other imports as in the source.
type graph map[string]*pkg

type pkg struct {
	imports     []string
	testImports []string
	files       int  // without test files
	comment     bool // at least one of the files has a package comment
	stability   bool // the package comment has a section about stability
}

// readGraph parses every Go file of the repository, in all modules. It does not use `go list`, which leaves out files
// of other platforms and fails while the requirements of a module are incomplete.
func readGraph(t *testing.T) graph {
	t.Helper()
	g := graph{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read imports: %w", err)
		}
		g.add(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g graph) add(name string, file *ast.File) {
	dir := path.Dir(name)
	if g[dir] == nil {
		g[dir] = &pkg{}
	}
	isTest := strings.HasSuffix(name, "_test.go")
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // unreachable: the parser has accepted the literal
		}
		if imported == modulePath {
			imported = "."
		}
		imported = strings.TrimPrefix(imported, modulePath+"/")
		if isTest {
			g[dir].testImports = append(g[dir].testImports, imported)
		} else {
			g[dir].imports = append(g[dir].imports, imported)
		}
	}
	if !isTest {
		g[dir].files++
		g[dir].comment = g[dir].comment || file.Doc.Text() != ""
		g[dir].stability = g[dir].stability || strings.Contains(file.Doc.Text(), "\n# Stability\n")
	}
}

// violations returns one line for every import that no rule allows.
func (g graph) violations(rules []rule) []string {
	var out []string
	for _, from := range slices.Sorted(maps.Keys(g)) {
		r, own, ok := ruleOf(rules, from)
		if !ok {
			out = append(out, from+" has no matching import rule: add one in layout_test.go and in docs/design.md, section 10")
			continue
		}
		for _, to := range g[from].imports {
			if !r.allows(rules, to, own, r.may) {
				out = append(out, fmt.Sprintf("%s imports %s: %s; of this module it may import: %s", from, to, r.why, orNothing(r.may)))
			}
		}
		for _, to := range g[from].testImports {
			if !r.allows(rules, to, own, r.may, r.tests) {
				out = append(out, fmt.Sprintf("a test of %s imports %s: %s; of this module it may import: %s", from, to, r.why, orNothing(r.may+" "+r.tests)))
			}
		}
	}
	return slices.Compact(out)
}

func orNothing(patterns string) string {
	return cmp.Or(strings.TrimSpace(patterns), "nothing")
}

func (g graph) uncommented() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if g[name].files > 0 && !g[name].comment {
			out = append(out, name+" has no package comment: add a doc.go that says what it owns, what it may import, what it never does")
		}
	}
	return out
}

// ruleOf returns the first rule that matches a package, and a pattern for the packages of the same unit.
func ruleOf(rules []rule, name string) (r rule, own string, ok bool) {
	for _, r := range rules {
		if own, ok := match(r.unit, name); ok {
			return r, own, true
		}
	}
	return rule{}, "", false
}

func (r rule) allows(rules []rule, to string, patterns ...string) bool {
	if _, _, ours := ruleOf(rules, to); !ours {
		first, _, _ := strings.Cut(to, "/")
		return !r.std || !strings.Contains(first, ".") // a domain name: not the standard library
	}
	return slices.ContainsFunc(strings.Fields(strings.Join(patterns, " ")), func(pattern string) bool {
		_, ok := match(pattern, to)
		return ok
	})
}

// match reports whether a pattern matches a package, and returns the pattern without wildcards.
func match(pattern, name string) (own string, ok bool) {
	pattern, deep := strings.CutSuffix(pattern, "/...")
	want, got := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(got) < len(want) || len(got) > len(want) && !deep {
		return "", false
	}
	for i, element := range want {
		if element != "*" && element != got[i] {
			return "", false
		}
	}
	own = strings.Join(got[:len(want)], "/")
	if deep {
		own += "/..."
	}
	return own, true
}

// importers returns the packages of this module that import a path with the prefix and that are in the transitive
// imports of from, including from.
func (g graph) importers(from, prefix string) []string {
	var found []string
	seen := map[string]bool{from: true}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		p := g[next[0]]
		if p == nil {
			continue // not a package of this module
		}
		if slices.ContainsFunc(p.imports, func(i string) bool { return strings.HasPrefix(i, prefix) }) {
			found = append(found, next[0])
		}
		for _, i := range p.imports {
			if !seen[i] {
				seen[i] = true
				next = append(next, i)
			}
		}
	}
	return found
}
