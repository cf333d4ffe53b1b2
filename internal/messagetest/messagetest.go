// Package messagetest finds messages in the source of a package that none of
// its goldens shows. It is for tests.
//
// A message is any text of two words or more that the source writes out, a
// hint as well as a sentence. Where it is a format, what is put in may be
// anything.
package messagetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Check fails for each text in the files that match one of the globs, tests
// apart, which shown does not hold. Except names texts that are no messages, or
// are shown elsewhere, with the reason; one that is not needed is a failure too.
func Check(t *testing.T, shown string, except map[string]string, globs ...string) {
	t.Helper()
	check(t, shown, except, globs, texts)
}

// CheckCalls is [Check] of what is handed to the functions of some names, as
// "usage" and "fmt.Errorf"; ".Warn" is each that ends so.
func CheckCalls(t *testing.T, functions []string, shown string, except map[string]string, globs ...string) {
	t.Helper()
	check(t, shown, except, globs, func(in ast.Node) map[token.Pos]string {
		all := make(map[token.Pos]string)
		ast.Inspect(in, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				name := nameOf(call.Fun)
				if slices.ContainsFunc(functions, func(f string) bool { return name == f || f[0] == '.' && strings.HasSuffix(name, f) }) {
					maps.Copy(all, texts(call))
				}
			}
			return true
		})
		return all
	})
}

// nameOf is how a function is called, with what stands before it.
func nameOf(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return nameOf(f.X) + "." + f.Sel.Name
	}
	return ""
}

func check(t *testing.T, shown string, except map[string]string, globs []string, texts func(ast.Node) map[token.Pos]string) {
	t.Helper()
	used := make(map[string]bool)
	files, found := token.NewFileSet(), 0
	for _, path := range sources(t, globs) {
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for at, text := range texts(file) {
			found++
			switch {
			case isShown(text, shown):
			case except[text] != "":
				used[text] = true
			default:
				t.Errorf("%s: no golden shows %q", files.Position(at), text)
			}
		}
	}
	if found == 0 {
		t.Errorf("no messages are found in %q", globs)
	}
	for text := range except {
		if !used[text] {
			t.Errorf("%q needs no exception", text)
		}
	}
}

// Wanted is what the files named want of all archives say.
func Wanted(t *testing.T, glob string) string {
	t.Helper()
	var b strings.Builder
	for _, path := range matches(t, glob) {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "want" {
				b.Write(f.Data)
			}
		}
	}
	return b.String()
}

// Text is all that the files say.
func Text(t *testing.T, glob string) string {
	t.Helper()
	var b strings.Builder
	for _, path := range matches(t, glob) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(src)
	}
	return b.String()
}

// exceptions is the file of a package that calls [Check], and is no table.
const exceptions = "messages_test.go"

// Tables is what the tests that match a glob write out. It is for packages
// whose tests compare messages as a whole, in tables.
func Tables(t *testing.T, glob string) string {
	t.Helper()
	var b strings.Builder
	for _, path := range matches(t, glob) {
		if filepath.Base(path) == exceptions {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, _ := strconv.Unquote(l.Value)
				b.WriteString(text + "\n")
			}
			return true
		})
	}
	return b.String()
}

func matches(t *testing.T, glob string) []string {
	t.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no file is %s: %v", glob, err)
	}
	return paths
}

func sources(t *testing.T, globs []string) []string {
	t.Helper()
	var all []string
	for _, glob := range globs {
		for _, path := range matches(t, glob) {
			if !strings.HasSuffix(path, "_test.go") {
				all = append(all, path)
			}
		}
	}
	return all
}

// words finds texts that are more than a word.
var words = regexp.MustCompile(`\pL.* | .*\pL`)

// texts are the texts of a file, by their places, but for those that only a
// developer sees, of imports, tags, panics and regular expressions, and the help
// of commands.
func texts(file ast.Node) map[token.Pos]string {
	all, tags := make(map[token.Pos]string), make(map[*ast.BasicLit]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			tags[n.Tag] = true
		case *ast.CallExpr:
			return !ofDevelopers(n) && !ofFlags(n)
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return !ok || !slices.Contains([]string{"Use", "Short", "Long", "Example"}, key.Name)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && words.MatchString(text) && !tags[n] {
				all[n.Pos()] = text
			}
		}
		return true
	})
	return all
}

func ofDevelopers(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		return f.Sel.Name == "MustCompile"
	}
	return false
}

// ofFlags finds what declares flags of a command: their help is no message.
func ofFlags(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	flags, ok := method.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := flags.Fun.(*ast.SelectorExpr)
	return ok && strings.HasSuffix(of.Sel.Name, "Flags")
}

// isShown reports whether each line of a text is in what is shown.
func isShown(text, shown string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); words.MatchString(line) && !formatOf(line).MatchString(shown) {
			return false
		}
	}
	return true
}

// formatOf matches what a format can become, on one line.
func formatOf(format string) *regexp.Regexp {
	verb := regexp.MustCompile(`%[-+#0-9.]*(?:\[\d\])?[a-zA-Z]`)
	var b strings.Builder
	last := 0
	for _, at := range verb.FindAllStringIndex(format, -1) {
		b.WriteString(regexp.QuoteMeta(format[last:at[0]]) + `.*`)
		last = at[1]
	}
	b.WriteString(regexp.QuoteMeta(format[last:]))
	return regexp.MustCompile(strings.ReplaceAll(b.String(), "%%", "%"))
}
