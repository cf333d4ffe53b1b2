package cel

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// Names are the keys that the variables of a net have. An expression that
// names another one does not compile; a nil list leaves it to the evaluation.
type Names struct {
	Places     []string // of marking
	Remembered []string // of meta
}

// check finds the keys that there are not.
func (n *Names) check(src string, a *cel.Ast) (errs diag.List) {
	if n == nil {
		return nil
	}
	info := a.NativeRep().SourceInfo()
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.AllMatcher()) {
		of, key, ok := member(e)
		if !ok {
			continue
		}
		at := info.GetStartLocation(e.ID())
		report := func(known []string, msg, none string) {
			if known == nil || contains(known, key) {
				return
			}
			hint := text.Suggest(key, known)
			if hint == "" {
				hint = none
			}
			errs = append(errs, errorAt(src, keyBehind(src, offsetOf(src, at.Line(), at.Column()), key), fmt.Sprintf(msg, key), hint))
		}
		switch of {
		case "marking":
			report(n.Places, "unknown place %q", "places: "+strings.Join(n.Places, ", "))
		case "meta":
			report(n.Remembered, "nothing remembers %q", "remembered: "+strings.Join(n.Remembered, ", "))
		}
	}
	return errs
}

// keyBehind is where a key stands, of which CEL gives what comes before it.
func keyBehind(src string, at int, key string) int {
	return at + max(0, strings.Index(src[at:], key))
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// member reads name.key, name["key"], name.?key and name[?"key"].
func member(e ast.Expr) (name, key string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		if s := e.AsSelect(); s.Operand().Kind() == ast.IdentKind {
			return s.Operand().AsIdent(), s.FieldName(), true
		}
	case ast.CallKind:
		c := e.AsCall()
		switch c.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
		default:
			return "", "", false
		}
		args := c.Args()
		if len(args) != 2 || args[0].Kind() != ast.IdentKind || args[1].Kind() != ast.LiteralKind {
			return "", "", false
		}
		text, isText := args[1].AsLiteral().(types.String)
		return args[0].AsIdent(), string(text), isText
	}
	return "", "", false
}
