package clientcfg

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

var update = flag.Bool("update", false, "rewrite the archives of testdata")

func system(os string) System {
	env := map[string]string{"SET_TOKEN": "value"}
	if os == "windows" {
		env["APPDATA"], env["LOCALAPPDATA"] = `C:\Users\ann\AppData\Roaming`, `C:\Users\ann\AppData\Local`
		return System{OS: os, Home: `C:\Users\ann`, Env: lookup(env)}
	}
	return System{OS: os, Home: "/home/ann", Env: lookup(env)}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// TestRead translates the servers in each archive in testdata/clients, which contains the file of
// one client.
func TestRead(t *testing.T) {
	for _, c := range All() {
		t.Run(c.Name, func(t *testing.T) {
			file := filepath.Join("testdata", "clients", c.Name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(t, c, archive.Files[0].Data)
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "servers", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != 2 {
				t.Fatal("the archive does not say what is read; see -update")
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func describe(t *testing.T, c Client, src []byte) string {
	t.Helper()
	d, err := splice.Parse(c.Name, src, c.Format)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	servers := map[string]string{}
	for _, at := range c.Places(d) {
		entries, err := d.Entries(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			s := c.Read(system("linux"), e.Name, e.Value)
			if key := c.Closed(d, at, e.Name); key != "" {
				s.Disable(key)
			}
			servers[e.Name] = e.Name
			fmt.Fprintf(&b, "%s at %d:%d of %s\n", s.Name, e.Line, e.Column, at)
			switch {
			case s.Native:
				b.WriteString("is a part of the client\n")
			case s.Refused != "":
				b.WriteString("refused: " + s.Refused + "\n")
			default:
				b.WriteString(s.Fields.YAML("\n"))
			}
			var hidden []string
			for _, secret := range Secrets(e.Value) {
				hidden = append(hidden, secret.Value)
			}
			if len(s.Dropped)+len(s.Literal)+len(hidden) > 0 {
				fmt.Fprintf(&b, "dropped %q, literal %q, hidden %q\n", s.Dropped, s.Literal, hidden)
			}
			if len(s.Left)+len(s.Notes)+len(s.Closed) > 0 {
				fmt.Fprintf(&b, "left %q, notes %q, switched off by %q\n", s.Left, s.Notes, s.Closed)
			}
		}
	}
	for _, g := range c.Safeguards(d, servers) {
		fmt.Fprintf(&b, "safeguard %s (%s): %q\n", g.Where, g.Value, g.Rule)
	}
	return b.String()
}

// TestEntries checks the entries that petrigate connect would write for each client, with a command
// and with a URL.
func TestEntries(t *testing.T) {
	var b strings.Builder
	for _, c := range All() {
		for _, l := range []Launch{{Command: "/bin/petrigate", Args: []string{"serve"}}, {URL: "http://127.0.0.1:7777/mcp", Headers: splice.Object{{Key: "Authorization", Value: "Bearer x"}}}} {
			o, ok := c.Entry(l)
			fmt.Fprintf(&b, "%s %v\n%s", c.Name, ok, o.YAML("\n"))
		}
	}
	golden(t, "testdata/entries.txt", b.String())
}

// TestFiles checks the paths of the clients' files on each operating system.
func TestFiles(t *testing.T) {
	var b strings.Builder
	for _, os := range []string{"linux", "darwin", "windows"} {
		for _, c := range All() {
			fmt.Fprintf(&b, "%s %s: %s\n", os, c.Name, strings.Join(c.Files(system(os)), ", "))
		}
	}
	golden(t, "testdata/files.txt", b.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestFilesByVariables checks that environment variables that clients read change the paths of
// their files.
func TestFilesByVariables(t *testing.T) {
	s := System{OS: "linux", Home: "/home/ann", Env: lookup(map[string]string{"XDG_CONFIG_HOME": "/x", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/d"})}
	for name, want := range map[string]string{
		"zed": "/x/zed/settings.json", "claude-code": "/c/.claude.json", "codex": "/d/config.toml", "vscode": "/x/Code/User/mcp.json", "goose": "/x/goose/config.yaml",
	} {
		c, _, _ := Find(name)
		if got := c.Files(s)[0]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	for word, want := range map[string]string{"Claude-Desktop": "claude-desktop", "code": "vscode", "insiders": "vscode-insiders", "claude": "claude-code"} {
		if c, _, ok := Find(word); !ok || c.Name != want {
			t.Errorf("%s is %q", word, c.Name)
		}
	}
	if _, near, ok := Find("curser"); ok || near != "cursor" {
		t.Errorf("near curser is %q", near)
	}
}

// TestIsRunning checks that clients are recognized in command lines as operating systems show them.
func TestIsRunning(t *testing.T) {
	for _, c := range []struct {
		client  string
		process Process
		want    bool
	}{
		{"claude-desktop", Process{"/opt/Claude/claude-desktop", "--type=renderer"}, true},
		{"claude-desktop", psProcesses([]byte("/Applications/Claude.app/Contents/MacOS/Claude --x\n"))[0], true},
		{"claude-desktop", taskProcesses([]byte("\"claude.exe\",\"77\",\"Console\",\"1\",\"9 K\"\r\n"))[0], true},
		{"claude-code", Process{"claude", "--resume"}, true},
		{"claude-code", Process{"node", "/usr/lib/node_modules/some/claude-code/cli.js"}, true},
		{"claude-code", Process{"vim", "claude.md"}, false},
		{"claude-desktop", Process{"claude"}, false},
		{"cursor", Process{`C:\Users\ann\AppData\Local\Programs\cursor\Cursor.exe`}, true},
	} {
		client, _, _ := Find(c.client)
		if got := client.IsRunning([]Process{{"/sbin/init"}, c.process}); got != c.want {
			t.Errorf("%s, %q: %v", c.client, c.process, got)
		}
	}
}

// TestProcProcesses reads a directory with the structure of /proc.
func TestProcProcesses(t *testing.T) {
	dir := t.TempDir()
	for pid, line := range map[string]string{"12": "claude\x00--resume\x00", "13": "", "self": "x"} {
		if err := os.MkdirAll(filepath.Join(dir, pid), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, pid, "cmdline"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]Process{{"claude", "--resume"}}, procProcesses(dir)); diff != "" {
		t.Error(diff)
	}
	if all, err := Running(t.Context()); err != nil || len(all) == 0 {
		t.Error(len(all), err)
	}
}

// FuzzRead checks that any entry is either translated, refused or recognized as a built-in part of
// the client.
func FuzzRead(f *testing.F) {
	for _, c := range All() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "clients", c.Name+".txtar"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.Name, archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		c, _, ok := Find(name)
		if !ok {
			return
		}
		d, err := splice.Parse("file", src, c.Format)
		if err != nil {
			return
		}
		for _, at := range c.Places(d) {
			entries, _ := d.Entries(at) // an error is reported elsewhere
			for _, e := range entries {
				s := c.Read(system("linux"), e.Name, e.Value)
				if !s.Native && (s.Refused == "") != (s.Fields != nil) {
					t.Fatalf("%q: refused %q and has %v", e.Name, s.Refused, s.Fields)
				}
			}
		}
	})
}
