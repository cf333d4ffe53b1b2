package archtest

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A reading is one measurement of the code, such as the number of methods of a type.
type reading struct {
	what   string  // name of the measurement: comments, cycles, direction or methods
	of     string  // subject: a package, a type, or "all"
	value  float64 // lower values are better
	detail string
}

// goals contains the bounds for measurements that are not listed in bounds.txt.
var goals = map[string]float64{
	"comments":  1,  // comments with unidiomatic phrases, per 100
	"cycles":    30, // files in the largest dependency cycle of their package, per 100
	"direction": 2,  // pairs of declarations that violate the order of files, per 100
	"methods":   45, // methods of a type, including functions that take it as their first argument
}

// TestBounds compares each measurement with its goal. If the code does not meet the goal yet,
// bounds.txt contains a higher bound. With -update, bounds are lowered to the measured values; they
// are never raised.
func TestBounds(t *testing.T) {
	bounds := readBounds(t)
	kept := map[string]string{}
	var all []reading
	all = append(all, measureComments(t))
	check(t, func(p typed) { all = append(all, measureMethods(p)...) })
	all = append(all, measureFiles(t)...)
	for _, r := range all {
		key := r.what + " " + r.of
		bound, has := bounds[key]
		if !has {
			bound = goals[r.what]
		}
		r.value = math.Round(10*r.value) / 10 // as in bounds.txt
		if r.value > bound {
			t.Errorf("%s: %.1f, at most %.1f are allowed\n%s", key, r.value, bound, r.detail)
		}
		if has && min(r.value, bound) > goals[r.what] {
			kept[key] = fmt.Sprintf("%s %.1f\n", key, min(r.value, bound))
		}
	}
	if *update {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(kept)) {
			b.WriteString(kept[key])
		}
		if err := os.WriteFile("bounds.txt", []byte(boundsHead+b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const boundsHead = "# What does not meet its goal yet (bounds_test.go), with a bound that only falls.\n"

// readBounds reads bounds.txt. Each line contains a measurement, its subject and the bound.
func readBounds(t *testing.T) map[string]float64 {
	t.Helper()
	f, err := os.Open("bounds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bounds := map[string]float64{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); !strings.HasPrefix(line, "#") {
			var what, of string
			var bound float64
			if _, err := fmt.Sscan(line, &what, &of, &bound); err != nil {
				t.Fatalf("bounds.txt: %q: %v", line, err)
			}
			bounds[what+" "+of] = bound
		}
	}
	return bounds
}

// privateEnglish matches phrases that make a native reader stumble.
var privateEnglish = regexp.MustCompile(`(?i)\b((of|by|from|to|for|with|in|at|on|after|before|behind|beside|without|under) (which|whom|whose)` +
	`|(told|tells|tell) of|there (is|are) (of|none)|whoever|nobody|is (none|no [a-z]+)|may not|says (that|what|which|how|who|where|why)` +
	`|as (it|they) (is|are|was|were)|what (it|is|there|they|comes|can|has|was)|it is for|(goes|go|went) on|(is|are) to (be|[a-z]+))\b`)

// measureComments returns the share of comments in the module, except for its tests, that contain
// such a phrase.
func measureComments(t *testing.T) reading {
	all, odd := 0, []string(nil)
	for _, p := range packages(t) {
		files, err := parse(token.NewFileSet(), p, p.GoFiles)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			for _, g := range f.Comments {
				text := strings.Join(strings.Fields(g.Text()), " ")
				if text == "" || strings.HasPrefix(g.List[0].Text, "//nolint") {
					continue
				}
				all++
				if form := privateEnglish.FindString(text); form != "" {
					odd = append(odd, fmt.Sprintf("%s/%s: %q in: %.60s", short(p.ImportPath), p.GoFiles[i], form, text))
				}
			}
		}
	}
	return reading{"comments", "all", 100 * float64(len(odd)) / float64(all), strings.Join(odd[:min(len(odd), 20)], "\n")}
}

// measureMethods counts the methods of each type in a package. It includes the package's functions
// that take the type as their first argument, because they are methods in all but syntax.
func measureMethods(p typed) (all []reading) {
	count := map[string]int{}
	scope := p.pkg.Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.TypeName:
			if named, ok := o.Type().(*types.Named); ok {
				count[name] += named.NumMethods()
			}
		case *types.Func:
			params := o.Signature().Params()
			if params.Len() == 0 {
				continue
			}
			first := params.At(0).Type()
			if pointer, ok := first.(*types.Pointer); ok {
				first = pointer.Elem()
			}
			if named, ok := first.(*types.Named); ok && named.Obj().Pkg() == p.pkg {
				count[named.Obj().Name()]++
			}
		}
	}
	for name, n := range count {
		all = append(all, reading{what: "methods", of: short(p.ImportPath) + "." + name, value: float64(n)})
	}
	return all
}

// measureFiles measures how the files of each package depend on one another: over all packages, how
// many files are in the largest cycle of their package, and for each package, the share of pairs of
// declarations that violate the best order of its files.
func measureFiles(t *testing.T) (all []reading) {
	files, inCycles := 0, 0
	var worst []string
	check(t, func(p typed) {
		g := graphOf(p)
		files += len(g.names)
		if n := g.largestCycle(); n > 1 {
			inCycles += n
			worst = append(worst, fmt.Sprintf("%3d of %d in %s", n, len(g.names), short(p.ImportPath)))
		}
		wrong, pairs, which := g.wrongWay()
		if pairs >= 50 { // in smaller packages, a single pair would count too much
			all = append(all, reading{"direction", short(p.ImportPath), 100 * float64(wrong) / float64(pairs), strings.Join(which[:min(len(which), 20)], "\n")})
		}
	})
	slices.Sort(worst)
	slices.Reverse(worst)
	return append(all, reading{"cycles", "all", 100 * float64(inCycles) / float64(files), strings.Join(worst[:min(len(worst), 20)], "\n")})
}

// A fileGraph contains a package's files, and the pairs of declarations in different files that
// depend on each other.
type fileGraph struct {
	names []string
	pairs map[[2]int]map[string]bool // keyed by the using file and the used file; each pair has the form "user > used"
}

// graphOf returns the pairs of declarations in a package that use each other across files:
// functions, methods, types, fields, constants and variables.
func graphOf(p typed) *fileGraph {
	g := &fileGraph{pairs: map[[2]int]map[string]bool{}}
	at := map[string]int{}
	for i, f := range p.files {
		name := p.fset.Position(f.FileStart).Filename
		g.names, at[name] = append(g.names, filepath.Base(name)), i
	}
	for i, f := range p.files {
		for _, d := range f.Decls {
			user := nameOf(d)
			ast.Inspect(d, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				o := p.info.Uses[id]
				if o == nil || o.Pkg() != p.pkg || !isDeclared(o, p.pkg) {
					return true
				}
				if j := at[p.fset.Position(o.Pos()).Filename]; j != i {
					key := [2]int{i, j}
					if g.pairs[key] == nil {
						g.pairs[key] = map[string]bool{}
					}
					g.pairs[key][user+" > "+o.Name()] = true
				}
				return true
			})
		}
	}
	return g
}

// isDeclared reports whether o is a field, a method, or declared at the top level of its package.
func isDeclared(o types.Object, pkg *types.Package) bool {
	switch o := o.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == pkg.Scope()
	case *types.Func, *types.TypeName, *types.Const:
		return o.Parent() == nil || o.Parent() == pkg.Scope()
	}
	return false
}

// nameOf returns the name of a declaration.
func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && len(d.Recv.List) > 0 {
			return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		if len(d.Specs) > 0 {
			if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
				return s.Name.Name
			}
		}
	}
	return "a declaration"
}

// largestCycle returns the number of files in the largest strongly connected component, using
// Tarjan's algorithm.
func (g *fileGraph) largestCycle() (largest int) {
	n := len(g.names)
	index, low, onStack := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, onStack[v] = append(stack, v), true
		for w := range n {
			switch {
			case len(g.pairs[[2]int{v, w}]) == 0:
			case index[w] == 0:
				visit(w)
				low[v] = min(low[v], low[w])
			case onStack[w]:
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		size := 0
		for w := -1; w != v; size++ {
			w = stack[len(stack)-1]
			stack, onStack[w] = stack[:len(stack)-1], false
		}
		largest = max(largest, size)
	}
	for v := range n {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}

// wrongWay finds an order of the files that few pairs violate, by moving single files from several
// starting points. It returns the number of pairs that violate the order, the number of all pairs,
// and descriptions of the former.
func (g *fileGraph) wrongWay() (wrong, all int, which []string) {
	n := len(g.names)
	cost := make([][]int, n)
	for i := range cost {
		cost[i] = make([]int, n)
		for j := range cost[i] {
			cost[i][j] = len(g.pairs[[2]int{i, j}])
			all += cost[i][j]
		}
	}
	var best []int
	for try := range 10 {
		order := make([]int, n)
		for i := range order {
			order[i] = (i + try*n/10) % n
		}
		if order = settle(order, cost); best == nil || back(order, cost) < back(best, cost) {
			best = order
		}
	}
	for a := range best {
		for _, b := range best[a+1:] {
			for _, pair := range slices.Sorted(maps.Keys(g.pairs[[2]int{b, best[a]}])) {
				which = append(which, fmt.Sprintf("%s -> %s: %s", g.names[b], g.names[best[a]], pair))
			}
		}
	}
	return back(best, cost), all, which
}

// back counts the pairs that point from a later file to an earlier one.
func back(order []int, cost [][]int) (n int) {
	for a := range order {
		for _, b := range order[a+1:] {
			n += cost[b][order[a]]
		}
	}
	return n
}

// settle moves single files to their best places until no move improves the order.
func settle(order []int, cost [][]int) []int {
	for improved := true; improved; {
		improved = false
		for a := range order {
			x := order[a]
			rest := slices.Delete(slices.Clone(order), a, a+1)
			wrong := 0 // number of pairs that would violate the order if x were at the current place, counted from the end
			for _, r := range rest {
				wrong += cost[x][r]
			}
			lowest, place, now := wrong, len(rest), 0
			if a == len(rest) {
				now = wrong
			}
			for q := len(rest) - 1; q >= 0; q-- {
				wrong += cost[rest[q]][x] - cost[x][rest[q]]
				if wrong < lowest {
					lowest, place = wrong, q
				}
				if q == a {
					now = wrong
				}
			}
			if lowest < now {
				order, improved = slices.Insert(rest, place, x), true
			}
		}
	}
	return order
}
