package cel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/petrigate/petrigate/internal/text"
)

// translate makes a mistake that CEL found one that a person understands.
func translate(src string, e *common.Error, parsed *cel.Ast, env *cel.Env, variables []string) *Error {
	at := offsetOf(src, e.Location.Line(), e.Location.Column())
	msg, hint := e.Message, ""
	switch {
	case strings.HasPrefix(msg, "Syntax error: "):
		msg, hint = syntaxError(src, at, strings.TrimPrefix(msg, "Syntax error: "))
	case undeclared.MatchString(msg):
		name := undeclared.FindStringSubmatch(msg)[1]
		msg, hint = unknown(name, e.ExprID, parsed, env, variables)
		at = nameBefore(src, at, name)
	case overload.MatchString(msg):
		m := overload.FindStringSubmatch(msg)
		msg = mismatch(m[1], m[2])
		at = nameBefore(src, at, m[1])
	case strings.HasPrefix(msg, "type '") && strings.HasSuffix(msg, "does not support field selection"):
		msg = strings.NewReplacer("type '", "a value of type ", "' does not", " does not", "support field selection", "have fields").Replace(msg)
		at = nameBehind(src, at)
	case strings.HasPrefix(msg, "invalid matches argument"):
		msg, hint = "the pattern of matches cannot be read", "patterns are RE2"
	case strings.HasPrefix(msg, "regex program size "):
		msg = "the pattern of matches is too large"
	case strings.HasPrefix(msg, "expression recursion limit"), strings.HasPrefix(msg, "comprehension exceeds nesting limit"):
		msg = "the expression nests too deeply"
	}
	return errorAt(src, at, text.Escape(msg), hint)
}

// nameBefore is where the name of a function starts, of which CEL gives the
// bracket behind it.
func nameBefore(src string, at int, name string) int {
	before := strings.TrimRight(src[:at], " \t\n")
	if strings.HasSuffix(before, name) {
		return len(before) - len(name)
	}
	return at
}

// nameBehind is where the name of a field starts, of which CEL gives the dot
// before it.
func nameBehind(src string, at int) int {
	return len(src) - len(strings.TrimLeft(src[at:], ".? \t\n"))
}

// The messages of CEL that are put in other words. Read-only.
var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	overload   = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '([^']*)'`)
	unexpected = regexp.MustCompile(`^(?:mismatched|extraneous) input '(.*)' expecting .*$|^no viable alternative at input '(.*)'$`)
)

// syntaxError says what stands where it cannot.
func syntaxError(src string, at int, msg string) (text, hint string) {
	m := unexpected.FindStringSubmatch(msg)
	switch {
	case strings.HasPrefix(src[at:], "="):
		return `"=" is no operator`, `compare with "=="`
	case m != nil && (m[1] == "<EOF>" || m[2] == "<EOF>"), at == len(src):
		return "the expression ends too early", ""
	case m != nil:
		word := m[1] + m[2]
		if strings.HasSuffix(strings.TrimSpace(src[:at]), "not") {
			word = "not"
		}
		return fmt.Sprintf("unexpected %q", word), operatorHint(word)
	case strings.HasPrefix(msg, "token recognition error at: "):
		return "unexpected " + strings.TrimPrefix(msg, "token recognition error at: "), "texts are in quotes, on one line"
	}
	return msg, ""
}

// operatorHint knows how other languages write operators.
func operatorHint(word string) string {
	switch word {
	case "and":
		return `write "&&"`
	case "or":
		return `write "||"`
	case "not":
		return `write "!"`
	}
	return ""
}

// functions are names that other languages have for functions of CEL. Read-only.
var functions = map[string]string{
	"len": "size", "length": "size", "count": "size", "includes": "contains", "match": "matches", "test": "matches", "some": "exists", "any": "exists", "every": "all",
}

// unknown says which name there is not, and what was perhaps meant.
func unknown(name string, id int64, parsed *cel.Ast, env *cel.Env, variables []string) (msg, hint string) {
	if isCall(parsed, id) {
		var known []string
		for f := range env.Functions() {
			known = append(known, f)
		}
		if ours := functions[name]; ours != "" {
			return fmt.Sprintf("unknown function %q", name), fmt.Sprintf("did you mean %q?", ours)
		}
		slices.Sort(known) // of a map
		return fmt.Sprintf("unknown function %q", name), text.Suggest(name, known)
	}
	if hint = text.Suggest(name, variables); hint == "" {
		hint = "known: " + strings.Join(variables, ", ")
	}
	return fmt.Sprintf("unknown name %q", name), hint
}

// isCall reports whether the part of the expression with this id calls a function.
func isCall(parsed *cel.Ast, id int64) bool {
	if parsed == nil {
		return false
	}
	called := ast.MatchDescendants(ast.NavigateAST(parsed.NativeRep()), func(e ast.NavigableExpr) bool {
		return e.ID() == id && e.Kind() == ast.CallKind
	})
	return len(called) > 0
}

// mismatch says which types an operator or a function does not take.
func mismatch(function, types string) string {
	name := function
	if op, ok := operators.FindReverse(function); ok && op != "" {
		name = op
	}
	if target, args, ok := strings.Cut(types, ".("); ok {
		types = "(" + strings.TrimSuffix(target+", "+args, ", )")
	}
	return fmt.Sprintf("%q does not take %s", name, types)
}
