package lsp

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/rules"
)

// samples are valid operands.
var samples = map[string]string{
	"A": "backup, copy", "B": `delete, "drop table"`, "C": "test", "U": "safe, other", "F": "fetch", "X": "review, look", "S": "edit, write",
	"EITHER": "backup or copy or move", "K": `src as path, $.a["b,c"], "args.x"`, "M": "amount", "N": "3", "T": "sh, bash.command", "TOOL": "pay, charge", "L": "risky",
	"WORDS": "git push --force", "GLOBS": ".env* **/secrets/*", "PATTERN": `/rm -rf \/#/i`, "CEL": `"args.amount > 5"`, "WHY": `"Use git."`, "TEXT": `"rm -r x"`, "OBJECT": `{"amount": 6, "a": [1, {}]}`,
	"NET": "pipeline", "FILE": "base.rules", "PLACES": "a, b",
}

// expand returns the ways to write parts, including each with all operands.
func expand(parts []part) []string {
	all := []string{""}
	for _, p := range parts {
		var next []string
		for _, before := range all {
			switch {
			case p.choice != nil:
				for _, choice := range p.choice {
					for _, text := range expand(choice) {
						next = append(next, strings.TrimSpace(before+" "+text))
					}
				}
			default:
				next = append(next, strings.TrimSpace(before+" "+p.keyword+samples[p.operand]))
			}
		}
		all = next
	}
	return all
}

// TestFormsAreRules checks that package rules parses every form in the table, and that the same
// form is found for the result.
func TestFormsAreRules(t *testing.T) {
	g := newGrammar()
	for _, f := range g.forms {
		lines := expand(f.parts)
		if len(lines) == 0 {
			t.Errorf("%s: nothing", f.form.form)
		}
		for _, line := range lines {
			if strings.Contains(line, " each ") || strings.HasPrefix(line, "prove at-most") || strings.HasPrefix(strings.TrimPrefix(line, "shadow "), "limit") && !strings.Contains(line, " per test") && !strings.Contains(line, "successful") {
				line = strings.Replace(line, "src as path", "path", 1) // this statement has only a single call
			}
			src := line + "\n"
			if strings.HasPrefix(line, "example") {
				src += "map bash.command runs rm as risky\nmap charge when \"args.amount > 5\" as risky\n"
			}
			if _, errs := rules.Parse("x", []byte(src)); len(errs) > 0 {
				t.Errorf("%s: %v", line, errs)
			}
			words, _ := words(line)
			m := g.match(words)
			if m.form != f {
				t.Errorf("%s: not found as %s", line, f.form.form)
				continue
			}
			if says := m.sentence(func(s string) string { return s }); says == "" || strings.Contains(strings.ReplaceAll(says, samples["OBJECT"], ""), "{") {
				t.Errorf("%s: %s", line, says)
			}
			for at := range words { // every word is a valid part of the form
				before := g.match(words[:at])
				if !slices.ContainsFunc(before.next, func(p part) bool { return p.keyword == words[at].text || p.operand != "" }) && words[at].kind != comma && operands[m.roles[at].operand] != command {
					t.Errorf("%s: %q is not expected", line, words[at].text)
				}
			}
		}
	}
}

// TestRulesHaveForms checks that there is a form, and thus a hover, for every statement in the
// documentation, the examples, and the tests of package rules.
func TestRulesHaveForms(t *testing.T) {
	g := newGrammar()
	var files []string
	for _, pattern := range []string{"../../docs/*.md", "../../README.md", "../../examples/*/*.rules", "../../rules/testdata/*.txtar", "../../rules/testdata/*/*.txtar", "../../rules/doc.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	seen := 0
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			line := strings.TrimPrefix(lines.Text(), "//\t")
			parsed, errs := rules.Parse("x", []byte(line))
			if len(errs) > 0 || len(parsed.Statements) == 0 || strings.Contains(line, "---") ||
				strings.Contains(line, "until human-approval") { // rejected at compile time
				continue
			}
			seen++
			words, _ := words(line)
			if g.match(words).form == nil {
				t.Errorf("%s: %s", file, line)
			}
		}
		_ = f.Close()
	}
	if seen < 200 {
		t.Errorf("%d statements", seen)
	}
}

// TestFormsKnowKeywords finds keywords in the parser that are missing from the table.
func TestFormsKnowKeywords(t *testing.T) {
	known := newGrammar().keywords
	files, err := filepath.Glob("../../rules/*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\b(?:is|isCase|keyword|optional|wrongCase)\((?:t, |p\.line\.peek\(\), )?"([a-z-]+)"`)
	lists := regexp.MustCompile(`(?s)(?:\bstatementWords\s*=|\bclaimWords\s*=).*?\}\}?\n`)
	seen := map[string]bool{}
	for _, word := range slices.Concat(rules.SpanWords(), channel.Names(nil)) {
		seen[word] = true
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range asked.FindAllStringSubmatch(string(src), -1) {
			seen[m[1]] = true
		}
		for _, list := range lists.FindAllString(string(src), -1) {
			for _, m := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(list, -1) {
				seen[m[1]] = true
			}
		}
	}
	if len(seen) < 35 {
		t.Errorf("the parser has only %d keywords", len(seen))
	}
	for word := range seen {
		if !slices.Contains(known, word) {
			t.Errorf("no form has the keyword %q", word)
		}
	}
}

// TestRulesPageHasKeywords finds keywords that are missing from the pages about rules and claims.
func TestRulesPageHasKeywords(t *testing.T) {
	var text strings.Builder
	for _, page := range []string{"rules", "verification"} {
		one, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		text.Write(one)
	}
	for _, word := range newGrammar().keywords {
		if !regexp.MustCompile(`(?:^|[^a-z-])` + regexp.QuoteMeta(word) + `(?:$|[^a-z-])`).MatchString(text.String()) {
			t.Errorf("neither docs/rules.md nor docs/verification.md has the keyword %q", word)
		}
	}
}
