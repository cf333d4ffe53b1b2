package examples

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/testbinary"
)

// readme is the path of the README. demo is the path of the output that the demo printed when its
// own test last ran.
const (
	readme = "../README.md"
	demo   = "../internal/serve/demo/testdata/demo.txt"
)

// fence matches a code block on a page and its kind. It is read-only.
var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeIsShort limits the length of the README, because details belong in docs.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, readme), "\n"); n > 200 {
		t.Errorf("the README has %d lines", n)
	}
}

// atHome looks up variables in a reader's environment.
func atHome(name string) (string, bool) {
	if name == "HOME" {
		return "/home/me", true
	}
	return environment(name)
}

func checkRules(t *testing.T, text string) {
	build(t, &config.Config{Rules: []config.RuleText{{File: "README.md", Text: text}}, Default: "allow"})
}

func checkNet(t *testing.T, text string) {
	nets, err := config.ParseNet("README.md", []byte(text))
	if err != nil {
		t.Fatal(config.Text(err))
	}
	build(t, &config.Config{Nets: nets, Default: "allow"})
}

// checkJSON parses JSON. If it contains servers, it is a client's configuration.
func checkJSON(t *testing.T, text string) {
	if strings.Contains(text, `ervers"`) {
		checkClient(t, text)
	} else if !json.Valid([]byte(text)) {
		t.Error("this is no JSON")
	}
}

// checkClient parses a client's configuration. petrigate itself must accept its servers.
func checkClient(t *testing.T, text string) {
	var client map[string]map[string]struct {
		Type, Command, URL string
		Args               []string
		Headers            map[string]string
	}
	if err := json.Unmarshal([]byte(text), &client); err != nil {
		t.Fatal(err)
	}
	for key, servers := range client {
		s, ok := servers["petrigate"]
		switch {
		case key != "mcpServers" && key != "servers" || !ok || len(servers) != 1:
			t.Errorf("no server petrigate: %s", text)
		case s.Type == "http":
			if !strings.HasSuffix(s.URL, "/mcp") || !strings.HasPrefix(s.Headers["Authorization"], "Bearer ") {
				t.Errorf("no endpoint or no token: %+v", s)
			}
		case !filepath.IsAbs(s.Command) || len(s.Args) != 3 || s.Args[0] != "serve" || s.Args[1] != "--config" || !filepath.IsAbs(s.Args[2]):
			t.Errorf("not the command that the text promises: %+v", s)
		}
	}
	pasted := strings.Replace(text, `"servers"`, `"mcpServers"`, 1)
	if _, err := config.Parse("pasted.json", []byte(pasted), config.Options{Env: environment}); err != nil {
		t.Error(config.Text(err))
	}
}

// checkTranscript compares the text with the demo's output.
func checkTranscript(t *testing.T, text string) {
	if !strings.Contains(read(t, demo), text) {
		t.Errorf("the demo does not print this (any more):\n%s", text)
	}
}

// checkDiagram checks that all boxes in a flowchart are closed. For a diagram that it cannot parse,
// GitHub shows an error.
func checkDiagram(t *testing.T, text string) {
	if !strings.HasPrefix(text, "flowchart ") {
		t.Errorf("not a flowchart: %s", text)
	}
	for _, pair := range []string{"[]", "{}", "()"} {
		if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
			t.Errorf("%s do not match: %s", pair, text)
		}
	}
	if strings.Count(text, "\nend")+strings.Count(text, "    end") != strings.Count(text, "subgraph ") || strings.Count(text, `"`)%2 != 0 {
		t.Errorf("a subgraph or a text is not closed: %s", text)
	}
}

// program adds petrigate to the test's PATH.
func program(t *testing.T) string {
	t.Helper()
	exe := testbinary.Path(t)
	if name := filepath.Base(exe); strings.TrimSuffix(name, ".exe") != "petrigate" {
		t.Fatalf("a binary named %q is not found as petrigate", name)
	}
	t.Setenv("PATH", filepath.Dir(exe)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return exe
}

// TestQuickstartLive starts the server in the quickstart, which must have all tools that the rules
// name.
func TestQuickstartLive(t *testing.T) {
	exe := program(t)
	t.Setenv("PETRIGATE_RUNTIME_DIR", t.TempDir())
	out, err := exec.Command(exe, "check", "--live", "--strict", "--config", "quickstart/petrigate.yaml").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "9 tools of 1 upstream\n") {
		t.Errorf("check --live: %v\n%s", err, out)
	}
}

// TestVerbs checks that the program has each command and flag on the page about commands.
func TestVerbs(t *testing.T) {
	exe := program(t)
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| (.*) \\|$").FindAllStringSubmatch(read(t, "../docs/cli.md"), -1)
	if len(rows) < 20 {
		t.Fatalf("the table of verbs has %d rows", len(rows))
	}
	for _, row := range rows {
		help, err := exec.Command(exe, row[1], "--help").CombinedOutput()
		if err != nil || !strings.Contains(string(help), "petrigate "+row[1]) {
			t.Errorf("%s --help: %v\n%s", row[1], err, help)
		}
		for _, word := range regexp.MustCompile("`((?:--)?[a-z]+)[^`]*`").FindAllStringSubmatch(row[2], -1) {
			if !strings.Contains(string(help), word[1]) {
				t.Errorf("%s has no %s", row[1], word[1])
			}
		}
	}
}

// TestExamplesAreListed compares the list of examples with the folders.
func TestExamplesAreListed(t *testing.T) {
	files, _ := filepath.Glob("*/petrigate.yaml")
	for _, file := range files {
		name := filepath.Dir(file)
		if !strings.Contains(read(t, readme), "](examples/"+name+")") {
			t.Errorf("the README does not list %s", name)
		}
		own := read(t, filepath.Join(name, "README.md"))
		for _, want := range []string{"petrigate test examples/" + name + " examples/" + name + "/cases.jsonl", "--config examples/" + name + "/petrigate.yaml"} {
			if !strings.Contains(own, want) {
				t.Errorf("%s/README.md does not say %q", name, want)
			}
		}
	}
}

// TestReadmeSaysWhatIsLater checks that keys announced for the future are refused.
func TestReadmeSaysWhatIsLater(t *testing.T) {
	const server = "mcpServers: { a: { command: x } }\n"
	for _, later := range []string{"default: ask", "log: { file: x }"} {
		_, err := config.Parse("later.yaml", []byte(server+later), config.Options{Env: environment})
		if err == nil || !strings.Contains(err.Error(), "not supported yet") {
			t.Errorf("%s: %v", later, err)
		}
	}
}
