// Package messagetest finds error messages that are in a package's source but not in its golden
// files. Only tests use it.
//
// An error message is a string of at least two words that is passed to a function for creating
// errors or warnings. In a format string, the verbs match any text. Other strings, such as help
// texts, log messages and answers, need not appear in a golden file.
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

// CheckCalls reports an error for each message of a program that does not appear in the given text,
// usually the contents of golden files.
//
// A message is a string of at least two words that is passed to one of the given functions.
// CheckCalls finds messages in the non-test files that match one of the globs. A function is
// written as in a call, such as "usage" or "fmt.Errorf". A name that begins with a dot, such as
// ".Warn", matches all methods and imported functions of that name.
//
// The keys of except are messages that need not appear, and the values are the reasons. CheckCalls
// reports an error for exceptions that are not needed. It also reports an error if it finds no
// messages.
func CheckCalls(t *testing.T, functions []string, shown string, except map[string]string, globs ...string) {
	t.Helper()
	used := make(map[string]bool)
	files, found := token.NewFileSet(), 0
	for _, path := range sources(t, globs) {
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for at, text := range textsOf(file, functions) {
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

// textsOf returns the messages in a file, that is, the strings of at least two words that the file
// passes to the given functions. The messages are keyed by position.
func textsOf(file *ast.File, functions []string) map[token.Pos]string {
	all := make(map[token.Pos]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name := nameOf(call.Fun)
			if slices.ContainsFunc(functions, func(f string) bool { return name == f || f[0] == '.' && strings.HasSuffix(name, f) }) {
				maps.Copy(all, texts(call))
			}
		}
		return true
	})
	return all
}

// nameOf returns the qualified name of a called function.
func nameOf(function ast.Expr) string {
	switch f := function.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return nameOf(f.X) + "." + f.Sel.Name
	}
	return ""
}

// Wanted returns the contents of all files named "want" in the txtar archives that match glob.
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

// Text returns the contents of all files that match glob.
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

// exceptions is the name of the test file that passes the exceptions to [CheckCalls]. [Tables]
// ignores it.
const exceptions = "messages_test.go"

// Tables returns the string literals in all test files that match glob, for packages whose tests
// compare complete messages in tables.
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

// words matches strings that contain more than one word.
var words = regexp.MustCompile(`\pL.* | .*\pL`)

// texts returns the string literals of at least two words in a call, keyed by position.
func texts(call *ast.CallExpr) map[token.Pos]string {
	all := make(map[token.Pos]string)
	ast.Inspect(call, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && words.MatchString(text) {
				all[l.Pos()] = text
			}
		}
		return true
	})
	return all
}

// isShown reports whether the golden files contain every line of a message, ignoring lines of a
// single word.
func isShown(text, golden string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); words.MatchString(line) && !formatOf(line).MatchString(golden) {
			return false
		}
	}
	return true
}

// formatOf returns a regular expression that matches the possible output of a one-line format
// string.
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
