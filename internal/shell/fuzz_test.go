package shell_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// FuzzRead checks invariants of all scripts: the answers are consistent with one another, and
// reading never panics.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"rm.txt", "everyday.txt", "evidence.txt", "only.txt"} {
		for _, row := range table(f, name) {
			f.Add(row.script)
		}
	}
	for seed := range uint64(50) {
		f.Add(generate(seed))
	}
	patterns := []shell.Pattern{pattern(f, "rm"), pattern(f, "cp"), pattern(f, "git push --force"), pattern(f, "ls")}
	f.Fuzz(func(t *testing.T, script string) {
		r := shell.Read(script)
		for _, p := range patterns {
			if surely(r, p) && runs(r, p) != shell.Match {
				t.Errorf("%q is evidence of %s, and %s", script, p, runs(r, p))
			}
			if onlyCheck(r, p) && runs(r, p) != shell.Match {
				t.Errorf("%q is only %s, and %s", script, p, runs(r, p))
			}
			if strict := runs(shell.Options{Strict: true}.Read(script), p); strict == shell.NoMatch && runs(r, p) != shell.NoMatch {
				t.Errorf("%q: %s for %s, and no match under strict reading", script, runs(r, p), p)
			}
			if onlyCheck(r, p) && !onlyCheck(r, patterns...) {
				t.Errorf("%q is only %s, and not only that and others", script, p)
			}
		}
		if runs(shell.Read(script), patterns[0]) != runs(r, patterns[0]) {
			t.Errorf("%q is read in two ways", script)
		}
	})
}

func TestBounds(t *testing.T) {
	p := pattern(t, "rm")
	for name, tt := range map[string]struct{ script, want string }{
		"60 commands":         {strings.Repeat("true;", 60) + "rm x", "match"},
		"12,000 commands":     {strings.Repeat("true;", 12_000) + "rm x", "match"},
		"100,000 commands":    {strings.Repeat("true;", 100_000) + "rm x", "opaque"},
		"commands by lines":   {strings.Repeat("ls\n", 20_000) + "rm x", "match"},
		"a long word":         {"echo " + strings.Repeat("a", 1<<19), "no match"},
		"a long quotation":    {"echo '" + strings.Repeat("a ", 24_000) + "'; rm x", "match"},
		"many words":          {"echo " + strings.Repeat("a ", 24_000) + "; rm x", "match"},
		"many lines of text":  {"cat <<'E'\n" + strings.Repeat("some text\n", 12_000) + "E\nrm x", "match"},
		"too many words":      {"cat <<'E'\n" + strings.Repeat("some text\n", 13_000) + "E\nrm x", "opaque"},
		"too many scripts":    {strings.Repeat("sh -c a;", 4_000) + "ls", "opaque"},
		"1 MB and a byte":     {strings.Repeat(" ", 1<<20) + ":", "opaque"},
		"10 MB":               {strings.Repeat("rm x;", 2<<20), "opaque"},
		"nested groups":       {strings.Repeat("{ ", 300_000), "opaque"},
		"nested subshells":    {strings.Repeat("(", 500_000), "opaque"},
		"nested outputs":      {strings.Repeat("$(", 400_000) + "rm", "opaque"},
		"deep outputs":        {"echo " + strings.Repeat("$(echo ", 5_000) + "$(rm" + strings.Repeat(")", 5_001), "match"},
		"shallow outputs":     {"echo " + strings.Repeat("$(echo ", 100) + "$(rm)" + strings.Repeat(")", 100), "match"},
		"nested conditions":   {strings.Repeat("if ", 300_000), "opaque"},
		"nested arithmetic":   {"((" + strings.Repeat("-", 1_000_000), "opaque"},
		"nested expansions":   {strings.Repeat("${x:-", 200_000), "opaque"},
		"nested quotations":   {strings.Repeat(`"$(`, 300_000), "opaque"},
		"nested backquotes":   {strings.Repeat("`", 1_000_000), "opaque"},
		"a long pipe":         {strings.Repeat("a|", 400_000) + "rm", "opaque"},
		"a pipe":              {strings.Repeat("a|", 5_000) + "rm", "match"},
		"a list":              {strings.Repeat("a&&", 5_000) + "rm", "match"},
		"many wrappers":       {strings.Repeat("sudo ", 400) + "rm x", "match"},
		"very many wrappers":  {strings.Repeat("sudo ", 200_000) + "rm x", "opaque"},
		"many containers":     {strings.Repeat("docker run ", 40_000) + "x", "opaque"},
		"scripts in scripts":  {nested(8), "match"},
		"too many of them":    {nested(14), "opaque"},
		"evaluated over":      {strings.Repeat("eval ", 20) + "rm x", "opaque"},
		"many braces":         {"echo " + strings.Repeat("{a,b}", 2_000) + "; rm x", "match"},
		"braces of many":      {"{" + strings.Repeat("a,", 100_000) + "b}", "opaque"},
		"many here documents": {strings.Repeat("cat <<E\nx\nE\n", 3_000) + "rm x", "match"},
		"many variables":      {strings.Repeat("x=1;", 3_000) + "rm x", "match"},
		"many broken lines":   {"cat <<E\n" + strings.Repeat("x\\\n", 20_000) + "\nE\nrm x", "match"},
		"quoted expansions":   {": " + strings.Repeat(`"${x:-`, 3_000) + "$(rm x)" + strings.Repeat(`}"`, 3_000), "match"},
		"nested finds":        {strings.Repeat("find . -exec ", 70_000) + "rm", "opaque"},
		"nested xargs":        {strings.Repeat("xargs ", 150_000) + "rm", "opaque"},
		"containers of rm":    {"docker exec " + strings.Repeat("rm ", 300_000), "opaque"},
		"many options":        {"sudo " + strings.Repeat("-n ", 10_000) + "rm x", "match"},
	} {
		t.Run(name, func(t *testing.T) {
			r := shell.Read(tt.script)
			if got := runs(r, p).String(); got != tt.want {
				t.Errorf("%s, want %s (doubt: %q)", got, tt.want, doubt(r))
			}
		})
	}
}

// nested returns rm x inside n levels of sh -c.
func nested(n int) string {
	s := "rm x"
	for range n {
		s = "sh -c " + quote(s)
	}
	return s
}

const typical = `cd /srv/app && git pull --rebase origin main 2>&1 | tail -5 && npm ci && npm run build -- --mode "$MODE" > build.log`

func BenchmarkRead(b *testing.B) {
	for name, script := range map[string]string{
		"typical":   typical,
		"1MB-words": "echo " + strings.Repeat("word ", 1<<20/5-2),
		"1MB-list":  strings.Repeat("some command;\n", 1<<20/14),
		"1MB-text":  "cat <<'E'\n" + strings.Repeat("some lines of text\n", 1<<20/19-2) + "E\n",
		"1MB-deep":  strings.Repeat("(", 1<<20),
		"20KB-deep": strings.Repeat("(", 6_000),
		"10MB":      strings.Repeat("rm x;", 2<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(script)))
			b.ReportAllocs()
			for b.Loop() {
				shell.Read(script)
			}
		})
	}
}

// BenchmarkAsk measures the cost of a call whose field is read by 50 maps, without the cost of
// Read.
func BenchmarkAsk(b *testing.B) {
	var patterns []shell.Pattern
	for _, words := range []string{"rm", "git push", "git push --force", "docker run", "npm publish"} {
		for range 10 {
			patterns = append(patterns, pattern(b, words))
		}
	}
	r := shell.Read(typical)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range patterns {
			runs(r, p)
			surely(r, p)
		}
		onlyCheck(r, patterns...)
	}
}
