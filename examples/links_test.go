package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns the files in the repository that people read in a browser.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 2 && strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 15 {
		t.Errorf("only %d pages were found", len(found))
	}
	return found
}

// prose returns a page without code blocks and inline code.
func prose(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// anchors returns the anchors on a page, as GitHub generates them.
func anchors(text string) []string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	var found []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		found = append(found, strings.ReplaceAll(kept, " ", "-"))
	}
	return found
}

// TestLinks follows all links on all pages to files, and to headings if the links name them.
func TestLinks(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(prose(read(t, page)), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			seen++
			path, anchor, _ := strings.Cut(link[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s: there is no heading %q in %s", page, anchor, target)
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d links were found", seen)
	}
}

// TestPagesAreReached checks that the index of docs lists each page exactly once, and that the
// README links to the index.
func TestPagesAreReached(t *testing.T) {
	index := read(t, "../docs/README.md")
	all, _ := filepath.Glob("../docs/*.md")
	for _, page := range all {
		name := filepath.Base(page)
		if n := strings.Count(index, "\n- ["+name+"]("+name+"): "); n != 1 && name != "README.md" {
			t.Errorf("docs/README.md lists %s %d times", name, n)
		}
	}
	if !strings.Contains(read(t, readme), "](docs/README.md)") {
		t.Error("the README does not lead to docs/README.md")
	}
}
