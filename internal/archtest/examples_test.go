package archtest

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// shown lists the packages where all entry points must have an Example.
var shown = []string{"gate", "gate/toolnet", "rules", "internal/petri"}

// plain lists methods that need no Example, because they print a value or return its position.
var plain = []string{"Error", "Position", "String", "Unwrap"}

// TestExamples checks that each exported function and method of these packages has an Example of
// its own (ExampleF, ExampleT_M), or that an Example for its type (ExampleT, ExampleT_N) calls it.
// The type of a function is that of its first result. Only Examples with an "Output:" count,
// because only these are run.
func TestExamples(t *testing.T) {
	ours := packages(t)
	for _, name := range shown {
		at := slices.IndexFunc(ours, func(p listed) bool { return short(p.ImportPath) == name })
		if at < 0 {
			t.Errorf("there is no package %s", name)
			continue
		}
		fset := token.NewFileSet()
		pkg, calls := examples(t, fset, ours[at])
		for _, e := range entries(pkg) {
			file := fset.Position(e.f.Pos()).Filename
			if slices.Contains(plain, e.f.Name()) || strings.HasSuffix(file, "_test.go") || e.shown(calls) {
				continue
			}
			t.Errorf("%s: %s has no Example%s, and no Example of %s calls it", file, e.f.FullName(), e.name, cmp.Or(e.owner, "its type"))
		}
	}
}

// An entry is an exported function or method.
type entry struct {
	f     *types.Func
	name  string // name in an Example: F or T_M
	owner string // type below which go doc lists it; may be empty
}

// shown reports whether some Example belongs to the entry: it has the entry's name, or it belongs
// to the entry's type and calls the entry.
func (e entry) shown(calls map[string]map[*types.Func]bool) bool {
	for example, called := range calls {
		if is(example, e.name) || e.owner != "" && is(example, e.owner) && called[e.f] {
			return true
		}
	}
	return false
}

// is reports whether the Example with the given name is about name.
func is(example, name string) bool {
	return example == name || strings.HasPrefix(example, name+"_")
}

// entries returns a package's exported functions and the exported methods of its exported types. It
// includes types that are aliases for types in an internal package below it.
func entries(pkg *types.Package) (all []entry) {
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if f, ok := o.(*types.Func); ok && f.Exported() {
			all = append(all, entry{f, name, resultOf(f)})
		}
		named, ok := types.Unalias(o.Type()).(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType || !o.Exported() || !ownedBy(pkg, named.Obj().Pkg()) {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				all = append(all, entry{m, name + "_" + m.Name(), name})
			}
		}
	}
	return all
}

func ownedBy(pkg, of *types.Package) bool {
	return of == pkg || of != nil && strings.HasPrefix(of.Path(), pkg.Path()+"/internal/")
}

// resultOf returns the name of the type in this package that a function returns first.
func resultOf(f *types.Func) string {
	if f.Signature().Results().Len() == 0 {
		return ""
	}
	of := f.Signature().Results().At(0).Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	if named, ok := of.(*types.Named); ok && named.Obj().Pkg() == f.Pkg() {
		return named.Obj().Name()
	}
	return ""
}

// examples type-checks a package together with its tests. It returns the package's functions that
// each Example calls, keyed by the Example's name without the word Example.
func examples(t *testing.T, fset *token.FileSet, p listed) (*types.Package, map[string]map[*types.Func]bool) {
	t.Helper()
	found, err := list()
	if err != nil {
		t.Fatal(err)
	}
	from := compiled(fset, found.export)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// The packages that only the tests import have no export data and do not matter.
	lenient := func(error) {}
	inside, err := parse(fset, p, slices.Concat(p.GoFiles, p.TestGoFiles))
	if err != nil {
		t.Fatal(err)
	}
	pkg, _ := (&types.Config{Importer: from, Error: lenient}).Check(p.ImportPath, fset, inside, info)
	outside, err := parse(fset, p, p.XTestGoFiles)
	if err != nil {
		t.Fatal(err)
	}
	tested := importerFunc(func(path string) (*types.Package, error) {
		if path == p.ImportPath {
			return pkg, nil
		}
		return from.Import(path)
	})
	_, _ = (&types.Config{Importer: tested, Error: lenient}).Check(p.ImportPath+"_test", fset, outside, info)

	calls := map[string]map[*types.Func]bool{}
	for _, e := range doc.Examples(slices.Concat(inside, outside)...) {
		if e.Output == "" && !e.EmptyOutput {
			continue
		}
		calls[e.Name] = map[*types.Func]bool{}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if f, ok := info.Uses[id].(*types.Func); ok {
					calls[e.Name][f] = true
				}
			}
			return true
		})
	}
	return pkg, calls
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
