package cel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// A program is a compiled expression. It is safe for concurrent use.
type program struct {
	src  string
	run  cel.Program
	out  *cel.Type
	uses map[string][]string // variables that the expression uses, each with the members that the expression reads; nil means all members
	keys []string            // keys that the expression reads by name
}

// Uses reports whether the expression reads the given variable.
func (p *program) Uses(variable string) bool {
	_, ok := p.uses[variable]
	return ok
}

// compile checks and compiles an expression. If want is not nil, it is the required type of the
// result. A type that is unknown at compile time, such as the type of an argument's field, is
// checked during evaluation. Any error is a [diag.List].
func (e environment) compile(src string, names *Names, want *cel.Type) (*program, error) {
	if len(src) > maxSource {
		return nil, whole(fmt.Sprintf("the expression is longer than %d bytes", maxSource), "")
	}
	env, err := e()
	if err != nil {
		return nil, whole(fmt.Sprintf("preparing expressions: %v", err), "")
	}
	checked, errs := check(env, src)
	if len(errs) > 0 {
		return nil, sorted(errs)
	}
	if out := checked.OutputType(); want != nil && !out.IsExactType(cel.DynType) && !out.IsExactType(want) {
		return nil, whole(fmt.Sprintf("the expression yields %s, not %s", article(out), article(want)), "")
	}
	if errs := slices.Concat(names.check(src, checked), dynamicPatterns(src, checked), homeDirectories(src, checked)); len(errs) > 0 {
		return nil, sorted(errs)
	}
	estimate, err := env.EstimateCost(checked, sizeEstimator{})
	if err == nil && estimate.Min > maxCost {
		return nil, whole("the expression is too expensive", "")
	}
	run, err := env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(costTracker{}), cel.OptimizeRegex(regexOptimization))
	if err != nil {
		return nil, whole(err.Error(), "")
	}
	return &program{src: src, run: run, out: checked.OutputType(), uses: freeVariables(checked), keys: keysOf(checked)}, nil
}

// regexOptimization makes CEL evaluate "matches" with [boundedMatch]. It is read-only.
var regexOptimization = &interpreter.RegexOptimization{Function: "matches", RegexIndex: 1, Factory: boundedMatch}

// check parses an expression and checks its types.
func check(env *cel.Env, src string) (*cel.Ast, diag.List) {
	checked, issues := env.Parse(src)
	if issues.Err() == nil {
		checked, issues = env.Check(checked)
	}
	var errs diag.List
	syntax := false
	for _, problem := range issues.Errors() {
		if strings.HasPrefix(problem.Message, "Syntax error: ") {
			if syntax {
				continue // later syntax errors are consequences of the first
			}
			syntax = true
		}
		errs = append(errs, errorFrom(src, problem.Location, text.Escape(problem.Message), escapeHint(problem.Message)))
	}
	if len(errs) == 0 && issues.Err() != nil {
		return nil, diag.List{{Line: 1, Column: 1, Msg: issues.Err().Error()}}
	}
	return checked, errs
}

// escapeHint explains how to write a backslash, which starts an escape sequence in ordinary CEL
// strings.
func escapeHint(message string) string {
	if strings.Contains(message, "token recognition error") && strings.Contains(message, `\`) {
		return `write a pattern as r'...', where \ stands for itself`
	}
	return ""
}

// dynamicPatterns returns a problem for each regular expression that is not a literal. A regular
// expression taken from the arguments of a call would let the caller choose the result.
func dynamicPatterns(src string, a *cel.Ast) (errs diag.List) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.FunctionMatcher("matches")) {
		args := e.AsCall().Args()
		if pattern := args[len(args)-1]; pattern.Kind() != ast.LiteralKind {
			errs = append(errs, errorFrom(src, a.NativeRep().SourceInfo().GetStartLocation(pattern.ID()), "the pattern in matches must be a literal", "in quotes"))
		}
	}
	return errs
}

// homeDirectories reports calls to the CEL function "within" whose directory begins with "~". Such
// a call would fail for every path, because the home directory is unknown.
func homeDirectories(src string, a *cel.Ast) (errs diag.List) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.FunctionMatcher("within")) {
		args := e.AsCall().Args()
		folder := args[len(args)-1]
		if literal, is := folder.AsLiteral().(types.String); is && strings.HasPrefix(string(literal), "~") {
			errs = append(errs, errorFrom(src, a.NativeRep().SourceInfo().GetStartLocation(folder.ID()),
				"~ depends on the server's user, so within fails for every path", "write the absolute folder, such as '/home/me/.ssh'"))
		}
	}
	return errs
}

func article(t *cel.Type) string {
	name, _, _ := strings.Cut(t.String(), "(")
	words := map[string]string{
		"bool": "true or false", "int": "a number", "uint": "a number", "double": "a number", "string": "a text", "map": "a map", "list": "a list",
	}
	return cmp.Or(words[name], t.String())
}

// freeVariables maps each variable in an expression to the members that the expression reads, or to
// nil if it reads the whole variable. The result includes the variables of comprehensions.
func freeVariables(a *cel.Ast) map[string][]string {
	uses := make(map[string][]string)
	whole := make(map[string]bool)
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.KindMatcher(ast.IdentKind)) {
		name := e.AsIdent()
		if parent, ok := e.Parent(); ok {
			if of, key, ok := member(parent); ok && of == name {
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

// eval evaluates the program. If the evaluation panics, eval returns an error.
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
	if _, canceled := errors.AsType[interpreter.EvalCancelledError](err); canceled {
		return nil, errors.New("the expression is too expensive for these arguments")
	}
	return v, err
}

// A sizeEstimator returns upper bounds on the sizes of data. CEL uses them to estimate costs.
type sizeEstimator struct{}

// EstimateSize returns the bounds on the size of a value that is part of a call.
func (sizeEstimator) EstimateSize(n cost.AstNode) *cost.SizeEstimate {
	if n.ComputedSize() != nil || len(n.Path()) == 0 {
		return nil
	}
	return &cost.SizeEstimate{Min: 0, Max: maxArgs}
}

// EstimateCallCost returns nil. CEL then uses its own models to estimate the cost of function
// calls.
func (sizeEstimator) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}
