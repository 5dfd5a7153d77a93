// Command goapi prints the exported identifiers of the public Go packages, one per line, sorted. `make go-api` writes them
// to docs/go-api.txt, and `make check-go-api` fails if the file differs, so that every change of the public API is
// visible in a review.
//
//	goapi ./pkg/...
//
// The format follows the files of Go's repository in its folder api. It imports golang.org/x/tools/go/packages and no package of
// the product.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	lines, err := exported(os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "goapi:", err)
		os.Exit(1)
	}
	if _, err := io.WriteString(os.Stdout, strings.Join(lines, "\n")+"\n"); err != nil {
		fmt.Fprintln(os.Stderr, "goapi:", err)
		os.Exit(1)
	}
}

// exported returns the lines of the packages that the patterns select, without internal packages.
func exported(patterns ...string) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		if !strings.Contains(p.PkgPath+"/", "/internal/") {
			lines = append(lines, linesOf(p)...)
		}
	}
	if len(lines) == 0 {
		return nil, errors.New("the patterns select no public package")
	}
	slices.Sort(lines)
	return lines, nil
}

// linesOf returns one line for each exported identifier of a package: constants with their values, types, fields, methods and
// functions.
func linesOf(p *packages.Package) []string {
	name := strings.TrimPrefix(p.PkgPath, p.Module.Path+"/")
	// Identifiers of the package itself are written without it.
	qualify := func(other *types.Package) string {
		if other == p.Types {
			return ""
		}
		return strings.TrimPrefix(other.Path(), p.Module.Path+"/")
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, name+": "+fmt.Sprintf(format, args...)) }
	scope := p.Types.Scope()
	for _, id := range scope.Names() {
		object := scope.Lookup(id)
		if !object.Exported() {
			continue
		}
		if constant, ok := object.(*types.Const); ok {
			add("%s = %s", types.ObjectString(object, qualify), constant.Val().ExactString())
			continue
		}
		declared, isType := object.(*types.TypeName)
		if !isType {
			add("%s", types.ObjectString(object, qualify))
			continue
		}
		if declared.IsAlias() {
			add("type %s = %s", id, types.TypeString(types.Unalias(declared.Type()), qualify))
			continue
		}
		add("type %s%s %s", id, typeParameters(declared, qualify), kindOf(declared.Type().Underlying(), qualify))
		for _, member := range membersOf(declared.Type(), qualify) {
			add("type %s %s", id, member)
		}
	}
	return lines
}

func typeParameters(declared *types.TypeName, qualify types.Qualifier) string {
	named, ok := declared.Type().(*types.Named)
	if !ok || named.TypeParams().Len() == 0 {
		return ""
	}
	var all []string
	for parameter := range named.TypeParams().TypeParams() {
		all = append(all, parameter.Obj().Name()+" "+types.TypeString(parameter.Constraint(), qualify))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func kindOf(underlying types.Type, qualify types.Qualifier) string {
	switch underlying.(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return types.TypeString(underlying, qualify)
	}
}

// membersOf returns the exported fields of a struct and the exported methods of a type and its pointer, with those that
// embedded fields have.
func membersOf(t types.Type, qualify types.Qualifier) []string {
	var members []string
	if fields, ok := t.Underlying().(*types.Struct); ok {
		for field := range fields.Fields() {
			if field.Exported() {
				members = append(members, fmt.Sprintf("field %s %s", field.Name(), types.TypeString(field.Type(), qualify)))
			}
		}
	}
	methods := types.NewMethodSet(t)
	if !types.IsInterface(t) {
		methods = types.NewMethodSet(types.NewPointer(t))
	}
	for selection := range methods.Methods() {
		if method := selection.Obj(); method.Exported() {
			signature := strings.TrimPrefix(types.TypeString(method.Type(), qualify), "func")
			members = append(members, "method "+method.Name()+signature)
		}
	}
	slices.SortFunc(members, cmp.Compare[string])
	return members
}
