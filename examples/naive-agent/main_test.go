package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// TestNaiveAgent runs the agent with a real proxy in front of a real server. The agent must reach
// its goal by the shortest way, using only the text of refusals.
func TestNaiveAgent(t *testing.T) {
	petrigate := testbinary.Path(t)
	t.Setenv("PETRIGATE_RUNTIME_DIR", filepath.Join(t.TempDir(), "run"))
	wrap := []string{"wrap", "--rules", "release.rules", "--", petrigate, "demo-upstream"}
	var out bytes.Buffer
	if err := run(&out, "deploy", petrigate, wrap...); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	want := `> deploy
  deploy requires a successful call to build first. (release.rules:4:1) Way out: call ` + "`lint`, then `test`, then `build`; after that `deploy` is allowed." + `
> lint
  lint: no problems
> test
  test: 42 tests passed
> build
  built version 1.0.1
> deploy
  deployed version 1.0.1 to production
deploy was reached with 5 calls.
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	page, err := os.ReadFile("README.md")
	shown := strings.ReplaceAll(strings.ReplaceAll("\n"+want, "(release.rules", "(examples/naive-agent/release.rules"), "\n", "\n    ")
	if err != nil || !strings.Contains(string(page), strings.TrimRight(shown, " \n")) {
		t.Errorf("README.md does not show what comes out: %v", err)
	}
	out.Reset()
	wrap[2] = "none.rules"
	if err := run(&out, "deploy", petrigate, wrap...); err == nil || !strings.Contains(err.Error(), "initializing") {
		t.Errorf("without its rules the proxy must not start: %v", err)
	}
}
