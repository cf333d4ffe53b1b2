package doctor

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// TestClock: a server whose clock is off is a warning, also where it answers with an error, and it
// gets no secret.
func TestClock(t *testing.T) {
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

// TestListen: a port in use is a failure, unless this configuration has it.
func TestListen(t *testing.T) {
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
		{config.Listen{HTTP: "127.0.0.1:1234567"}, "", "failed nobody can listen"},
		{config.Listen{HTTP: "0.0.0.0:0"}, "", "warning cross the network"},
		{config.Listen{HTTP: "0.0.0.0:0", Auth: "none"}, "", "failed without a token"},
	} {
		d := &Doctor{Config: ours, loaded: &config.Config{Listen: c.listen}}
		if c.by != "" {
			d.Proxies = []proxy.Status{{Pid: 7, Config: c.by, Listen: "http://" + address + "/mcp"}}
		}
		found := d.listen(t.Context())
		last := found[len(found)-1]
		status, says, _ := strings.Cut(c.want, " ")
		if last.Status != status || !strings.Contains(last.Says, says) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}

// TestPrint: what servers and files say is escaped.
func TestPrint(t *testing.T) {
	r := report([]Finding{failed("fix\x1b[2J", "a\x1b[31m\nb"), ok("c")})
	var b strings.Builder
	if err := r.Print(&b, text.Ink(false)); err != nil || strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "2 checks: 1 failed, 0 warnings") {
		t.Errorf("%q %v", b.String(), err)
	}
	if r.OK || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
}

// TestVersions compares numbers, and not texts.
func TestVersions(t *testing.T) {
	for v, want := range map[string]bool{"2.1.295": true, "2.1.294": false, "2.1.1000": true, "3.0.0": true, "2.0.999": false} {
		if atLeast(v, firstClosed) != want {
			t.Errorf("%s: %v", v, !want)
		}
	}
}

// TestChmodOther: the mode of a file that has come to the place of another stays.
func TestChmodOther(t *testing.T) {
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
	if err := chmod(file, was, 0o600)(t.Context()); err == nil || !strings.Contains(err.Error(), "is another file than before") {
		t.Error(err)
	}
}
