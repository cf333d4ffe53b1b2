package proxy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const attacksPage = "testdata/attacks.md"

// A pageRow is one case of the page.
type pageRow struct{ id, held string }

// pageRows returns the cases of the page, in order.
func pageRows(t *testing.T) []pageRow {
	t.Helper()
	page, err := os.ReadFile(attacksPage)
	if err != nil {
		t.Fatal(err)
	}
	var rows []pageRow
	for _, m := range regexp.MustCompile(`(?m)^\| ([A-Z]\d{3}) \| .+? \| (.+) \|$`).FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, pageRow{m[1], m[2]})
	}
	if lines := strings.Count(string(page), "\n| ") - strings.Count(string(page), "\n| case |"); lines != len(rows) {
		t.Errorf("%s has %d rows, of which %d can be read", attacksPage, lines, len(rows))
	}
	return rows
}

// TestAttacksPage: each case is on the page once and in order, with a test or the reason why it has
// none; and every named test exists.
func TestAttacksPage(t *testing.T) {
	sources := map[string]string{}
	last := ""
	for _, row := range pageRows(t) {
		if row.id <= last {
			t.Errorf("%s stands behind %s", row.id, last)
		}
		last = row.id
		tests := checkNamed(t, sources, row.id, row.held)
		if tests == 0 && !strings.HasPrefix(row.held, "*none*: ") {
			t.Errorf("%s has neither a test nor a reason: %s", row.id, row.held)
		}
	}
}

// TestSecurityPage: every test that docs/security.md names exists.
func TestSecurityPage(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := checkNamed(t, map[string]string{}, "docs/security.md", string(page)); n < 40 {
		t.Errorf("docs/security.md names only %d tests", n)
	}
}

// checkNamed checks that every test named in a text exists, and counts them. It caches the tests of
// each package in sources.
func checkNamed(t *testing.T, sources map[string]string, where, held string) int {
	t.Helper()
	named := regexp.MustCompile("`([a-z0-9_/]+): ((?:Test|Fuzz|Example)[A-Za-z0-9_]*)(?:/([^`]+))?`")
	tests := named.FindAllStringSubmatch(held, -1)
	for _, m := range tests {
		if sources[m[1]] == "" {
			sources[m[1]] = testSources(t, m[1])
		}
		if !strings.Contains(sources[m[1]], "\nfunc "+m[2]+"(") {
			t.Errorf("%s: %s has no %s", where, m[1], m[2])
		}
		if !strings.Contains(sources[m[1]], m[3]) {
			t.Errorf("%s: the tests of %s say nothing of %q", where, m[1], m[3])
		}
	}
	return len(tests)
}

// testSources returns the tests of a package and their data, as one text.
func testSources(t *testing.T, pkg string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"*_test.go", "testdata/*.txt", "testdata/*/*.txt*"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(f + "\n")
			all.Write(src)
		}
	}
	return all.String()
}

// TestAttacksPageIsWhole: every case number in tests is on the page, in an area of the page.
func TestAttacksPageIsWhole(t *testing.T) {
	on, areas := map[string]bool{}, map[byte]bool{}
	for _, row := range pageRows(t) {
		on[row.id], areas[row.id[0]] = true, true
	}
	if n := len(on); n < 80 {
		t.Errorf("%d cases are on the page", n)
	}
	cases := regexp.MustCompile(`\b[A-F]\d{3}\b`)
	for _, pkg := range []string{
		"proxy", "proxy/internal/front", "proxy/internal/pipeline", "proxy/internal/relay", "proxy/internal/router", "proxy/internal/session", "proxy/internal/tasks",
		"proxy/internal/wire", "proxy/internal/httpguard", "proxy/internal/lines", "internal/shell",
	} {
		for _, id := range cases.FindAllString(testSources(t, pkg), -1) {
			if areas[id[0]] && !on[id] {
				t.Errorf("a test of %s names %s, which is not on the page", pkg, id)
			}
		}
	}
}
