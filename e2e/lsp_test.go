package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEditor checks that VS Code's protocol library can communicate with petrigate lsp from the
// first message to the last.
func TestEditor(t *testing.T) {
	binary, npm := need(t)
	job, err := json.Marshal(map[string]string{"command": binary, "dir": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := program(t, job, []string{"E2E_PACKAGES=" + npm}, filepath.Join("testdata", "lsp.mjs"))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const want = `{
		"hover": true,
		"mistakes": [["E003", {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 4}}, "unknown statement \"blok\"\nhelp: did you mean \"block\"?"]],
		"repaired": [],
		"meaning": "` + "`" + `\"𝄞\", rm` + "`" + ` is always blocked.",
		"name": {"start": {"line": 1, "character": 14}, "end": {"line": 1, "character": 16}},
		"words": ["shadow", "require", "block", "limit", "allow", "map", "success", "example", "prove"],
		"outline": ["block \"𝄞\", rm"],
		"format": [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, "newText": "block \"𝄞\", rm # rm\r\n"}],
		"code": 0
	}`
	if diff := cmp.Diff(canonical(t, []byte(want)), canonical(t, out)); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, out)
	}
}
