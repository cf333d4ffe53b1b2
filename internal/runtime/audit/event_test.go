package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEventsOnPage checks that the documentation's event table contains each event of this package.
func TestEventsOnPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| `event` | says |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	shown := map[string]bool{}
	for _, row := range strings.Split(table, "\n") {
		names, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, name := range strings.Split(names, ", ") {
			shown[strings.Trim(name, "`")] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	field, quoted := regexp.MustCompile("Event +string +`json:\"event\"` +// (.+)"), regexp.MustCompile(`"([^"]+)"`)
	found := 0
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range field.FindAllStringSubmatch(string(code), -1) {
			for _, name := range quoted.FindAllStringSubmatch(m[1], -1) {
				if found++; !shown[name[1]] {
					t.Errorf("docs/configuration.md does not have the event %q of %s", name[1], file)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d events were found", found)
	}
}
