package lsp

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

// TestBase checks that the cached version of a base policy at a URL is used. If no version is
// cached, the base is omitted, with a warning at the position where the configuration names it.
func TestBase(t *testing.T) {
	const (
		base = "base: { name: acme, version: 1 }\nrules:\n  - inline: |\n      map bash.command runs ls as look\n      require human-approval before bash unless look\n      prove at-most 1 bash per session\n"
		cfg  = "version: 1\nmcpServers: { a: { url: \"https://a.example/mcp\" } }\naudit: { file: audit.jsonl }\nrules: [{ file: a.rules }]\nextends:\n  - { url: \"https://p.example/base.yaml\", digest: \"DIGEST\" }\n"
	)
	var known atomic.Pointer[string]
	e := newEditor(t, Options{Widened: policydiff.Widened, Base: func(addresses ...string) ([][]byte, error) {
		if text := known.Load(); text != nil && addresses[0] == "https://p.example/base.yaml" {
			return [][]byte{[]byte(*text)}, nil
		}
		return nil, errors.New("nobody knows it")
	}}, map[string]string{"a.rules": "block rm\n"})
	e.initialize(nil)
	text := strings.Replace(cfg, "DIGEST", basefile.Digest([]byte(base)), 1)
	leftOut := `5:11-5:40 2 W201 skipped the base policy "https://p.example/base.yaml": `
	e.open("petrigate.yaml", text)
	e.want("petrigate.yaml", leftOut+"nobody knows it\nhelp: run petrigate check to read it")

	other := base + "# of another day"
	known.Store(&other)
	e.change("petrigate.yaml", whole(text+"\n"))
	if got := e.diagnostics("petrigate.yaml"); len(got) != 1 || !strings.HasPrefix(got[0], leftOut+"its digest is sha256:") {
		t.Errorf("%q", got)
	}

	same := base
	known.Store(&same)
	e.change("petrigate.yaml", whole(text+"\n\n"))
	if got := e.diagnostics("petrigate.yaml"); len(got) != 1 || !strings.HasPrefix(got[0], "5:4-5:5 1 E301 https://p.example/base.yaml:6:7: refuted: prove at-most 1 bash") {
		t.Errorf("%q", got)
	}

	e.open("a.rules", "map bash.command runs cat as look\n")
	for {
		got := e.diagnostics("a.rules")
		if len(got) == 1 && strings.Contains(got[0], ` 1 E112 the configuration allows what the base policy "acme" does not`) {
			break
		}
	}
	e.exit()
}
