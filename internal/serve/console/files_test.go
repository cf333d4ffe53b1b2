package console

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestFilesAreCachedByVersion checks that browsers may cache static files under their versioned
// address only.
func TestFilesAreCachedByVersion(t *testing.T) {
	b, _ := visitNets(t, nil, backupNet("backup-first"))
	page := b.wants("/nets", "app.css", "app.js")
	found := regexp.MustCompile(`(?:src|href)="(/[a-z.]+\?v=[0-9a-f]{16})"`).FindAllStringSubmatch(page, -1)
	if len(found) < 3 {
		t.Fatal(found)
	}
	kept := func(path string) bool {
		r, _ := b.do(b.request(http.MethodGet, path, nil))
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
		return strings.Contains(r.Header.Get("Cache-Control"), "immutable")
	}
	for _, f := range found {
		name, _, _ := strings.Cut(f[1], "?")
		if !kept(f[1]) || kept(name) || kept(name+"?v=0") || kept(f[1]+"&x=1") {
			t.Error(f[1])
		}
	}
	if kept("/nets?v=" + versions["app.css"]) {
		t.Error("a page is kept")
	}
}
