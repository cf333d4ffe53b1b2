package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// extraArguments contains the arguments that petrigate check needs in addition to the example for a
// code.
var extraArguments = map[string][]string{
	"E202": {"--live"}, // check --live tries to start what W204 only looks for
	"W101": {"--tools", "tools.json"},
	"W107": {"--tools", "tools.json"},
	"W305": {"--max-states", "1"},
}

// baseOnPage is the file base.yaml in the examples for E112 and E113.
const baseOnPage = `base: { name: acme, version: 1 }
rules:
  - inline: |
      map bash.command runs ls as look
      require human-approval before bash unless look
`

// TestCodesPageExamples checks the examples on the page about codes, except those with rules, which
// package rules checks: the first text in an entry must have exactly that problem, and the second
// must have none.
func TestCodesPageExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/codes.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	write(t, "tools.json", `{"tools": [{"name": "delete_file", "inputSchema": {"type": "object"}},
		{"name": "post_message", "inputSchema": {"type": "object", "properties": {"channel": {}, "text": {}}}}]}`)
	write(t, "base.yaml", baseOnPage)
	write(t, "tokens.txt", "ann: 0123456789abcdef\n")
	write(t, "open.txt", "ann: 0123456789abcdef\n")
	if err := os.Chmod("open.txt", 0o644); err != nil {
		t.Fatal(err)
	}
	for name, valid := range map[string]time.Duration{"own": time.Hour, "expired": -time.Minute} {
		if err := testserver.Certify(name, 1, valid); err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range strings.Split(string(page), "\n### ")[1:] {
		code := entry[:4]
		if code[1] == '0' {
			continue
		}
		t.Run(code, func(t *testing.T) {
			blocks := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(entry, -1)
			if len(blocks) == 0 || len(blocks) > 2 {
				t.Fatalf("%d examples", len(blocks))
			}
			if got := codesOf(t, blocks[0][1], blocks[0][2], extraArguments[code]); !slices.Equal(got, []string{code}) {
				t.Errorf("the example has %v:\n%s", got, blocks[0][2])
			}
			if len(blocks) < 2 {
				return
			}
			arguments := extraArguments[code]
			if slices.Contains(arguments, "--live") {
				arguments = nil
			}
			if got := codesOf(t, blocks[1][1], blocks[1][2], arguments); len(got) > 0 {
				t.Errorf("what is right has %v:\n%s", got, blocks[1][2])
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// codesOf returns the codes of the problems in a text, without duplicates.
func codesOf(t *testing.T, kind, text string, arguments []string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	s := stdio{in: strings.NewReader(text), out: &out, err: &errs}
	of := func(args ...string) {
		run(t.Context(), args, s)
	}
	switch {
	case kind == "json":
		text = strings.TrimSpace(text) + "\n"
		s.in = strings.NewReader(text)
		of("eval", "--cases", "-")
		var answer struct{ Errors []struct{ Code string } }
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatal(err, out.String(), errs.String())
		}
		var codes []string
		for _, e := range answer.Errors {
			codes = append(codes, e.Code)
		}
		return codes
	case kind == "rules":
		write(t, "page.rules", text)
		of(append([]string{"check", "--json", "--rules", "page.rules"}, arguments...)...)
	case strings.Contains(text, "mcpServer"):
		write(t, "page.yaml", text)
		of(append([]string{"check", "--json", "--config", "page.yaml"}, arguments...)...)
	default:
		write(t, "page.net.yaml", text)
		of(append([]string{"check", "--json", "--net", "page.net.yaml"}, arguments...)...)
	}
	if out.Len() == 0 { // with --live, check explains on stderr why a configuration cannot start
		return uniqueCodes(regexp.MustCompile(`\[([A-Z]\d{3})\]: `).FindAllStringSubmatch(errs.String(), -1))
	}
	var report struct {
		Problems []struct{ Severity, Code string }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err, out.String(), errs.String())
	}
	var found [][]string
	for _, p := range report.Problems {
		if p.Severity == "note" { // a note does not mean that something is wrong
			continue
		}
		found = append(found, []string{"", p.Code})
	}
	return uniqueCodes(found)
}

func uniqueCodes(found [][]string) []string {
	var codes []string
	for _, m := range found {
		codes = append(codes, m[1])
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
