package archtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/petrigate/petrigate"

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	TestGoFiles             []string
	XTestGoFiles            []string
	Imports                 []string
	TestImports             []string
	XTestImports            []string
}

// A listing is what the go command tells of the module.
type listing struct {
	ours   []listed
	export map[string]string // where the export data of all that they import is
}

// list asks the go command, once for all tests.
var list = sync.OnceValues(func() (*listing, error) {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := &listing{export: map[string]string{}}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all.export[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			all.ours = append(all.ours, p)
		}
	}
})

// packages lists the packages of the module.
func packages(t *testing.T) []listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all.ours
}

// A row of the tables in CONTRIBUTING.md: what its first cell names, and what its last cell names.
type row struct{ names, allowed []string }

var quoted = regexp.MustCompile("`([^`]+)`")

// table reads the table below a heading of CONTRIBUTING.md.
func table(t *testing.T, heading string) (rows []row) {
	t.Helper()
	f, err := os.Open("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cell := func(s string) (names []string) {
		for _, m := range quoted.FindAllStringSubmatch(s, -1) {
			names = append(names, m[1])
		}
		return names
	}
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "## ") {
			in = line == "## "+heading
		}
		if in && strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			rows = append(rows, row{cell(cells[0]), cell(cells[len(cells)-1])})
		}
	}
	if len(rows) == 0 {
		t.Fatalf("CONTRIBUTING.md has no table below %q", heading)
	}
	return rows
}

// TestEdges holds the edges between our packages to the table of packages.
func TestEdges(t *testing.T) {
	allowed := map[string][]string{}
	for _, r := range table(t, "Where things are") {
		for _, name := range r.names {
			allowed[name] = r.allowed
		}
	}
	ours := packages(t)
	seen := map[string]bool{}
	for _, p := range ours {
		name := short(p.ImportPath)
		seen[name] = true
		may, ok := allowed[name]
		if !ok {
			t.Errorf("%s is not in the table of packages of CONTRIBUTING.md", name)
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) || slices.Contains(may, "everything") {
				continue
			}
			if !slices.Contains(may, short(i)) {
				t.Errorf("%s imports %s, which the table of packages of CONTRIBUTING.md does not allow", name, short(i))
			}
		}
		for _, name := range may { // an edge that is not used is not an edge
			if name != "everything" && ok && !slices.Contains(p.Imports, module+"/"+name) {
				t.Errorf("the table of packages allows %s to import %s, which it does not", short(p.ImportPath), name)
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("CONTRIBUTING.md names the package %s, which does not exist", name)
		}
	}
}

// TestLibraries holds what others have written to the packages that may know it.
func TestLibraries(t *testing.T) {
	ours := packages(t)
	for _, r := range table(t, "Libraries") {
		for _, p := range ours {
			if slices.Contains(r.allowed, short(p.ImportPath)) {
				continue
			}
			for _, i := range p.Imports {
				for _, library := range r.names {
					if i == library || strings.HasPrefix(i, library+"/") {
						t.Errorf("%s imports %s, which only %s may", short(p.ImportPath), i, strings.Join(r.allowed, ", "))
					}
				}
			}
		}
	}
}

func short(path string) string { return strings.TrimPrefix(path, module+"/") }

// Bounds of what a reader can hold in mind.
const (
	maxMethods     = 60
	maxMutexes     = 3
	maxLines       = 5000
	maxLinesOfRoom = 3000 // of a package below proxy
)

// TestSizes bounds the methods of a type and the locks of one struct. Lines only warn: a bound
// on them was met by moving code to where it did not belong.
func TestSizes(t *testing.T) {
	check(t, func(p typed) {
		lines, bound := 0, maxLines
		if strings.HasPrefix(short(p.ImportPath), "proxy/internal/") {
			bound = maxLinesOfRoom
		}
		for _, f := range p.files {
			lines += written(t, p.fset.Position(f.FileStart).Filename)
		}
		if lines > bound {
			t.Logf("%s has %d lines; beyond %d a package is hard to keep in mind", short(p.ImportPath), lines, bound)
		}
		for _, name := range p.pkg.Scope().Names() {
			named, ok := p.pkg.Scope().Lookup(name).Type().(*types.Named)
			if _, isType := p.pkg.Scope().Lookup(name).(*types.TypeName); !ok || !isType {
				continue
			}
			if n := named.NumMethods(); n > maxMethods {
				t.Errorf("%s.%s has %d methods; %d are allowed", short(p.ImportPath), name, n, maxMethods)
			}
			if n := len(mutexes(named)); n > maxMutexes {
				t.Errorf("%s.%s has %d mutexes; %d are allowed", short(p.ImportPath), name, n, maxMutexes)
			}
		}
	})
}

// written counts the lines of a file that are not blank.
func written(t *testing.T, file string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

// TestLocks keeps a lock in the file of the type that has it.
func TestLocks(t *testing.T) {
	check(t, func(p typed) {
		home := map[types.Object]string{}
		for _, name := range p.pkg.Scope().Names() {
			for _, f := range mutexes(p.pkg.Scope().Lookup(name).Type()) {
				home[f] = p.fset.Position(f.Pos()).Filename
			}
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				at := p.fset.Position(s.Pos())
				if v, ok := p.info.Uses[s.Sel].(*types.Var); ok && home[v.Origin()] != "" && home[v.Origin()] != at.Filename {
					t.Errorf("%s:%d touches the lock %s of another file (%s)", at.Filename, at.Line, s.Sel.Name, filepath.Base(home[v.Origin()]))
				}
				return true
			})
		}
	})
}

// TestOneSender: a call reaches an upstream by way of pipeline.forward alone, which needs a
// pass of the admission: package pool sends no call without Request.Again.
func TestOneSender(t *testing.T) {
	sets := map[string]int{}
	check(t, func(p typed) {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				at := strings.TrimPrefix(p.ImportPath, module+"/") + "/" + filepath.Base(p.fset.Position(id.Pos()).Filename)
				switch of := p.info.Uses[id].(type) {
				case *types.Var:
					if of.IsField() && of.Name() == "Again" && of.Pkg().Path() == module+"/proxy/internal/upstream/conn" {
						sets[at]++
					}
				case *types.Func:
					if of.FullName() == "(*"+module+"/proxy/internal/upstream.Upstream).Send" && !strings.HasPrefix(at, "proxy/internal/upstream/") {
						sets["Upstream.Send in "+at]++
					}
				}
				return true
			})
		}
	})
	want := map[string]int{
		"proxy/internal/pipeline/forward.go":              1, // sets it
		"proxy/internal/pool/server.go":                   1, // refuses a call without
		"proxy/internal/upstream/streamable/roundtrip.go": 2, // asks it
		"proxy/internal/upstream/streamable/conn.go":      1, // gives it to Conn.Do, which asks it
		"proxy/internal/upstream/httpsse/conn.go":         1, // the same
		"Upstream.Send in proxy/internal/pool/server.go":  1,
	}
	if !maps.Equal(sets, want) {
		t.Errorf("Request.Again is used, and Upstream.Send called, in %v, want %v: send calls by pipeline.forward", sets, want)
	}
}

// mutexes are the fields of a struct that are locks.
func mutexes(t types.Type) (fields []*types.Var) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		switch types.TypeString(f.Type(), nil) {
		case "sync.Mutex", "sync.RWMutex":
			fields = append(fields, f)
		}
	}
	return fields
}

// shipped are the packages of the program, without what only tests use.
func shipped(ours []listed) map[string]bool {
	imports := map[string][]string{}
	for _, p := range ours {
		imports[p.ImportPath] = p.Imports
	}
	all := map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if _, is := imports[path]; !is || all[path] {
			return
		}
		all[path] = true
		for _, i := range imports[path] {
			add(i)
		}
	}
	add(module + "/cmd/petrigate")
	add(module + "/config/policy")
	return all
}

// TestShipped keeps what is for tests out of the program.
func TestShipped(t *testing.T) {
	ours := packages(t)
	all := shipped(ours)
	for _, name := range []string{"internal/testserver", "internal/testbinary", "internal/messagetest", "internal/docpage", "internal/leftover", "internal/soak", "internal/authserver", "internal/runtime/store/backend/backendtest"} {
		if all[module+"/"+name] {
			t.Errorf("the program has %s in it", name)
		}
	}
}

// TestWhereDoI: what CONTRIBUTING says of where things are is there.
func TestWhereDoI(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Where do I ...\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| (.*) \\| `(.*)` \\| `(.*)` \\|$").FindAllStringSubmatch(section, -1)
	if len(rows) < 10 {
		t.Fatalf("%d questions are answered", len(rows))
	}
	for _, row := range rows {
		if _, err := os.Stat(filepath.Join("../..", row[2], row[3])); err != nil {
			t.Errorf("%s %v", row[1], err)
		}
	}
}

// check runs f on each package of the program with its types.
func check(t *testing.T, f func(typed)) {
	t.Helper()
	all, err := checked()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		f(p)
	}
}

// A typed package is one that was read with its types.
type typed struct {
	listed
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// checked reads the packages of the program with their types, once for all tests.
var checked = sync.OnceValues(func() (all []typed, err error) {
	found, err := list()
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	from := compiled(fset, found.export)
	program := shipped(found.ours)
	for _, p := range found.ours {
		if !program[p.ImportPath] || len(p.GoFiles) == 0 {
			continue
		}
		files, err := parse(fset, p, p.GoFiles)
		if err != nil {
			return nil, err
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		pkg, err := (&types.Config{Importer: from}).Check(p.ImportPath, fset, files, info)
		if err != nil {
			return nil, err
		}
		all = append(all, typed{p, fset, files, pkg, info})
	}
	return all, nil
})

// compiled imports packages by their export data.
func compiled(fset *token.FileSet, export map[string]string) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(export[path])
	})
}

// parse reads files of a package.
func parse(fset *token.FileSet, p listed, names []string) (files []*ast.File, err error) {
	for _, name := range names {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
