package doctor

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/takeover"
	"github.com/petrigate/petrigate/internal/text"
)

// TestClockSkewIsWarning checks that a server with a wrong clock is a warning, even if it answers
// with an error, and that it gets no secret.
func TestClockSkewIsWarning(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	for off, want := range map[time.Duration]string{0: OK, 20 * time.Second: OK, time.Hour: Warning, -time.Minute: Warning} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" || r.Header.Get("Authorization") != "" {
				t.Errorf("a secret was sent: %s %v", r.URL, r.Header)
			}
			w.Header().Set("Date", now.Add(off).Format(http.TimeFormat))
			w.WriteHeader(http.StatusUnauthorized)
		}))
		at := strings.Replace(server.URL, "://", "://user:secret@", 1) + "/mcp?key=secret"
		d := &Doctor{Now: func() time.Time { return now }, loaded: &config.Config{Servers: []config.Server{{Name: "a", URL: at}, {Name: "b", Command: "x"}, {Name: "c", URL: "http://127.0.0.1:1/"}}}}
		found := d.clock(t.Context())
		server.Close()
		if len(found) != 1 || found[0].Status != want {
			t.Errorf("%s: %+v", off, found)
		}
	}
}

// TestListenReportsPortInUse checks that a port in use is a failure, unless a proxy with this
// configuration uses it.
func TestListenReportsPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	address := l.Addr().String()
	dir := t.TempDir()
	ours, other := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
	for _, file := range []string{ours, other} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		listen config.Listen
		by     string
		want   string
	}{
		{config.Listen{HTTP: address}, "", "failed in use by another program"},
		{config.Listen{HTTP: address}, other, "failed in use by another petrigate (pid 7"},
		{config.Listen{HTTP: address}, ours, "ok a proxy with this configuration listens"},
		{config.Listen{HTTP: "127.0.0.1:0"}, "", "ok is free"},
		{config.Listen{HTTP: "127.0.0.1:1234567"}, "", "failed cannot listen"},
		{config.Listen{HTTP: "0.0.0.0:0"}, "", "warning cross the network"},
		{config.Listen{HTTP: "0.0.0.0:0", Auth: "none"}, "", "failed without a token"},
	} {
		d := &Doctor{Config: ours, loaded: &config.Config{Listen: c.listen}}
		if c.by != "" {
			d.Proxies = []operator.Status{{Pid: 7, Config: c.by, Listen: "http://" + address + "/mcp"}}
		}
		found := d.listen(t.Context())
		last := found[len(found)-1]
		status, says, _ := strings.Cut(c.want, " ")
		if last.Status != status || !strings.Contains(last.Says, says) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}

// TestPostgresReportsClockAndSilence checks that the database is asked for its clock, and that a
// database that does not answer is a failure.
func TestPostgresReportsClockAndSilence(t *testing.T) {
	dsn := os.Getenv(postgrestest.Variable)
	if dsn == "" {
		t.Skipf("no PostgreSQL to test with: %s is not set", postgrestest.Variable)
	}
	for off, want := range map[time.Duration]string{0: OK, time.Hour: Warning, -time.Hour: Warning} {
		d := &Doctor{Now: func() time.Time { return time.Now().Add(off) }, loaded: &config.Config{State: config.State{Driver: "postgres", DSN: dsn}}}
		found := d.state(t.Context())
		if len(found) != 2 || found[0].Status != OK || found[1].Status != want || off != 0 && !strings.Contains(found[1].Says, "the clock of the database differs from this machine's by "+(-off).String()) {
			t.Errorf("%s: %+v", off, found)
		}
	}
	d := &Doctor{Now: time.Now, loaded: &config.Config{State: config.State{Driver: "postgres", DSN: "host=" + t.TempDir() + " user=nobody password=secret"}}}
	if found := d.state(t.Context()); len(found) != 1 || found[0].Status != Failed || strings.Contains(found[0].Says, "secret") {
		t.Errorf("%+v", found)
	}
}

// TestOlderProgramIsWarning checks that a client that starts an earlier build causes a warning, and
// that the program is not run for this. The same file, a later build, and a missing program of our
// own cause none.
func TestOlderProgramIsWarning(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	build, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir, now := t.TempDir(), time.Now()
	place := func(name string, content []byte, age time.Duration) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o700); err != nil { //nolint:gosec // a program must be executable
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ours := place("ours", build, time.Hour)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(ours, link); err != nil {
		t.Skipf("no links: %v", err)
	}
	for _, c := range []struct {
		name, program, ours string
		want                string
	}{
		{"ours", ours, ours, OK},
		{"a link to it", link, ours, OK},
		{"an earlier one", place("earlier", build, 2*time.Hour), ours, Warning},
		{"a later one", place("later", build, 0), ours, OK},
		{"no build of Go, earlier", place("script", []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "ran")), 2*time.Hour), ours, Warning},
		{"ours is gone", place("lone", build, 2*time.Hour), filepath.Join(dir, "gone"), OK},
		{"none", filepath.Join(dir, "none"), ours, Failed},
	} {
		d := &Doctor{Program: c.ours}
		f := d.checkEntry(takeover.Inspection{Client: clientcfg.Client{Title: "Cursor"}}, takeover.Entry{Command: c.program, Own: true}, "")
		if f.Status != c.want || c.want == Warning && !strings.Contains(f.Says, "which is older than this petrigate") {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a program of a client was run")
	}
}

// TestHooksThatFailOpenAreFound checks that the doctor finds hooks that let a call pass when they
// fail, and two hooks that run for the same call.
func TestHooksThatFailOpenAreFound(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	none := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		name   string
		system string
		files  map[string]string
		want   []string // prefixes of warnings and failures
	}{
		{"two for VS Code", "linux", map[string]string{
			".claude/settings.json": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x/petrigate hook claude-code","onFailure":"block"}]}],
				"PostToolUse":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}],"PostToolUseFailure":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}],"SessionEnd":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}]}}`,
			".github/hooks/petrigate.json": vscodeHooks(closed("vscode")),
		}, []string{"warning the version of Claude Code", "warning VS Code also runs the hooks of Claude Code, so each call counts twice", "warning VS Code: a hook that exceeds"}},
		{"switched off by a project", "linux", map[string]string{
			".gemini/settings.json": `{"hooksConfig":{"enabled":false},"hooks":{"BeforeTool":[{"hooks":[{"command":"` + closed("gemini-cli") + `"}]}],` +
				`"AfterTool":[{"hooks":[{"command":"petrigate hook gemini-cli"}]}],"SessionEnd":[{"hooks":[{"command":"petrigate hook gemini-cli"}]}]}}`,
			".claude/settings.local.json": `{"disableAllHooks":true}`,
			".claude/settings.json":       claudeHooks(`"matcher":"Bash",`, ``),
		}, []string{
			"failed Claude Code does not run hooks: ", "failed Claude Code does not run its hook for PreToolUse before each call, or does not wait for it",
			"warning the version of Claude Code", "failed Gemini CLI does not run hooks: ", "warning Gemini CLI: ",
		}},
		{"switched off beside the hooks", "linux", map[string]string{
			".codex/hooks.json": codexHooks(closed("codex")), ".codex/config.toml": "model = \"x\"\n[features]\nhooks = false\n",
		}, []string{"failed Codex does not run hooks: ", "warning Codex: "}},
		{"not waited for", "linux", map[string]string{".claude/settings.json": claudeHooks(``, `,"async":true`)}, []string{
			"failed Claude Code does not run its hook for PreToolUse before each call, or does not wait for it", "warning the version of Claude Code",
		}},
		{"for all tools", "linux", map[string]string{".claude/settings.json": claudeHooks(`"matcher":"*",`, ``)}, []string{"warning the version of Claude Code"}},
		{"VS Code alone", "linux", map[string]string{".github/hooks/petrigate.json": vscodeHooks(closed("vscode"))}, []string{"warning VS Code: a hook that exceeds"}},
		{"of an earlier petrigate", "linux", map[string]string{".codex/hooks.json": codexHooks("/x/petrigate hook codex")}, []string{
			"failed Codex lets a call pass if its hook for PreToolUse fails", "warning Codex: ",
		}},
		{"of this one", "linux", map[string]string{".codex/hooks.json": codexHooks(closed("codex"))}, []string{"warning Codex: "}},
		{"none before a call", "linux", map[string]string{".codex/hooks.json": `{"hooks":{"Stop":[{"hooks":[{"command":"/x/petrigate hook codex"}]}]}}`}, []string{
			"failed Codex has no petrigate hook for PreToolUse and PostToolUse", "warning Codex: ",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", "")
			for name, text := range c.files {
				path := filepath.Join(home, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Remove(path) })
			}
			d := &Doctor{Desk: &takeover.Driver{System: clientcfg.System{OS: c.system, Home: home, Env: none}, State: filepath.Join(home, "state")}}
			var got []string
			for _, f := range d.hooks(t.Context()) {
				if f.Status != OK {
					got = append(got, f.Status+" "+f.Says)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}

// closed returns a command, escaped for JSON, that refuses a call if the hook fails.
func closed(agent string) string {
	return `sh -c '/x/petrigate hook ` + agent + ` || { echo \"The call was not made.\" >&2; exit 2; }'`
}

// claudeHooks returns hooks of Claude Code. It inserts in into the hook that precedes a call, and
// beside next to that hook.
func claudeHooks(beside, in string) string {
	return `{"hooks":{"PreToolUse":[{` + beside + `"hooks":[{"type":"command","command":"/x/petrigate hook claude-code","onFailure":"block"` + in + `}]}],` +
		`"PostToolUse":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}],"PostToolUseFailure":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}],` +
		`"SessionEnd":[{"hooks":[{"command":"/x/petrigate hook claude-code"}]}]}}`
}

func codexHooks(before string) string {
	return `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"` + before + `"}]}],"PostToolUse":[{"hooks":[{"command":"petrigate hook codex"}]}],"Stop":[{"hooks":[{"command":"petrigate hook codex"}]}]}}`
}

func vscodeHooks(before string) string {
	return `{"hooks":{"PreToolUse":[{"type":"command","command":"` + before + `"}],"PostToolUse":[{"command":"petrigate hook vscode"}],"Stop":[{"command":"petrigate hook vscode"}]}}`
}

// TestPrintEscapes checks that text from servers and files is escaped.
func TestPrintEscapes(t *testing.T) {
	r := report([]Finding{failed("fix\x1b[2J", "a\x1b[31m\nb"), ok("c")})
	var b strings.Builder
	if err := r.Print(&b, text.Ink(false)); err != nil || strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "2 checks: 1 failed, 0 warnings") {
		t.Errorf("%q %v", b.String(), err)
	}
	if r.OK || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
}

// TestVersionsCompareAsNumbers checks that versions are not compared as strings.
func TestVersionsCompareAsNumbers(t *testing.T) {
	for v, want := range map[string]bool{"2.1.295": true, "2.1.294": false, "2.1.1000": true, "3.0.0": true, "2.0.999": false} {
		if atLeast(v, firstFailClosed) != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}

// TestClaudeVersionOfEachInstallation checks each way to install Claude Code.
func TestClaudeVersionOfEachInstallation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have other names there")
	}
	const pack = `{"name": "@anthropic-ai/claude-code", "version": "2.1.197"}`
	for _, c := range []struct {
		program, link string // the program, and the target of the link in PATH, or "" if the program itself is in PATH
		files         map[string]string
		want          string
	}{
		{"share/claude/versions/2.1.300", "bin/claude", nil, "2.1.300"},
		{"share/2.1.300/claude", "bin/claude", nil, "2.1.300"},
		{"lib/claude-code/cli.js", "bin/claude", map[string]string{"lib/claude-code/package.json": pack}, "2.1.197"},
		{"lib/claude-code/bin/claude.exe", "bin/claude", map[string]string{"lib/claude-code/package.json": pack}, "2.1.197"},
		{"local/claude", "", map[string]string{"local/node_modules/@anthropic-ai/claude-code/package.json": pack}, "2.1.197"},
		{"lib/other/bin/claude", "bin/claude", map[string]string{"lib/other/package.json": `{"name": "other", "version": "2.1.197"}`}, ""},
		{"bin/claude", "", nil, ""},
	} {
		dir := t.TempDir()
		c.files = maps.Clone(c.files)
		if c.files == nil {
			c.files = map[string]string{}
		}
		c.files[c.program] = "#!/bin/sh\n"
		for name, text := range c.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // a program must be executable
				t.Fatal(err)
			}
		}
		in := filepath.Join(dir, filepath.Dir(cmp.Or(c.link, c.program)))
		if c.link != "" {
			if err := os.MkdirAll(in, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, c.program), filepath.Join(dir, c.link)); err != nil {
				t.Skip("no symbolic links here:", err)
			}
		}
		t.Setenv("PATH", in)
		if got := (&Doctor{}).claudeVersion(); got != c.want {
			t.Errorf("%s: %q, want %q", c.program, got, c.want)
		}
	}
}

// TestChmodLeavesReplacedFile checks that chmod does not change a file that has replaced the
// checked one.
func TestChmodLeavesReplacedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"old", "new"} {
		if err := os.WriteFile(file+text, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.Stat(file + "old")
	if err == nil {
		err = os.Rename(file+"new", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := chmod(file, was, 0o600)(t.Context()); err == nil || !strings.Contains(err.Error(), "was replaced in the meantime") {
		t.Error(err)
	}
}
