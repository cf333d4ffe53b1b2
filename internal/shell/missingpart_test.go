package shell_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestDoubtNamesMissingWord checks that the doubt about a command which shares only program and
// subcommand with a map names the missing word.
func TestDoubtNamesMissingWord(t *testing.T) {
	for _, c := range []struct{ words, script, want string }{
		{"go test ./...", "go test ./pkg/foo", "it has no `./...`"},
		{"go test ./...", "cd x && go test -run X ./a | tail", "it has no `./...`"},
		{"go test -race ./...", "go test ./...", "it has no `-race`"},
		{"pytest tests unit", "pytest tests", "it has no `unit`"},
		{"npm run test e2e", "npm run test", "it has no `e2e`"},
		{"exactly cargo test", "cargo test -p x", "it has other arguments"},
		{"go test ./...", "go vet ./...", ""},
		{"go test ./...", "docker run x go test ./a", ""},
		{"go test", "go vet", ""},
		{"npm run test", "npm run lint", ""},
		{"npm run test", "npm test", ""},
		{"pytest --cov", "pytest", ""},
		{"pytest", "jest", ""},
	} {
		rest, exactly := strings.CutPrefix(c.words, "exactly ")
		reader := shell.Options{}.NewReader()
		number, err := reader.Command(strings.Fields(rest), exactly)
		if err != nil {
			t.Fatal(err)
		}
		d := reader.Read(nil, c.script).Doubt(number)
		if d.What != c.want || d.What != "" && d.Advice != "run `"+rest+"`" {
			t.Errorf("runs %s: %q: %+v, want %q", c.words, c.script, d, c.want)
		}
	}
}
