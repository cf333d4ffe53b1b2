package cel

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// keys contains the keys of objects, grouped regardless of letter case. It is used to detect keys
// that differ only in letter case. An expression might read one of them and the server another.
type keys map[string][]string

// maxSpellings is the maximum number of spellings stored per key. Two are enough: at least one of
// them differs from the spelling that an expression reads.
const maxSpellings = 2

func (k keys) add(key string) {
	folded := rawjson.Fold(key)
	if all := k[folded]; len(all) < maxSpellings && !slices.Contains(all, key) {
		k[folded] = append(all, key)
	}
}

// checkSpelling returns an error if k contains a key that differs from the given one only in letter
// case.
func (k keys) checkSpelling(key string) error {
	for _, s := range k[rawjson.Fold(key)] {
		if s != key {
			return &Unreadable{fmt.Sprintf("an expression cannot read the arguments: a key differs from %q in letter case only", key)}
		}
	}
	return nil
}

// keysOf returns the keys that an expression reads. These are the names of fields and the string
// literals used as keys. If the expression computes keys or iterates over them, any string literal
// in it might be a key, so all of them are included.
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
	return list.Sorted(found)
}

func literal(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}
