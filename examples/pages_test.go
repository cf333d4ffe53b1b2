package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/docpage"
)

// ownTest names the tests for blocks that need more than the test for their kind. It is read-only.
var ownTest = map[string]string{
	"docs/codes.md":       "TestCodesPage and what else reads it, in rules and cmd/petrigate",
	"docs/hooks.md":       "TestHooksPage",
	"docs/tutorial.md":    "TestTutorial in cmd/petrigate and in e2e",
	"docs/expressions.md": "TestPage in internal/cel",
}

// notRun limits the number of blocks that declare, with a reason, that they cannot run here.
const notRun = 14

// TestBlocks loads each block that a reader might copy from a page. It fails for a block that it
// cannot try, unless the block explains why. [TestSessions] and TestPageCommandsParse in
// cmd/petrigate try the commands in the blocks.
func TestBlocks(t *testing.T) {
	checks := map[string]func(*testing.T, string){
		"yaml": checkConfig, "rules": checkRules, "net": checkNet, "json": checkJSON,
		"transcript": checkTranscript, "mermaid": checkDiagram,
	}
	seen, left := map[string]int{}, 0
	for _, b := range docpage.All(t, "..") {
		check := checks[b.Kind]
		switch {
		case ownTest[b.Page] != "" || b.Kind == "indented" && b.Script() == "" && b.SeenIn == "":
			// The text shows what something looks like.
		case b.NotRun != "":
			left++
		case b.SeenIn != "":
			checkSeen(t, b)
		case check != nil:
			seen[b.Kind]++
			t.Run(b.Page+"/"+b.Kind, func(t *testing.T) { check(t, b.Text) })
		case b.Script() == "" || len(b.Sessions()) > 0 && b.RunIn == "":
			t.Errorf("%s:%d: this block of kind %q is not tried; see internal/docpage for the comments above a block", b.Page, b.Line, b.Kind)
		}
		if b.Kind == "indented" && regexp.MustCompile(`^(require|limit|block|prove|map) `).MatchString(b.Text) {
			t.Errorf("%s:%d: fence rules as ```rules, so that they are tried", b.Page, b.Line)
		}
	}
	for kind := range checks {
		if seen[kind] == 0 {
			t.Errorf("no block of kind %q", kind)
		}
	}
	if left > notRun {
		t.Errorf("%d blocks say that they cannot run, and not %d", left, notRun)
	}
}

// checkConfig loads a configuration. If the configuration has no servers, it is only a part, and
// checkConfig adds some.
func checkConfig(t *testing.T, text string) {
	dir := t.TempDir()
	pipeline := regexp.MustCompile(`(?m)^name: .*$`).ReplaceAllString(read(t, "deployment-pipeline/pipeline.net.yaml"), "name: pipeline")
	for name, text := range map[string]string{"rules/a.rules": "block shutdown\n", "pipeline.net.yaml": pipeline} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !regexp.MustCompile(`(?m)^mcpServers:`).MatchString(text) {
		text = "mcpServers: { files: { command: server } }\n" + text
	}
	c, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte(text), config.Options{Env: atHome})
	if err != nil {
		t.Fatal(config.Text(err))
	}
	build(t, c)
}

// checkSeen looks for each line of the block's output in the file that a test verifies. A line of
// dots stands for omitted lines.
func checkSeen(t *testing.T, b docpage.Block) {
	t.Helper()
	text := read(t, filepath.Join("..", filepath.FromSlash(b.SeenIn)))
	shown := 0
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSpace(line)
		if line == "" || line == "..." || strings.HasPrefix(line, "$ ") {
			continue
		}
		shown++
		if !strings.Contains(text, line) {
			t.Errorf("%s:%d: %s does not have the line %q", b.Page, b.Line, b.SeenIn, line)
		}
	}
	if shown == 0 {
		t.Errorf("%s:%d: no output is shown", b.Page, b.Line)
	}
}

// TestSessions runs the commands whose output the pages show, in the folder that the comment above
// them names.
func TestSessions(t *testing.T) {
	exe := program(t)
	ran := 0
	for _, b := range docpage.All(t, "..") {
		if b.RunIn == "" {
			continue
		}
		for _, s := range b.Sessions() {
			ran++
			args := strings.Fields(s.Command)
			c := exec.Command(exe, args[1:]...)
			c.Dir = filepath.Join("..", filepath.FromSlash(b.RunIn))
			out, _ := c.CombinedOutput() // the exit code is 3 for a refuted claim
			got, want := strings.TrimRight(string(out), "\n"), strings.TrimRight(s.Output, "\n")
			if args[0] != "petrigate" || !printed(got, want) {
				t.Errorf("%s:%d: %s prints\n%s\nand not\n%s", b.Page, b.Line, s.Command, got, want)
			}
		}
	}
	if ran < 4 {
		t.Errorf("only %d commands were run", ran)
	}
}

// printed compares the output of a command with what a page shows. A line of dots stands for
// omitted lines.
func printed(got, want string) bool {
	shown := strings.ReplaceAll(regexp.QuoteMeta(want), "\n"+regexp.QuoteMeta("...")+"\n", "\n(?s:.*)\n")
	return regexp.MustCompile("^" + shown + "$").MatchString(got)
}

// TestNamedScripts checks that each script that a page refers to exists.
func TestNamedScripts(t *testing.T) {
	named := 0
	for page, text := range docpage.Prose(t, "..") {
		for _, script := range regexp.MustCompile(`[a-z-]+\.txtar`).FindAllString(text, -1) {
			named++
			if _, err := os.Stat(filepath.Join("..", "cmd", "petrigate", "testdata", "script", script)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d scripts are named", named)
	}
}
