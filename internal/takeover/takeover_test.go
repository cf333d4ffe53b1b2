package takeover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
)

// A place is the machine of one test: a home directory with the file of one client.
type place struct {
	desk   *Driver
	out    *bytes.Buffer
	client clientcfg.Client
	file   string
	config string
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	home := t.TempDir()
	p := &place{out: &bytes.Buffer{}, config: filepath.Join(home, "petrigate.yaml")}
	env := map[string]string{"SET_TOKEN": "value", "HOME": home}
	p.desk = &Driver{
		System: clientcfg.System{OS: "linux", Home: home, Env: func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		}},
		State: filepath.Join(home, "state"), Out: p.out, Yes: true,
		Running: func(context.Context) ([]clientcfg.Process, error) { return nil, nil },
	}
	p.client, _, _ = clientcfg.Find(name)
	p.file = p.client.Files(p.desk.System)[0]
	return p
}

// sample returns the client's file from the archives of package clientcfg.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", "clientcfg", "testdata", "clients", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return archive.Files[0].Data
}

func (p *place) write(t *testing.T, src []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.file, src, 0o640); err != nil {
		t.Fatal(err)
	}
}

func (p *place) read(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func (p *place) take(t *testing.T) *ImportPlan {
	t.Helper()
	plan, err := p.desk.Plan(Import{Client: p.client.Name, Config: p.config})
	if err == nil {
		err = p.desk.Write(plan)
	}
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return plan
}

func (p *place) connection(t *testing.T) Connection {
	t.Helper()
	c := Connection{Client: p.client.Name, Config: p.config, Launch: clientcfg.Launch{Command: "/usr/bin/petrigate", Args: []string{"serve", "--config", p.config}}}
	_, servers, err := config.Servers(config.Options{Path: p.config, Env: p.desk.System.Env})
	if err != nil {
		t.Fatal(err)
	}
	c.Servers = servers
	return c
}

func (p *place) connect(t *testing.T) {
	t.Helper()
	if err := p.desk.Connect(t.Context(), p.connection(t)); err != nil {
		t.Fatal(err)
	}
}

func (p *place) disconnect(t *testing.T) {
	t.Helper()
	if err := p.desk.Disconnect(t.Context(), p.client.Name, ""); err != nil {
		t.Fatal(err)
	}
}

func (p *place) listed(t *testing.T) ClientStatus {
	t.Helper()
	all := p.desk.List(t.Context())
	return all[slices.IndexFunc(all, func(l ClientStatus) bool { return l.Name == p.client.Name })]
}

// TestEveryClient checks that imported servers load, that connecting twice has no further effect,
// and that disconnect restores the file byte for byte, with either kind of line ending.
func TestEveryClient(t *testing.T) {
	for _, c := range clientcfg.All() {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(c.Name, func(t *testing.T) {
				p := newPlace(t, c.Name)
				before := bytes.ReplaceAll(sample(t, c.Name), []byte("\n"), []byte(end))
				p.write(t, before)
				taken := p.take(t)
				loaded, err := config.Load(config.Options{Path: p.config, Env: p.desk.System.Env})
				if err != nil || len(loaded.Servers) == 0 {
					t.Fatal(loaded, err)
				}
				if again := p.take(t); again.Changes() {
					t.Error("the second import changes something")
				}
				p.connect(t)
				connected := p.read(t)
				if strings.Contains(connected, `"`+loaded.Servers[0].Name+`":`) || !strings.Contains(connected, p.config) {
					t.Errorf("not connected:\n%s", connected)
				}
				if strings.Count(connected, "\r\n") > 0 != (end == "\r\n") {
					t.Errorf("line ends differ:\n%q", connected)
				}
				p.connect(t)
				if p.read(t) != connected || !strings.Contains(p.out.String(), "already") {
					t.Error("the second connect changes something")
				}
				if l := p.listed(t); l.Connected != "yes" || l.Problem != "" || !l.Exists {
					t.Errorf("%+v", l)
				}
				p.disconnect(t)
				if got := p.read(t); got != string(before) {
					t.Errorf("the file came back otherwise:\n%s", got)
				}
				p.clean(t, taken)
			})
		}
	}
}

// clean checks that nothing is left behind.
func (p *place) clean(t *testing.T, taken *ImportPlan) {
	t.Helper()
	if info, err := os.Stat(p.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Error("the mode has changed", err)
	}
	kept, _ := filepath.Glob(filepath.Join(p.desk.State, "*"))
	if len(kept) != 1 || !strings.Contains(kept[0], "taken-") {
		t.Errorf("left: %q", kept)
	}
	for _, file := range append(kept, p.config) {
		info, err := os.Stat(file)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(p.file + "*"); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	for _, s := range clientcfg.Secrets(taken.file.doc.Tree()) {
		if strings.Contains(p.out.String(), s.Value) {
			t.Errorf("the secret %q was shown", s)
		}
	}
}

// TestEditedBetween checks that a client's edits are preserved, even if the client rewrites the
// whole file in a different form.
func TestEditedBetween(t *testing.T) {
	p := newPlace(t, "claude-code")
	p.write(t, sample(t, "claude-code"))
	p.take(t)
	p.connect(t)
	edited := strings.Replace(p.read(t), `"numStartups": 41`, `"numStartups": 42`, 1)
	edited = strings.Replace(edited, `"mcpServers": {`, `"mcpServers": {"later":{"command":"l"},`, 1)
	p.write(t, []byte(edited))
	p.disconnect(t)
	want := strings.Replace(string(sample(t, "claude-code")), `"numStartups": 41`, `"numStartups": 42`, 1)
	want = strings.Replace(want, `"mcpServers": {`, `"mcpServers": {"later":{"command":"l"},`, 1)
	if got := p.read(t); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(p.desk.State, "connected-*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// TestNewServersBetween checks that connect also takes servers that were added later, and that
// disconnect undoes both steps.
func TestNewServersBetween(t *testing.T) {
	p := newPlace(t, "gemini")
	p.write(t, sample(t, "gemini"))
	p.take(t)
	p.connect(t)
	added := strings.Replace(p.read(t), `"petrigate"`, `"later": { "command": "l" }, "petrigate"`, 1)
	p.write(t, []byte(added))
	p.take(t)
	if !strings.Contains(p.out.String(), "note: the configuration reads SET_TOKEN: set it where you start Gemini CLI") {
		t.Errorf("the variable is not named:\n%s", p.out)
	}
	p.connect(t)
	if strings.Contains(p.read(t), "later") {
		t.Errorf("not connected:\n%s", p.read(t))
	}
	p.disconnect(t)
	for _, name := range []string{`"later"`, `"py"`, `"stream"`, `"events"`} {
		if !strings.Contains(p.read(t), name) {
			t.Errorf("%s did not come back:\n%s", name, p.read(t))
		}
	}
	if strings.Contains(p.read(t), p.config) {
		t.Errorf("not disconnected:\n%s", p.read(t))
	}
}

// TestOverwritten checks that connect reports if a client has overwritten its file, and that
// servers that are already present are not added twice.
func TestOverwritten(t *testing.T) {
	p := newPlace(t, "claude-desktop")
	before := sample(t, "claude-desktop")
	p.write(t, before)
	p.take(t)
	p.connect(t)
	p.write(t, before)
	if l := p.listed(t); l.Connected != "gone" || !strings.Contains(l.Problem, "the entry has disappeared: Claude Desktop has overwritten it") {
		t.Errorf("%+v", l)
	}
	p.disconnect(t)
	if p.read(t) != string(before) {
		t.Errorf("the file has changed:\n%s", p.read(t))
	}
}

// TestRunningClient checks that nothing is written to a file that a running client would overwrite,
// unless the user wants it.
func TestRunningClient(t *testing.T) {
	p := newPlace(t, "claude-desktop")
	p.write(t, sample(t, "claude-desktop"))
	p.take(t)
	p.desk.Running = func(context.Context) ([]clientcfg.Process, error) {
		return []clientcfg.Process{{"/opt/Claude/claude-desktop"}}, nil
	}
	err := p.desk.Connect(t.Context(), p.connection(t))
	if err == nil || !strings.HasPrefix(err.Error(), "Claude Desktop is running") || p.read(t) != string(sample(t, "claude-desktop")) {
		t.Error(err)
	}
	if l := p.listed(t); l.Running == nil || !*l.Running {
		t.Errorf("%+v", l)
	}
	p.desk.Force = true
	p.connect(t)
	p.desk.Force = false
	if err := p.desk.Disconnect(t.Context(), "claude-desktop", ""); err == nil {
		t.Error("disconnected")
	}
}

// TestNewFile checks that disconnect removes a file that connect has created, unless something was
// added to it.
func TestNewFile(t *testing.T) {
	for _, name := range []string{"cursor", "codex", "goose", "continue"} {
		p := newPlace(t, name)
		if err := os.WriteFile(p.config, []byte("version: 1\nmcpServers:\n  a: { command: x }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.connect(t)
		if info, err := os.Stat(p.file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Fatal(info, err)
		}
		p.disconnect(t)
		if _, err := os.Stat(p.file); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there: %v", name, err)
		}
	}
}

// TestSymlink checks that a symbolic link is preserved and its target is written.
func TestSymlink(t *testing.T) {
	p := newPlace(t, "codex")
	p.write(t, sample(t, "codex"))
	dotfiles := filepath.Join(t.TempDir(), "codex.toml")
	if err := os.Rename(p.file, dotfiles); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, p.file); err != nil {
		t.Skip(err)
	}
	p.take(t)
	p.connect(t)
	if info, err := os.Lstat(p.file); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if src, _ := os.ReadFile(dotfiles); !strings.Contains(string(src), "[mcp_servers.petrigate]") {
		t.Errorf("the file behind the link is\n%s", src)
	}
	p.disconnect(t)
	if src, _ := os.ReadFile(dotfiles); !bytes.Equal(src, sample(t, "codex")) {
		t.Errorf("the file behind the link is\n%s", src)
	}
}

// TestChangedMeanwhile checks that a file that changes while the person reads the difference is not
// written, and that no record of it is kept.
func TestChangedMeanwhile(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, sample(t, "cursor"))
	p.take(t)
	p.desk.Yes = false
	p.desk.Ask = func(string) (bool, error) {
		p.write(t, []byte(`{"mcpServers": {}}`))
		return true, nil
	}
	err := p.desk.Connect(t.Context(), p.connection(t))
	if err == nil || !strings.Contains(err.Error(), "has changed since it was shown") || p.read(t) != `{"mcpServers": {}}` {
		t.Error(err)
	}
	if l := p.listed(t); l.Connected != "no" {
		t.Errorf("%+v", l)
	}
}

// TestNo checks that nothing is written unless the answer is yes.
func TestNo(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, sample(t, "cursor"))
	p.take(t)
	p.desk.Yes = false
	if err := p.desk.Connect(t.Context(), p.connection(t)); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Error(err)
	}
	p.desk.Ask = func(string) (bool, error) { return false, nil }
	if err := p.desk.Connect(t.Context(), p.connection(t)); err == nil || p.read(t) != string(sample(t, "cursor")) {
		t.Error(err)
	}
}

// TestOtherOfTheName checks that a server is refused or renamed if its name belongs to a different
// server in the configuration.
func TestOtherOfTheName(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, sample(t, "cursor"))
	if err := os.WriteFile(p.config, []byte("version: 1\nmcpServers:\n  a:\n    command: other # mine\nmode: shadow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := p.take(t)
	if s := plan.Servers[0]; s.Result != "refused" || !strings.Contains(s.Reason, "--rename") {
		t.Errorf("%+v", s)
	}
	p.connect(t)
	if left := p.read(t); !strings.Contains(left, `"a":`) {
		t.Errorf("a server that petrigate does not have is gone:\n%s", left)
	}
	p.disconnect(t)
	plan, err := p.desk.Plan(Import{Client: "cursor", Config: p.config, Rename: true})
	if err != nil || plan.Servers[0].As != "a-2" {
		t.Fatal(plan, err)
	}
	if err := p.desk.Write(plan); err != nil {
		t.Fatal(err)
	}
	src, _ := os.ReadFile(p.config)
	p.connect(t)
	if left := p.read(t); strings.Contains(left, `"a":`) || !strings.Contains(left, `"here":`) {
		t.Errorf("the renamed server is still there:\n%s", left)
	}
	if !strings.Contains(string(src), "command: other # mine\n") || !strings.Contains(string(src), "  a-2:\n    command: \"node\"\n") || !strings.HasSuffix(string(src), "mode: shadow\n") {
		t.Errorf("%s", src)
	}
}

// TestMalformed checks that all commands refuse a file that cannot be parsed, report the position,
// and leave the file unchanged.
func TestMalformed(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, []byte("{\n  \"mcpServers\": {,}\n}\n"))
	if err := os.WriteFile(p.config, []byte("version: 1\nmcpServers:\n  a: { command: x }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, planned := p.desk.Plan(Import{Client: "cursor", Config: p.config})
	for _, err := range []error{planned, p.desk.Connect(t.Context(), p.connection(t)), p.desk.Disconnect(t.Context(), "cursor", "")} {
		if err == nil || !strings.Contains(err.Error(), p.file+":2:18: this is not JSON") {
			t.Error(err)
		}
	}
	if l := p.listed(t); !strings.Contains(l.Problem, "this is not JSON") {
		t.Errorf("%+v", l)
	}
}

// TestWiped checks that servers are restored if a client has removed them together with our entry,
// and that a file is restored if someone has removed it.
func TestWiped(t *testing.T) {
	for _, left := range []string{"", "{}", `{"theme": "dark"}`, `{"mcpServers": {}}`} {
		p := newPlace(t, "claude-desktop")
		before := sample(t, "claude-desktop")
		p.write(t, before)
		p.take(t)
		p.connect(t)
		p.write(t, []byte(left))
		if left == "" {
			if err := os.Remove(p.file); err != nil {
				t.Fatal(err)
			}
		}
		p.disconnect(t)
		got := p.read(t)
		for _, name := range []string{"filesystem", "notes", "off"} {
			if !strings.Contains(got, `"`+name+`": {`) {
				t.Errorf("%q: %s is not back:\n%s", left, name, got)
			}
		}
		if strings.Contains(left, "theme") && !strings.Contains(got, "theme") || strings.Contains(got, p.config) {
			t.Errorf("%q became\n%s", left, got)
		}
	}
}

// TestCannotRestore checks that a file that cannot be restored is left unchanged, and that the
// message names the original.
func TestCannotRestore(t *testing.T) {
	p := newPlace(t, "codex")
	p.write(t, sample(t, "codex"))
	p.take(t)
	p.connect(t)
	p.write(t, []byte("mcp_servers = { petrigate = { command = \"x\" } }\n"))
	err := p.desk.Disconnect(t.Context(), "codex", "")
	if err == nil || !strings.Contains(err.Error(), "is written in braces") || !strings.Contains(err.Error(), p.file+".before-petrigate") {
		t.Error(err)
	}
}

// TestSecretsBeside checks that secrets in the configuration next to a new server are not shown.
func TestSecretsBeside(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, sample(t, "cursor"))
	if err := os.WriteFile(p.config, []byte("version: 1\nmcpServers:\n  z:\n    command: other\n    env: { API_KEY: very-secret }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.take(t)
	if strings.Contains(p.out.String(), "very-secret") || !strings.Contains(p.out.String(), "API_KEY") {
		t.Errorf("%s", p.out)
	}
}

// TestAskAt checks that only y and yes mean yes, that the end of the input is an error, and that an
// interrupt ends the question.
func TestAskAt(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Y \r\n": true, "yes\n": true, "n\n": false, "\n": false, "yy\n": false} {
		var out bytes.Buffer
		if yes, err := AskAt(t.Context(), strings.NewReader(answer), &out)("Write it?"); yes != want || err != nil || out.String() != "Write it? [y/N] " {
			t.Errorf("%q: %v %v %q", answer, yes, err, out.String())
		}
	}
	if yes, err := AskAt(t.Context(), strings.NewReader("y"), &bytes.Buffer{})("Write it?"); yes || err == nil {
		t.Error("the end is an answer")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	silent, w := io.Pipe()
	defer w.Close()
	if yes, err := AskAt(ctx, silent, &bytes.Buffer{})("Write it?"); yes || !errors.Is(err, context.Canceled) {
		t.Error(yes, err)
	}
}

func TestLasting(t *testing.T) {
	if checkNotTemporary("/usr/bin/petrigate") != nil || checkNotTemporary("/tmp/go-build1/b001/exe/petrigate") == nil {
		t.Error("what lasts is taken for what does not, or the other way round")
	}
}
