package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// agentPackages names the directory where npm has installed the agents. The other tests do not need
// these large packages.
const agentPackages = "PETRIGATE_E2E_AGENTS"

// An agentKind is an agent that can run petrigate as its hook, with the way to run it without a
// person.
type agentKind struct {
	name    string // client name for petrigate connect
	pack    string // npm package
	program string // path in the npm directory
	hooks   string // hooks file in the agent's home directory
	http    bool   // whether its hooks call a URL
	closes  bool   // whether it refuses a call if its hook is too slow
	reports bool   // whether it reports how a script ended

	echo     string // name of the tool echo of a server named petrigate
	edit     string // call that changes a file
	args     []string
	env      []string
	settings map[string]string // files in its home directory
}

// agentKinds returns the agents to test. MODEL stands for the address of the model.
func agentKinds() []agentKind {
	claude := agentKind{
		name: "claude-code", pack: "@anthropic-ai/claude-code@2.1.332", program: "@anthropic-ai/claude-code-linux-x64/claude", hooks: ".claude/settings.json", closes: true, reports: true,
		args: []string{"-p", "go", "--allowedTools", "Bash", "Write", "mcp__petrigate__echo"}, echo: "mcp__petrigate__echo", edit: `Write {"file_path":"WORK/page.js","content":"// one"}`,
		env: []string{"ANTHROPIC_BASE_URL=MODEL", "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
	}
	url := claude
	url.http = true
	return []agentKind{
		claude, url,
		{
			name: "codex", pack: "@openai/codex@0.169.0", program: ".bin/codex", hooks: ".codex/hooks.json",
			args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "go"}, echo: "mcp__petrigate__echo",
			env: []string{"MODEL_KEY=none"},
			settings: map[string]string{".codex/config.toml": "model = \"gpt-5\"\nmodel_provider = \"here\"\n[analytics]\nenabled = false\n" +
				"[model_providers.here]\nname = \"here\"\nbase_url = \"MODEL/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n"},
		},
		{
			name: "gemini", pack: "@google/gemini-cli@0.61.0", program: ".bin/gemini", hooks: ".gemini/settings.json", reports: true,
			args: []string{"--yolo", "-p", "go", "-m", "gemini-2.5-flash"}, echo: "mcp_petrigate_echo", edit: `write_file {"file_path":"WORK/page.js","content":"// one"}`,
			env: []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=MODEL", "GEMINI_CLI_TRUST_WORKSPACE=true"},
			settings: map[string]string{".gemini/settings.json": `{ "security": { "auth": { "selectedType": "gemini-api-key" } },` +
				` "privacy": { "usageStatisticsEnabled": false }, "general": { "enableAutoUpdate": false } }`},
		},
	}
}

// An agentSite is a home directory with an agent, petrigate as its hook, and a proxy.
type agentSite struct {
	agentKind
	t         *testing.T
	packages  string
	model     *model
	home      string // path of the home directory
	work      string
	petrigate string // path of the program that the hook runs
	config    string
	env       map[string]string
	port      string
}

const agentRules = `map bash.command runs ls as unit-test
map bash.command runs mkdir as publish
map bash.command runs touch as once
require unit-test before publish
limit once to 1 per session
`

// newAgentSite makes petrigate an agent's hook in the same way as a person would.
func newAgentSite(t *testing.T, kind agentKind) *agentSite {
	t.Helper()
	wanted(t)
	packages := os.Getenv(agentPackages)
	if _, err := os.Stat(filepath.Join(packages, "node_modules", filepath.FromSlash(kind.program))); packages == "" || err != nil {
		t.Skipf("no %s to test with: npm install %s, and name the folder by %s", kind.name, kind.pack, agentPackages)
	}
	s := &agentSite{agentKind: kind, t: t, packages: packages, model: newModel(t), env: ours(t), port: freePort(t)}
	s.home = filepath.Join(s.env["XDG_RUNTIME_DIR"], "home")
	s.work, s.petrigate, s.config = filepath.Join(s.home, "work"), filepath.Join(s.home, "petrigate"), filepath.Join(s.home, "petrigate.yaml")
	s.env["HOME"] = s.home
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	s.write("petrigate", string(program))
	if err := os.Chmod(s.petrigate, 0o700); err != nil {
		t.Fatal(err)
	}
	s.configure(map[string]any{
		"rules":  []any{map[string]any{"inline": agentRules}},
		"listen": map[string]any{"http": "127.0.0.1:" + s.port, "hooks": kind.http},
	})
	for name, content := range kind.settings {
		s.write(name, strings.ReplaceAll(content, "MODEL", s.model.URL))
	}
	return s
}

// configure writes the proxy's configuration.
func (s *agentSite) configure(settings map[string]any) {
	s.t.Helper()
	settings["version"], settings["audit"] = 1, map[string]any{"file": filepath.Join(s.home, "audit.jsonl")}
	if settings["mcpServers"] == nil {
		settings["mcpServers"] = map[string]any{}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("petrigate.yaml", string(text))
}

func (s *agentSite) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// connect installs the hooks.
func (s *agentSite) connect() {
	s.t.Helper()
	s.ourselves("connect", s.name, "--hooks", "--yes", "--config", s.config)
}

// ourselves runs petrigate and returns its output.
func (s *agentSite) ourselves(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, s.petrigate, args...)
	c.Dir, c.Env = s.work, list(s.env)
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("petrigate %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts the proxy.
func (s *agentSite) serve() {
	s.t.Helper()
	start(s.t, endpoint{Command: s.petrigate, Args: []string{"serve", "--config", s.config}, Env: s.env}, s.port)
}

// run lets the agent make the calls that the given model turns contain. It returns the files that
// exist afterwards, and the agent's requests to the model.
func (s *agentSite) run(turns ...[]string) (files, requests []string) {
	s.t.Helper()
	s.model.say(turns)
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(s.packages, "node_modules", filepath.FromSlash(s.program)), s.args...)
	c.Dir, c.WaitDelay = s.work, patience
	c.Env = append(list(s.env), "TERM=dumb", "PETRIGATE_TOKEN="+s.token())
	for _, variable := range s.agentKind.env {
		c.Env = append(c.Env, strings.ReplaceAll(variable, "MODEL", s.model.URL))
	}
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", s.name, err, out)
	}
	if requests = s.model.asked(); len(requests) != len(turns)+1 {
		s.t.Fatalf("%s has asked the model %d times, want %d:\n%s", s.name, len(requests), len(turns)+1, out)
	}
	entries, err := os.ReadDir(s.work)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return files, requests
}

func (s *agentSite) token() string {
	found, _ := filepath.Glob(filepath.Join(s.env["XDG_STATE_HOME"], "petrigate", "*token*"))
	for _, path := range found {
		if b, err := os.ReadFile(path); err == nil {
			return strings.TrimSpace(string(b))
		}
	}
	return ""
}

// eachAgent runs a test with each agent.
func eachAgent(t *testing.T, f func(t *testing.T, s *agentSite)) {
	for _, kind := range agentKinds() {
		name := kind.name
		if kind.http {
			name += "-http"
		}
		t.Run(name, func(t *testing.T) { f(t, newAgentSite(t, kind)) })
	}
}

// TestAgentsObey checks that the rules apply to an agent's own tools, that the model learns why a
// call was refused, and that concurrent calls cannot exceed a limit.
func TestAgentsObey(t *testing.T) {
	eachAgent(t, func(t *testing.T, s *agentSite) {
		s.serve()
		s.connect()
		files, requests := s.run([]string{"mkdir p1"}, []string{"ls nothere"}, []string{"mkdir p2"}, []string{"ls ."}, []string{"mkdir p3"}, []string{"touch o1", "touch o2"})
		published, once := "p3", 0
		if !s.reports { // without a report, no call is known to have succeeded
			published = ""
		}
		for _, f := range files {
			switch {
			case f[0] == 'o':
				once++
			case f != published:
				t.Errorf("the agent made %s", f)
			}
		}
		if once != 1 || published != "" && !slices.Contains(files, published) {
			t.Errorf("the agent made %q", files)
		}
		if !strings.Contains(requests[1], "(publish) requires a successful call to unit-test first") {
			t.Errorf("the model is not told why: %.2000s", requests[1])
		}
	})
}

// TestAgentsWithoutAnswer checks that no call is made if the hook gets no answer. The exceptions
// are agents that let a call pass if their hook is too slow, as docs/hooks.md explains.
func TestAgentsWithoutAnswer(t *testing.T) {
	eachAgent(t, func(t *testing.T, s *agentSite) {
		s.connect()
		s.makes("no-proxy", false)
		s.hurry()
		if s.http {
			s.wrongServers()
			return
		}
		s.swap("#!/bin/sh\nkill -9 $$\n")
		s.makes("crash", false)
		s.swap("")
		s.makes("no-program", false)
		s.swap("#!/bin/sh\nexec sleep 3\n")
		s.makes("time-out", !s.closes)
	})
}

// makes lets the agent make a call that creates a file, and checks whether the call passes.
func (s *agentSite) makes(file string, passes bool) {
	s.t.Helper()
	if files, _ := s.run([]string{"echo > " + file}); slices.Contains(files, file) != passes {
		s.t.Errorf("%s: the agent made %q", file, files)
	}
}

// wrongServers replaces the proxy with servers that give invalid answers to an event that precedes
// a call.
func (s *agentSite) wrongServers() {
	s.t.Helper()
	for name, answer := range map[string]http.HandlerFunc{
		"error":    func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"page":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"hang-up":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"time-out": func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
	} {
		listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:"+s.port)
		if err != nil {
			s.t.Fatal(err)
		}
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: answer, ReadHeaderTimeout: patience}}
		server.Start()
		s.makes(name, false)
		server.Close()
	}
}

// TestAgentsCountOnce checks that a call of a server's tool counts only once, although the agent's
// hook reports it as well, and that the effects of the agent's own tools count.
func TestAgentsCountOnce(t *testing.T) {
	eachAgent(t, func(t *testing.T, s *agentSite) {
		if s.http {
			t.Skip("it is the same agent")
		}
		_, npm := need(t)
		upstream := scripts()[0].server(t, npm, "", false)
		rules := "limit echo to 2 per session\n"
		if s.reports { // otherwise, nothing counts as evidence
			rules += "map bash.command runs ls as look\nrequire look before echo\n"
		}
		s.configure(map[string]any{
			"mcpServers": map[string]any{"everything": map[string]any{"command": upstream.Command, "args": upstream.Args}},
			"session":    map[string]any{"by": "principal"},
			"rules":      []any{map[string]any{"inline": rules}},
		})
		// Codex does not pass the session's variables to its servers.
		s.env["TMPDIR"] = s.env["XDG_RUNTIME_DIR"]
		delete(s.env, "XDG_RUNTIME_DIR")
		delete(s.env, "XDG_STATE_HOME")
		s.connect()
		s.ourselves("connect", s.name, "--yes", "--config", s.config)
		look, echo := []string{"ls ."}, []string{s.echo + ` {"message":"hello"}`}
		s.run(echo, look, echo, look, echo, look, echo)
		want := []string{"echo refuse", "shell allow", "echo allow", "shell allow", "echo allow", "shell allow", "echo refuse"}
		if !s.reports {
			want = []string{"echo allow", "shell allow", "echo allow", "shell allow", "echo refuse", "shell allow", "echo refuse"}
		}
		if got := s.decisions(); !slices.Equal(got, want) {
			t.Errorf("on record is %q, want %q", got, want)
		}
	})
}

// decisions returns the recorded decisions, each with the tool and whether the call passed.
func (s *agentSite) decisions() (all []string) {
	s.t.Helper()
	record, err := os.ReadFile(filepath.Join(s.home, "audit.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(record)) {
		var d struct{ Event, Tool, Decision string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			s.t.Fatal(err)
		}
		if d.Tool == "Bash" || d.Tool == "run_shell_command" {
			d.Tool = "shell"
		}
		if d.Event == "decision" {
			all = append(all, d.Tool+" "+d.Decision)
		}
	}
	return all
}

// swap replaces the program petrigate with a script. If script is empty, it removes the program.
func (s *agentSite) swap(script string) {
	s.t.Helper()
	if err := os.Remove(s.petrigate); err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	if script == "" {
		return
	}
	s.write("petrigate", script)
	if err := os.Chmod(s.petrigate, 0o700); err != nil {
		s.t.Fatal(err)
	}
}

var timeouts = regexp.MustCompile(`"timeout": \d+?(000)?\b`)

// hurry reduces the hooks' timeout to one second.
func (s *agentSite) hurry() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, s.hooks))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(s.hooks, timeouts.ReplaceAllString(string(text), `"timeout": 1$1`))
}

// TestAgentsPipefail checks that agents run scripts with the change made by shell.pipefail: if a
// test that is piped into another command fails, it does not count, and if it passes, it does.
func TestAgentsPipefail(t *testing.T) {
	eachAgent(t, func(t *testing.T, s *agentSite) {
		if !s.reports {
			t.Skip("nothing is known to have succeeded")
		}
		s.configure(map[string]any{
			"rules":  []any{map[string]any{"inline": agentRules}},
			"listen": map[string]any{"http": "127.0.0.1:" + s.port, "hooks": s.http},
			"shell":  map[string]any{"pipefail": "add"},
		})
		s.serve()
		s.connect()
		files, _ := s.run([]string{"ls nothere | cat"}, []string{"mkdir p1"}, []string{"ls . | cat"}, []string{"mkdir p2"})
		if !slices.Equal(files, []string{"p2"}) {
			t.Errorf("the agent made %q", files)
		}
	})
}
