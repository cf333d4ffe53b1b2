package cel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// Names contains the allowed keys of a net's variables "marking" and "meta". An expression that
// uses another key of these variables does not compile. If a list is nil, keys are checked only
// during evaluation.
type Names struct {
	Places     []string // keys of the variable "marking"
	Remembered []string // keys of the variable "meta"
}

// check reports keys in the expression that are not in n.
func (n *Names) check(src string, a *cel.Ast) (errs diag.List) {
	if n == nil {
		return nil
	}
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.AllMatcher()) {
		of, key, ok := member(e)
		if !ok {
			continue
		}
		var known []string
		var msg, all string
		switch of {
		case "marking":
			known, msg, all = n.Places, "unknown place %q", "places: "
		case "meta":
			known, msg, all = n.Remembered, "no transition remembers %q", "remembered: "
		}
		if known == nil || slices.Contains(known, key) {
			continue
		}
		start := a.NativeRep().SourceInfo().GetStartLocation(e.ID()) // CEL reports a position shortly before the key
		at := offsetOf(src, start.Line(), start.Column())
		at += max(0, strings.Index(src[at:], key))
		errs = append(errs, errorAt(src, at, fmt.Sprintf(msg, key), cmp.Or(text.Suggest(key, known), all+strings.Join(known, ", "))))
	}
	return errs
}

// member splits an expression of the form name.key, name["key"], name.?key or name[?"key"].
func member(e ast.Expr) (name, key string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		if s := e.AsSelect(); s.Operand().Kind() == ast.IdentKind {
			return s.Operand().AsIdent(), s.FieldName(), true
		}
	case ast.CallKind:
		switch args := e.AsCall().Args(); e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			if key, ok = literal(args[1]); ok && args[0].Kind() == ast.IdentKind {
				return args[0].AsIdent(), key, true
			}
		}
	}
	return "", "", false
}
