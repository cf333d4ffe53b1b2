package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// messageAt is where the calls that report a problem have its text.
var messageAt = map[string]int{
	"fail": 3, "errorAt": 3, "failName": 4, "warn": 3, "warnName": 4, "warnPattern": 3, "warnAt": 4,
	"name": 0, // what is said where it is missing
}

// TestEveryMessage finds messages in the source that no archive shows.
func TestEveryMessage(t *testing.T) {
	shown := goldens(t)
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, found := token.NewFileSet(), 0
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			text, ok := message(call)
			if !ok {
				return true
			}
			found++
			if !formatOf(text).MatchString(shown) {
				t.Errorf("%s: no archive shows %q", files.Position(call.Pos()), text)
			}
			return true
		})
	}
	if found < 80 {
		t.Errorf("only %d messages are found", found)
	}
}

// message is the text of a call that reports a problem, where it is written out.
func message(call *ast.CallExpr) (string, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	i, ok := messageAt[method.Sel.Name]
	if !ok || i >= len(call.Args) {
		return "", false
	}
	literal, ok := call.Args[i].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil && text != "%s" && text != "%v"
}

// formatOf matches what a format can become.
func formatOf(format string) *regexp.Regexp {
	verb := regexp.MustCompile(`%(?:02x|[a-zA-Z])`)
	var b strings.Builder
	b.WriteString(`: `)
	last := 0
	for _, at := range verb.FindAllStringIndex(format, -1) {
		b.WriteString(regexp.QuoteMeta(format[last:at[0]]) + `.*`)
		last = at[1]
	}
	b.WriteString(regexp.QuoteMeta(format[last:]))
	return regexp.MustCompile(b.String())
}

// goldens is all that the archives want.
func goldens(t *testing.T) string {
	t.Helper()
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, path := range archives {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := strings.Cut(string(src), "-- want --\n")
		b.WriteString(want)
	}
	return b.String()
}
