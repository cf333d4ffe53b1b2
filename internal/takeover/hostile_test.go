package takeover

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

const two = `{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}`

// served returns a place whose configuration has a server named a.
func served(t *testing.T, src string) *place {
	t.Helper()
	p := newPlace(t, "cursor")
	p.write(t, []byte(src))
	p.configure(t, "version: 1\nmcpServers:\n  a: { command: x }\n")
	return p
}

func (p *place) configure(t *testing.T, src string) {
	t.Helper()
	if err := os.WriteFile(p.config, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTogether checks that only one of several concurrent connects writes the file, and that its
// record survives.
func TestTogether(t *testing.T) {
	for range 10 {
		p := served(t, two)
		c := p.connection(t)
		var all sync.WaitGroup
		for range 4 {
			desk := *p.desk
			desk.Out = io.Discard
			all.Go(func() { _ = desk.Connect(t.Context(), c) })
		}
		all.Wait()
		if got := p.read(t); !strings.Contains(got, p.config) {
			t.Fatalf("not connected: %s", got)
		}
		p.disconnect(t)
		if got := p.read(t); got != two {
			t.Fatalf("not restored: %s", got)
		}
	}
}

// TestLostNote checks that the backup is kept and named if the record is lost.
func TestLostNote(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	if err := os.RemoveAll(p.desk.State); err != nil {
		t.Fatal(err)
	}
	backup := p.file + ".before-petrigate"
	err := p.desk.Disconnect(t.Context(), "cursor", "")
	if err == nil || !strings.Contains(err.Error(), backup) {
		t.Errorf("the backup is not named: %v", err)
	}
	c := p.connection(t)
	c.Launch.Args = append(c.Launch.Args, "--quiet")
	if err := p.desk.Connect(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.out.Reset()
	p.disconnect(t)
	if !strings.Contains(p.out.String(), "still runs petrigate") || !strings.Contains(p.out.String(), backup) {
		t.Errorf("disconnect says\n%s", p.out)
	}
	if src, err := os.ReadFile(backup); err != nil || string(src) != two {
		t.Errorf("the backup is %q, %v", src, err)
	}
}

// TestBackup checks that a backup is private, and written completely or not at all.
func TestBackup(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	info, err := os.Stat(p.file + ".before-petrigate")
	if err != nil || !privateMode(info) {
		t.Error(info.Mode(), err)
	}
	p.disconnect(t)
	if _, err := os.Stat(p.file + ".before-petrigate"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func privateMode(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm() == 0o600
}

// TestBrokenNote checks that if a record cannot be read, the error names the file with the original
// content.
func TestBrokenNote(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	f, err := p.desk.open(p.client, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.desk.records().path(f), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = p.desk.Disconnect(t.Context(), "cursor", "")
	if err == nil || !strings.Contains(err.Error(), p.file+".before-petrigate") {
		t.Errorf("the backup is not named: %v", err)
	}
}

// TestMasked checks that secrets are masked in every notation.
func TestMasked(t *testing.T) {
	secrets := []clientcfg.Secret{{Value: "abcd"}, {Value: "abcdefgh=="}, {Value: "-----BEGIN-----\nxyz0\n"}, {Value: `say "x"`}}
	const shown = `
abcdefgh==
abcdefgh\u003d\u003D
"-----BEGIN-----\nxyz0\n"
  -----BEGIN-----
    xyz0
say \"x\"
efgh
`
	const want = `
****
****
"****"
  ****
    ****
****
efgh
`
	if got := masked(shown, secrets); got != want {
		t.Errorf("shown as\n%s", got)
	}
}

// TestSecretsAround checks that secrets in arguments, in addresses and next to the servers are not
// shown.
func TestSecretsAround(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, []byte(`{
  "beside": {"apiKey": "secret-1"},
  "mcpServers": {
    "a": {"command": "x", "args": ["--token", "secret-2", "KEY=secret-3", "pg://u:secret-4@h/d"], "odd": {"password": "secret-5"}},
    "b": {"url": "https://u:secret-6@h/mcp?api_key=secret-7", "headers": {"X": "secret-\u0038"}}
  }
}
`))
	p.take(t)
	p.connect(t)
	p.disconnect(t)
	if shown := p.out.String(); strings.Contains(shown, "secret-") || !strings.Contains(shown, "--token") {
		t.Errorf("shown:\n%s", shown)
	}
}

// TestOurName checks that another server named petrigate is taken like all others and never lost
// silently.
func TestOurName(t *testing.T) {
	const src = `{"mcpServers":{"petrigate":{"command":"node","args":["theirs.js"]}}}`
	p := newPlace(t, "cursor")
	p.write(t, []byte(src))
	p.configure(t, "version: 1\nmcpServers:\n  a: { command: x }\n")
	err := p.desk.Connect(t.Context(), p.connection(t))
	if err == nil || !strings.Contains(fmt.Sprintf("%+v", err), `mcp.json:1:16: another server is already named petrigate`) || p.read(t) != src {
		t.Errorf("%+v", err)
	}
	if taken := p.take(t); len(taken.Servers) != 1 || taken.Servers[0].Result != "taken" {
		t.Errorf("%+v", taken.Servers)
	}
	p.connect(t)
	if got := p.read(t); strings.Contains(got, "theirs.js") || !strings.Contains(got, p.config) {
		t.Errorf("not connected: %s", got)
	}
	p.disconnect(t)
	if got := p.read(t); got != src {
		t.Errorf("not restored: %s", got)
	}
}

// TestRunsUs checks that petrigate is recognized under any name and behind any wrapper.
func TestRunsUs(t *testing.T) {
	for _, c := range []struct {
		name, command, url, args string
		want                     bool
	}{
		{"petrigate", "/opt/petrigate", "", "serve --config x", true},
		{"gate", `C:\bin\Petrigate.exe`, "", "serve", true},
		{"petrigate", "docker", "", "run -i petrigate serve", true},
		{"petrigate", "petrigate", "", "", true},
		{"petrigate", "", "http://localhost:1/mcp", "", true},
		{"gate", "", "http://localhost:1/mcp", "", false},
		{"gate", "petrigate", "", "wrap -- serve", false},
		{"files", "files", "", "serve", false},
		{"petrigate", "node", "", "x.js", false},
		{"petrigate", "", "", "", false},
	} {
		s := clientcfg.Server{Name: c.name, Fields: splice.Object{{Key: "command", Value: c.command}, {Key: "url", Value: c.url}, {Key: "args", Value: strings.Fields(c.args)}}}
		if got := runsUs(s); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestBroken checks that if a connected file can no longer be parsed, disconnect names the original
// content.
func TestBroken(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	p.write(t, []byte(`{"mcpServers":`))
	p.out.Reset()
	err := p.desk.Disconnect(t.Context(), "cursor", "")
	if err == nil || !strings.Contains(p.out.String(), "is in "+p.file+".before-petrigate\n") || p.read(t) != `{"mcpServers":` {
		t.Errorf("%v\n%s", err, p.out)
	}
}

// TestExposed checks that import warns if others can read the file that receives secrets.
func TestExposed(t *testing.T) {
	for mode, want := range map[fs.FileMode]bool{0o644: true, 0o600: false} {
		p := newPlace(t, "cursor")
		p.write(t, []byte(`{"mcpServers":{"a":{"command":"x","env":{"TOKEN":"secret-1"}},"":{"command":"z","args":["${config:x}"]}}}`))
		p.configure(t, "version: 1\nmcpServers:\n  z: { command: z }\n")
		if err := os.Chmod(p.config, mode); err != nil {
			t.Fatal(err)
		}
		p.take(t)
		if said := strings.Contains(p.out.String(), "note: other users can read "+p.config); said != want {
			t.Errorf("%v:\n%s", mode, p.out)
		}
		p.connect(t)
		if !strings.Contains(p.out.String(), `still reaches "" directly`) {
			t.Errorf("%s", p.out)
		}
	}
}
