package cel

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/petrigate/petrigate/internal/diag"
)

// program is one expression, ready to run. It is safe for concurrent use.
type program struct {
	run  cel.Program
	uses map[string][]string // the variables that it names, with the members that it looks at; nil: all
	keys []string            // what it reads by its name
}

// lookup is what an expression wants of an object.
type lookup struct {
	members []string // nil: all
	keys    []string // which it reads in the object or below
}

// compile checks an expression; the result is of one of these types, where
// there are any. Its error is an [diag.List].
func (e *environment) compile(src string, names *Names, want ...*cel.Type) (*program, error) {
	if len(src) > maxSource {
		return nil, whole(fmt.Sprintf("the expression is longer than %d bytes", maxSource), "")
	}
	env, err := e.make()
	if err != nil {
		return nil, whole(fmt.Sprintf("preparing expressions: %v", err), "")
	}
	checked, errs := e.check(env, src)
	if len(errs) > 0 {
		return nil, sorted(errs)
	}
	if out := checked.OutputType(); !wanted(out, want) {
		return nil, whole(fmt.Sprintf("the expression yields %s, not %s", article(out), article(want[0])), "")
	}
	if errs := append(names.check(src, checked), dynamicPatterns(src, checked)...); len(errs) > 0 {
		return nil, sorted(errs)
	}
	estimate, err := env.EstimateCost(checked, sizes{})
	if err == nil && estimate.Min > maxCost {
		return nil, whole("the expression takes too much work", "")
	}
	run, err := env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(prices{}), cel.OptimizeRegex(matching))
	if err != nil {
		return nil, whole(err.Error(), "")
	}
	return &program{run: run, uses: idents(checked), keys: keysOf(checked)}, nil
}

// matching is how "matches" runs. Read-only.
var matching = &interpreter.RegexOptimization{Function: "matches", RegexIndex: 1, Factory: bounded}

// check parses and checks the types.
func (e *environment) check(env *cel.Env, src string) (*cel.Ast, diag.List) {
	parsed, issues := env.Parse(src)
	checked := parsed
	if issues.Err() == nil {
		checked, issues = env.Check(parsed)
	}
	var errs diag.List
	syntax := false
	for _, problem := range issues.Errors() {
		if strings.HasPrefix(problem.Message, "Syntax error: ") {
			if syntax {
				continue // it follows from the first
			}
			syntax = true
		}
		errs = append(errs, issueAt(src, problem))
	}
	if len(errs) == 0 && issues.Err() != nil {
		errs = append(errs, errorAt(src, 0, issues.Err().Error(), ""))
	}
	return checked, errs
}

// dynamicPatterns finds patterns that come with the data: whoever writes a
// call would write what it is held to.
func dynamicPatterns(src string, a *cel.Ast) (errs diag.List) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.FunctionMatcher("matches")) {
		args := e.AsCall().Args()
		if pattern := args[len(args)-1]; pattern.Kind() != ast.LiteralKind {
			at := a.NativeRep().SourceInfo().GetStartLocation(pattern.ID())
			errs = append(errs, errorAt(src, offsetOf(src, at.Line(), at.Column()), "the pattern of matches must be written out", "in quotes"))
		}
	}
	return errs
}

// wanted reports whether a result can be of one of the types: what is not
// known before, such as a field of the arguments, is looked at when it comes.
func wanted(out *cel.Type, want []*cel.Type) bool {
	if len(want) == 0 || out.IsExactType(cel.DynType) {
		return true
	}
	for _, t := range want {
		if out.IsExactType(t) {
			return true
		}
	}
	return false
}

func article(t *cel.Type) string {
	switch name := t.String(); name {
	case "bool":
		return "true or false"
	case "int", "uint", "double":
		return "a number"
	case "string":
		return "a text"
	default:
		if strings.HasPrefix(name, "map(") {
			return "a map"
		}
		if strings.HasPrefix(name, "list(") {
			return "a list"
		}
		return name
	}
}

// idents are the names that stand free in an expression, with the members that
// it looks at; nil where it looks at the whole.
func idents(a *cel.Ast) map[string][]string {
	uses := make(map[string][]string)
	whole := make(map[string]bool)
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		name := e.AsIdent()
		parent, ok := e.Parent()
		if ok {
			var of, key string
			if of, key, ok = member(parent); ok && of == name {
				uses[name] = append(uses[name], key)
				continue
			}
		}
		whole[name] = true
	}
	for name := range whole {
		uses[name] = nil
	}
	return uses
}

// eval runs the program. Whatever goes wrong is an error.
func (p *program) eval(variables func(name string, want lookup) (any, error)) (v ref.Val, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("evaluating the expression: %v", r)
		}
	}()
	vars := make(map[string]any, len(p.uses))
	for name, members := range p.uses {
		if vars[name], err = variables(name, lookup{members, p.keys}); err != nil {
			return nil, err
		}
	}
	v, _, err = p.run.Eval(vars)
	var canceled interpreter.EvalCancelledError
	if errors.As(err, &canceled) {
		return nil, errors.New("the expression takes too much work for these arguments")
	}
	return v, err
}

// sizes tells the estimate how large the data can be.
type sizes struct{}

// EstimateSize is that of anything that comes with a call.
func (sizes) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if n.ComputedSize() != nil || len(n.Path()) == 0 {
		return nil
	}
	return &cost.SizeEstimate{Min: 0, Max: maxArgs}
}

// EstimateCallCost leaves functions to their models.
func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}
