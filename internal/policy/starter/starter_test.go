package starter

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/rules"
)

var update = flag.Bool("update", false, "rewrite what the archives expect")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes a third of the time
	m.Run()
}

// load writes a configuration into a directory and loads it.
func load(t *testing.T, src []byte) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "petrigate.yaml")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// TestProposals checks the rules and messages for a configuration and its servers' tools. The
// result must pass "check --strict", and fmt must not change it.
func TestProposals(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := load(t, find(a, "petrigate.yaml"))
			tools, err := check.ParseTools("tools.json", find(a, "tools.json"))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := New(t.Context(), c, tools, nil, check.Effort{})
			if err != nil {
				t.Fatal(err)
			}
			var out, said bytes.Buffer
			if err := plan.Run(Options{Out: &out, Err: &said, Yes: true}); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(c.File) + string(filepath.Separator)
			got := txtar.Archive{Files: []txtar.File{a.Files[0], a.Files[1], {Name: "out", Data: out.Bytes()}, {Name: "said", Data: []byte(strings.ReplaceAll(said.String(), dir, ""))}}}
			if *update {
				if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil { //nolint:gosec // a golden file is not secret
					t.Fatal(err)
				}
			} else if want := txtar.Format(a); !bytes.Equal(want, txtar.Format(&got)) {
				t.Errorf("run with -update\n%s", txtar.Format(&got))
			}
			recheck(t, plan, c, tools)
		})
	}
}

// recheck checks the written files in the same way as "check --strict".
func recheck(t *testing.T, plan *Plan, c *config.Config, tools []check.ListedTool) {
	t.Helper()
	if plan.ExistingPolicy != "" {
		if _, err := os.Stat(plan.File); !errors.Is(err, os.ErrNotExist) {
			t.Error("a file was written beside a policy:", err)
		}
		return
	}
	if formatted, err := rules.Format([]byte(plan.Rules)); err != nil || string(formatted) != plan.Rules {
		t.Errorf("fmt would change it, %v", err)
	}
	after, err := config.Load(config.Options{Path: c.File})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Rules) != 1 || after.Rules[0].Text != plan.Rules || len(after.Servers) != len(c.Servers) {
		t.Errorf("%+v", after.Rules)
	}
	again, err := New(t.Context(), after, tools, nil, check.Effort{})
	if err != nil || again.ExistingPolicy == "" || again.Rules != plan.Rules {
		t.Errorf("a second time: %v, %q\n%s", err, again.ExistingPolicy, again.Rules)
	}
	if err := plan.Write(); !errors.Is(err, ErrChanged) && !bytes.Equal(plan.Before, plan.After) {
		t.Error("it was written over:", err)
	}
}

// TestDocumentationShowsProposal checks that the documentation page shows the actual proposal.
func TestDocumentationShowsProposal(t *testing.T) {
	a, err := txtar.ParseFile("testdata/filesystem.txtar")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/first-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```rules\n")
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		if !bytes.Contains(find(a, "out"), []byte(line)) {
			t.Errorf("init does not propose %s", line)
		}
	}
}

// TestSecretsInLists checks that a file that contains keys requires approval wherever an argument
// names it.
func TestSecretsInLists(t *testing.T) {
	c := load(t, []byte("version: 1\nmcpServers: { s: { command: ./s } }\ndefault: allow\n"))
	plan, err := New(t.Context(), c, []check.ListedTool{
		{Name: "read_multiple_files", InputSchema: json.RawMessage(`{"properties":{"paths":{"type":"array"}},"required":["paths"]}`)},
		{Name: "push_files", InputSchema: json.RawMessage(`{"properties":{"files":{"type":"array","items":{"properties":{"path":{"type":"string"}}}}}}`)},
	}, nil, check.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	examples := plan.Rules + `
example read_multiple_files {"paths": ["a", "b/.env"]} as secret-path
example read_multiple_files {"paths": ["~/.ssh/config", "a"]} as secret-path
example read_multiple_files {"paths": ["a", "b/env"]} not as secret-path
example push_files {"files": [{"path": "a"}, {"path": ".env", "content": "x"}]} as secret-path
example push_files {"files": [{"path": "a", "content": "/.env"}]} not as secret-path
`
	f, errs := rules.Parse("", []byte(examples))
	if _, err := rules.Compile(f); len(errs) > 0 || err != nil {
		t.Error(errs, err, examples)
	}
}

// TestNothingIsWrittenWithoutConfirmation checks that nothing is written without confirmation.
func TestNothingIsWrittenWithoutConfirmation(t *testing.T) {
	src := []byte("version: 1\nmcpServers: { s: { command: ./s } }\n")
	c := load(t, src)
	plan, err := New(t.Context(), c, []check.ListedTool{{Name: "delete"}}, nil, check.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []func(string) (bool, error){nil, func(string) (bool, error) { return false, nil }} {
		if err := plan.Run(Options{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Ask: ask}); err != nil {
			t.Error(err)
		}
	}
	if now, err := os.ReadFile(c.File); err != nil || !bytes.Equal(now, src) || plan.ExistingPolicy != "" {
		t.Errorf("%q %v", now, err)
	}
	if _, err := os.Stat(plan.File); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := New(t.Context(), c, nil, nil, check.Effort{}); !errors.Is(err, ErrNoTools) {
		t.Error(err)
	}
	if err := os.WriteFile(plan.File, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(); err == nil {
		t.Error("a file was overwritten")
	}
}

// TestOddNameKeepsOtherRules checks that a name that check complains about does not remove a rule about
// another tool.
func TestOddNameKeepsOtherRules(t *testing.T) {
	c := load(t, []byte("version: 1\nmcpServers: { s: { command: ./s } }\ndefault: allow\n"))
	plan, err := New(t.Context(), c, []check.ListedTool{{Name: "delete_note"}, {Name: "delete_\n%s"}, {Name: "send_*"}, {Name: "send_mail"}, {Name: "fetch_\x07"}, {Name: "fetch_page"}}, nil, check.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"require human-approval before delete_note\n", "require human-approval before send_mail after fetch_page\n", "prove never delete_note without human-approval\n"} {
		if !strings.Contains(plan.Rules, line) {
			t.Errorf("%s is not there:\n%s\n%s", line, plan.Rules, plan.Left)
		}
	}
	if len(plan.Left) == 0 {
		t.Error("nothing was left out")
	}
}

// TestClientFileIsNotChanged checks that a client's file is not changed.
func TestClientFileIsNotChanged(t *testing.T) {
	src := []byte(`{ "mcpServers": { "s": { "command": "./s" } } }`)
	c := load(t, src)
	plan, err := New(t.Context(), c, []check.ListedTool{{Name: "delete"}}, nil, check.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := plan.Run(Options{Out: &bytes.Buffer{}, Err: &said}); err != nil || !strings.Contains(said.String(), "petrigate import makes a configuration") {
		t.Error(said.String(), err)
	}
	if err := plan.Run(Options{Out: &bytes.Buffer{}, Err: &said, Yes: true}); !errors.Is(err, ErrClient) {
		t.Error(err)
	}
	if now, err := os.ReadFile(c.File); err != nil || !bytes.Equal(now, src) {
		t.Errorf("%q %v", now, err)
	}
}

// TestSpliceKeepsOtherBytes checks that keys are added and all other bytes remain unchanged.
func TestSpliceKeepsOtherBytes(t *testing.T) {
	keys := []key{{"mode", "mode: shadow", `"mode": "shadow"`}, {"rules", "rules:\n  - file: a", `"rules": []`}}
	for src, want := range map[string]string{
		"a: 1\n":                  "a: 1\nmode: shadow\nrules:\n  - file: a\n",
		"a: 1":                    "a: 1\nmode: shadow\nrules:\n  - file: a\n",
		"# x {\na: 1\n":           "# x {\na: 1\nmode: shadow\nrules:\n  - file: a\n",
		"a: { b: 1 }\r\n":         "a: { b: 1 }\r\nmode: shadow\r\nrules:\r\n  - file: a\r\n",
		"# x {\n{\"a\": 1}":       "# x {\n{\n  \"mode\": \"shadow\",\n  \"rules\": [],\"a\": 1}",
		"\ufeff# x\n { \"a\": 1}": "\ufeff# x\n {\n  \"mode\": \"shadow\",\n  \"rules\": [], \"a\": 1}",
	} {
		if got, err := splice([]byte(src), keys); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", src, got, err)
		}
	}
	if _, err := splice([]byte("a: 1\n...\n"), keys); !errors.Is(err, errSplice) {
		t.Error(err)
	}
}

// TestRandomTools checks that, whatever the tools' names are, a proposal is valid, passes
// verification, and uses only names of existing servers.
func TestRandomTools(t *testing.T) {
	words := []string{"get", "list", "delete", "send", "note", "*", "?", "\n", "#", "\"", "block", " ", ".", "é", "\u202e", "run", "or", "_", "-", "1", "as", "pay", "/", "\\", "edit", "read"}
	c := load(t, []byte("version: 1\nmcpServers: { a: { command: ./a }, b: { command: ./b } }\n"))
	from, count := soak.Range(t, 30)
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // count is not negative
		random := rand.New(rand.NewPCG(seed, 1))
		var tools []check.ListedTool
		have := map[string]bool{"prompt:*": true, "resource:*": true, "secret-path": true}
		for _, agent := range agenttool.Agents() {
			have[agent+".*"] = true
		}
		for range 1 + random.IntN(12) {
			name := ""
			for range 1 + random.IntN(4) {
				name += words[random.IntN(len(words))]
			}
			server := []string{"a", "b"}[random.IntN(2)]
			if have[server+"_"+name] {
				continue
			}
			have[server+"_"+name] = true
			schema := fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string"},"amount":{"type":"number"}},"required":[%s]}`, []string{`"path"`, ``}[random.IntN(2)])
			tools = append(tools, check.ListedTool{Exposed: server + "_" + name, Bare: name, Canonical: server + "." + name, InputSchema: json.RawMessage(schema)})
		}
		plan, err := New(t.Context(), c, tools, nil, check.Effort{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, tools)
		}
		f, errs := rules.Parse("", []byte(plan.Rules))
		if len(errs) > 0 {
			t.Fatal(errs, plan.Rules)
		}
		for _, n := range f.Names() {
			if !have[n.Text] {
				t.Errorf("seed %d: %q is no tool\n%s", seed, n.Text, plan.Rules)
			}
		}
	}
}

// TestProposalListsMissingServers checks that servers that did not respond are listed at the top,
// and that lines below are numbered correctly.
func TestProposalListsMissingServers(t *testing.T) {
	for fallback, want := range map[string]string{"": "its tools are refused (default: deny)", "default: allow\n": "its tools are allowed (default: allow)"} {
		c := load(t, []byte("version: 1\nmcpServers: { s: { command: ./s }, gone: { command: ./gone } }\n"+fallback))
		plan, err := New(t.Context(), c, []check.ListedTool{{Name: "s_delete_note"}, {Name: "s_send_*"}, {Name: "s_send_mail"}, {Name: "s_fetch_page"}}, []string{"gone", "a\x1b[2K\nblock *"}, check.Effort{})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			"# gone did not respond, so no rule here covers it, and " + want + ". Once it responds, petrigate init prints the rules to add.\n",
			"# a\\u{1b}[2K\\u{a}block * did not respond",
			"\nrequire human-approval before s_send_mail after s_fetch_page\n", "\nrequire human-approval before s_delete_note\n",
		} {
			if !strings.Contains(plan.Rules, line) {
				t.Errorf("%q is not there:\n%s\n%s", line, plan.Rules, plan.Left)
			}
		}
		var said bytes.Buffer
		if err := plan.Run(Options{Out: &bytes.Buffer{}, Err: &said}); err != nil || !strings.Contains(said.String(), `No rule was proposed for gone and a\u{1b}[2K\u{a}block *, which did not respond (see above)`) {
			t.Errorf("%v\n%s", err, said.String())
		}
	}
}

// TestMissingStatementsOfApprovals has a list of tools that require approval. Only the tools that
// do not have an approval rule yet must be shown.
func TestMissingStatementsOfApprovals(t *testing.T) {
	have := (&Plan{texts: []string{"require human-approval before a, b\nprove never a, b without human-approval\nlimit a, b to 3 per session\n"}}).existingStatements()
	for statement, want := range map[string]string{
		"require human-approval before a":                     "",
		"require human-approval before b, a":                  "",
		"require human-approval before a, c, b, d":            "require human-approval before c, d",
		"require human-approval before a, c after x":          "require human-approval before a, c after x",
		`require human-approval before "a, b"`:                `require human-approval before "a, b"`,
		"prove never a, c without human-approval":             "prove never c without human-approval",
		"prove never a, c after x, y without human-approval":  "prove never a, c after x, y without human-approval",
		"limit a, b to 3 per session":                         "",
		"limit a to 3 per session":                            "limit a to 3 per session",
		"limit a, b, c to 3 per session":                      "limit a, b, c to 3 per session",
		"require human-approval before a, c # as it was said": "require human-approval before a, c # as it was said",
	} {
		if got := removeCovered(statement, have); got != want {
			t.Errorf("%s: %q, not %q", statement, got, want)
		}
	}
}
