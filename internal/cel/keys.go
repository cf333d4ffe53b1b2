package cel

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// keys are the keys of objects, by the form in which those are equal that differ
// in letter case only. A server may take one of those for another, so where a call
// has a key that differs so from one that an expression reads, the expression
// cannot tell what the server will see.
type keys map[string][]string

// spellings is how many of one key are kept: of two, one at least is another than
// whatever is read.
const spellings = 2

func (k keys) add(key string) {
	folded := rawjson.Fold(key)
	if all := k[folded]; len(all) < spellings && !slices.Contains(all, key) {
		k[folded] = append(all, key)
	}
}

// doubt is an error if k has another spelling of the key.
func (k keys) doubt(key string) error {
	for _, s := range k[rawjson.Fold(key)] {
		if s != key {
			return &Unreadable{fmt.Sprintf("the arguments cannot be read by an expression: a key differs from %q in letter case only", key)}
		}
	}
	return nil
}

// keysOf collects what an expression reads by its name: fields, and texts in the
// place of keys. Where keys are computed or gone through, any of its texts may be
// what they are compared with.
func keysOf(a *cel.Ast) []string {
	var found, texts []string
	computed := false
	text := func(e ast.Expr) {
		if s, ok := literal(e); ok {
			found = append(found, s)
		} else {
			computed = true
		}
	}
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a.NativeRep()), ast.AllMatcher()) {
		switch e.Kind() {
		case ast.SelectKind:
			found = append(found, e.AsSelect().FieldName())
		case ast.ComprehensionKind:
			computed = true
		case ast.MapKind:
			for _, entry := range e.AsMap().Entries() {
				text(entry.AsMapEntry().Key())
			}
		case ast.LiteralKind:
			if s, ok := literal(e); ok {
				texts = append(texts, s)
			}
		case ast.CallKind:
			switch c := e.AsCall(); c.FunctionName() {
			case operators.Index, operators.OptIndex, operators.OptSelect:
				text(c.Args()[1])
			case operators.In:
				text(c.Args()[0])
			}
		}
	}
	if computed {
		found = append(found, texts...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}
