package messagetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTexts(t *testing.T) {
	const src = `package p
var help = "not an error"
func f() {
	say("two words", "one", ", ", "the word " + x)
	p.fail(fmt.Sprintf("of a %s", y))
	tell("another function")
}`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Values(textsOf(file, []string{"say", ".fail"})))
	if diff := cmp.Diff([]string{"of a %s", "the word ", "two words"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLines(t *testing.T) {
	tests := []struct {
		text, shown string
		want        bool
	}{
		{"no file %s\n", "stderr 'no file a$'", true},
		{"no file %s:\nmake one\n", "no file a:, make one", true},
		{"no file %s:\nmake one\n", "no file a:", false},
		{"no file:\n%s\n", "no file:", true},
	}
	for _, test := range tests {
		if got := isShown(test.text, test.shown); got != test.want {
			t.Errorf("%q in %q: %v", test.text, test.shown, got)
		}
	}
}

func TestNames(t *testing.T) {
	for source, want := range map[string]string{
		"usage()": "usage", "fmt.Errorf()": "fmt.Errorf", "p.log.Warn()": "p.log.Warn", "f()()": "", "f().Warn()": ".Warn",
	} {
		e, err := parser.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := nameOf(e.(*ast.CallExpr).Fun); got != want {
			t.Errorf("%s is %q, want %q", source, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	tests := []struct {
		format, shown string
		want          bool
	}{
		{"no file %q", `f:1: no file "x"`, true},
		{"no file %q (%[1]d%%)", `no file "x" (3%)`, true},
		{"mode %04o is open", "mode 0640 is open", true},
		{"no (file) %q", `no file "x"`, false},
		{"one %s two", "one\ntwo", false},
	}
	for _, test := range tests {
		if got := formatOf(test.format).MatchString(test.shown); got != test.want {
			t.Errorf("%q in %q: %v", test.format, test.shown, got)
		}
	}
}
