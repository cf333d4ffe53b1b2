// Package editors holds what editors need to know of the rules language; here
// are its tests.
package editors

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/rules"
)

// A pattern is one rule of a TextMate grammar, as far as this grammar goes: its
// expressions are common to Oniguruma and RE2, and no rule spans two lines.
type pattern struct {
	Name, Match, Begin, End, Include string
	Captures, BeginCaptures          map[string]pattern
	Patterns                         []pattern
	Repository                       map[string]pattern
}

func grammar(t *testing.T) pattern {
	t.Helper()
	src, err := os.ReadFile("vscode/petrigate.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	var g pattern
	if err := json.Unmarshal(src, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// scoped colors one line: each text with a scope, in order.
func (g pattern) scoped(line string) []string {
	var out []string
	for patterns, at := g.Patterns, 0; ; {
		p, m := g.next(patterns, line, at)
		if m == nil {
			return out
		}
		captures := p.Captures
		if p.Begin != "" {
			captures, patterns = p.BeginCaptures, p.Patterns
		}
		if p.Name != "" {
			out = append(out, line[m[0]:m[1]]+" "+short(p.Name))
		}
		for i := 1; i < len(m)/2; i++ {
			if scope := captures[fmt.Sprint(i)].Name; scope != "" && m[2*i] >= 0 && m[2*i] < m[2*i+1] {
				out = append(out, line[m[2*i]:m[2*i+1]]+" "+short(scope))
			}
		}
		at = m[1]
	}
}

// next is the pattern that matches first from at on, and of several the first.
func (g pattern) next(patterns []pattern, line string, at int) (first pattern, where []int) {
	for _, p := range patterns {
		if p.Include != "" {
			p = g.Repository[strings.TrimPrefix(p.Include, "#")]
		}
		m := regexp.MustCompile(p.Match + p.Begin).FindStringSubmatchIndex(line[at:])
		if m == nil || strings.HasPrefix(p.Begin, "^") && at > 0 {
			continue
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		if where == nil || m[0] < where[0] {
			first, where = p, m
		}
	}
	return first, where
}

// short is a scope without the name of the language.
func short(scope string) string { return strings.TrimSuffix(scope, ".petrigate") }

func TestGrammar(t *testing.T) {
	g := grammar(t)
	tests := []struct {
		line string
		want []string
	}{
		{"# require a", []string{"# require a comment.line.number-sign"}},
		{"  shadow require a before b once # c", []string{"shadow storage.modifier", "require keyword.control", "a entity.name.function",
			"before keyword.operator", "b entity.name.function", "once storage.modifier", "# c comment.line.number-sign"}},
		{"require human-approval via cli before deploy unless a, \"b c\"", []string{"require keyword.control", "human-approval constant.language",
			"via keyword.operator", "cli constant.language", "before keyword.operator", "deploy entity.name.function", "unless keyword.operator",
			"a entity.name.function", "\"b c\" string.quoted.double"}},
		{"block github_delete_*", []string{"block keyword.control", "github_delete_* entity.name.function"}},
		{"limit push to 3 per minute#x", []string{"limit keyword.control", "push entity.name.function", "to keyword.operator", "3 constant.numeric",
			"per keyword.operator", "minute constant.language", "#x comment.line.number-sign"}},
		{"limit push to 3 per successful test", []string{"limit keyword.control", "push entity.name.function", "to keyword.operator", "3 constant.numeric",
			"per keyword.operator", "successful keyword.operator", "test entity.name.function"}},
		{"limit push to 3 per minutes", []string{"limit keyword.control", "push entity.name.function", "to keyword.operator", "3 constant.numeric",
			"per keyword.operator", "minutes entity.name.function"}},
		{"map bash.command runs git push as force-push", []string{"map keyword.control", "bash entity.name.function", "command variable.other.member",
			"runs keyword.operator", "git string.unquoted", "push string.unquoted", "as keyword.operator", "force-push entity.name.label"}},
		{`map Edit, "a.b" , Write.path x as y`, []string{"map keyword.control", `Edit, "a.b" , Write entity.name.function`, "path variable.other.member",
			"x string.unquoted", "as keyword.operator", "y entity.name.label"}},
		{"map bash.command runs exactly npm test as t", []string{"map keyword.control", "bash entity.name.function", "command variable.other.member",
			"runs keyword.operator", "exactly keyword.operator", "npm string.unquoted", "test string.unquoted", "as keyword.operator", "t entity.name.label"}},
		{"map bash.command writes * as edit", []string{"map keyword.control", "bash entity.name.function", "command variable.other.member",
			"writes keyword.operator", "* string.unquoted", "as keyword.operator", "edit entity.name.label"}},
		{"map bash.command runs as word", []string{"map keyword.control", "bash entity.name.function", "command variable.other.member",
			"as keyword.operator", "word entity.name.label"}},
		{`map http.$.a[*].b /rm -rf \/#/i as x # y`, []string{"map keyword.control", "http entity.name.function", "$.a[*].b variable.other.path",
			`/rm -rf \/#/i string.regexp`, "as keyword.operator", "x entity.name.label", "# y comment.line.number-sign"}},
		{`map "a.b" when "args.n > 5" as big`, []string{"map keyword.control", `"a.b" entity.name.function`, "when keyword.operator",
			`"args.n > 5" string.quoted.double`, "as keyword.operator", "big entity.name.label"}},
		{`example bash.command "rm as x" not as delete`, []string{"example keyword.control", "bash entity.name.function", "command variable.other.member",
			`"rm as x" string.quoted.double`, "not keyword.operator", "as keyword.operator", "delete entity.name.label"}},
		{`success bash, "sh" when "result.code == 0" # c`, []string{"success keyword.control", "bash entity.name.function", `"sh" string.quoted.double`, "when keyword.operator",
			`"result.code == 0" string.quoted.double`, "# c comment.line.number-sign"}},
		{`example charge {"n": 6.5, "b": true} as big`, []string{"example keyword.control", "charge entity.name.function", `"n" string.quoted.double`,
			"6.5 constant.numeric", `"b" string.quoted.double`, "true constant.language", "as keyword.operator", "big entity.name.label"}},
		{"prove at-most 3 push per session", []string{"prove keyword.control", "at-most keyword.operator", "3 constant.numeric", "push entity.name.function",
			"per keyword.operator", "session constant.language"}},
		{"prove never a without human-approval", []string{"prove keyword.control", "never keyword.operator", "a entity.name.function",
			"without keyword.operator", "human-approval constant.language"}},
		{"require 2 human-approvals before a after b until c", []string{"require keyword.control", "2 constant.numeric", "human-approvals constant.language",
			"before keyword.operator", "a entity.name.function", "after keyword.operator", "b entity.name.function", "until keyword.operator", "c entity.name.function"}},
		{"require a or b before c since d with same e as f", []string{"require keyword.control", "a entity.name.function", "or keyword.operator",
			"b entity.name.function", "before keyword.operator", "c entity.name.function", "since keyword.operator", "d entity.name.function",
			"with keyword.operator", "same keyword.operator", "e entity.name.function", "as keyword.operator", "f entity.name.function"}},
		{"require a before b once since c because \"d # e\" # f", []string{"require keyword.control", "a entity.name.function", "before keyword.operator",
			"b entity.name.function", "once storage.modifier", "since keyword.operator", "c entity.name.function", "because keyword.operator",
			"\"d # e\" string.quoted.double", "# f comment.line.number-sign"}},
		{"allow a, \"b c\"", []string{"allow keyword.control", "a entity.name.function", "\"b c\" string.quoted.double"}},
		{"limit a to 3 of $.b per user per day for each c", []string{"limit keyword.control", "a entity.name.function", "to keyword.operator", "3 constant.numeric",
			"of keyword.operator", "$.b variable.other.member", "per keyword.operator", "user constant.language", "per keyword.operator", "day constant.language",
			"for keyword.operator", "each keyword.operator", "c entity.name.function"}},
		{"limit a to 1 at once", []string{"limit keyword.control", "a entity.name.function", "to keyword.operator", "1 constant.numeric", "at keyword.operator", "once keyword.operator"}},
		{"limit * to 3 in a row#x", []string{"limit keyword.control", "* entity.name.function", "to keyword.operator", "3 constant.numeric",
			"in keyword.operator", "a keyword.operator", "row keyword.operator", "#x comment.line.number-sign"}},
		{"blok rm", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, g.scoped(test.line)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.line, diff)
		}
	}
}

// TestGrammarRefers wants every included pattern there, and every one used.
func TestGrammarRefers(t *testing.T) {
	g := grammar(t)
	var used []string
	var walk func(ps []pattern)
	walk = func(ps []pattern) {
		for _, p := range ps {
			walk(p.Patterns)
			if p.Include == "" {
				continue
			}
			name := strings.TrimPrefix(p.Include, "#")
			if _, ok := g.Repository[name]; !ok {
				t.Errorf("there is no %s", p.Include)
			}
			used = append(used, name)
		}
	}
	walk(g.Patterns)
	for _, p := range g.Repository {
		walk(p.Patterns)
	}
	for name := range g.Repository {
		if !slices.Contains(used, name) {
			t.Errorf("nothing includes %s", name)
		}
	}
}

// TestGrammarKnowsKeywords finds keywords of the parser that the grammar lacks:
// the words that its source asks for, and its lists of them.
func TestGrammarKnowsKeywords(t *testing.T) {
	asked := regexp.MustCompile(`\b(?:is|isCase|keyword|optional|wrongCase)\((?:t, )?"([a-z-]+)"`)
	lists := regexp.MustCompile(`(?s)(?:\bstatementWords\s*=|\bclaimWords\s*=).*?\}\}?\n`)
	words := make(map[string]bool)
	for _, word := range slices.Concat(rules.SpanWords(), channel.Names(nil)) {
		words[word] = true
	}
	files, err := filepath.Glob("../rules/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(src), -1) {
			words[m[1]] = true
		}
		for _, list := range lists.FindAllString(string(src), -1) {
			for _, m := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(list, -1) {
				words[m[1]] = true
			}
		}
	}
	if len(words) < 35 {
		t.Errorf("the parser has only %d keywords", len(words))
	}
	src, err := os.ReadFile("vscode/petrigate.tmLanguage.json")
	if err != nil {
		t.Fatal(err)
	}
	vim, err := os.ReadFile("vim/syntax/petrigate.vim")
	if err != nil {
		t.Fatal(err)
	}
	for word := range words {
		if !regexp.MustCompile(`[(|]` + word + `[)|]`).Match(src) {
			t.Errorf("the grammar does not know %q", word)
		}
		if !regexp.MustCompile(`[ (|]` + word + `([ \n\\]|$)`).Match(vim) {
			t.Errorf("the syntax of Vim does not know %q", word)
		}
	}
}

// TestExtension: the extension for VS Code names files that are there, and one language.
func TestExtension(t *testing.T) {
	var extension struct {
		Main        string
		Contributes struct {
			Languages []struct{ ID, Configuration string }
			Grammars  []struct{ Language, ScopeName, Path string }
		}
	}
	for name, v := range map[string]any{"package.json": &extension, "language-configuration.json": &struct{}{}} {
		src, err := os.ReadFile("vscode/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(src, v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := extension.Contributes
	if len(c.Languages) != 1 || len(c.Grammars) != 1 || c.Languages[0].ID != c.Grammars[0].Language || c.Grammars[0].ScopeName != "source.petrigate" {
		t.Errorf("%+v", c)
	}
	for _, file := range []string{extension.Main, c.Languages[0].Configuration, c.Grammars[0].Path} {
		if _, err := os.Stat("vscode/" + file); err != nil {
			t.Error(err)
		}
	}
}
