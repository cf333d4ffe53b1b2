package takeover

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/service"
)

// serving returns a service for the configuration of a place. In these tests, no service manager
// answers.
func serving(t *testing.T, p *place) *HookService {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	return &HookService{
		Manager: service.ManagerOf(service.System{OS: "linux", Home: p.desk.System.Home, Env: p.desk.System.Env}),
		Service: service.Service{Program: "/opt/petrigate", Args: []string{"serve", "--config", p.config}, Config: p.config},
		Listen:  "127.0.0.1:0",
	}
}

// TestServiceOfOthers checks that a service file is not changed if petrigate has not written it or
// if it runs a different configuration. With --service, connect must then fail before it writes
// anything; without it, connect prints a note and writes the hooks.
func TestServiceOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"[Service]\nExecStart=/opt/mine\n": "petrigate.service exists, and petrigate did not write it",
		"# petrigate wrote this file for the configuration \"/other.yaml\". petrigate disconnect removes it.\n": "the service runs a different configuration, /other.yaml. " +
			"To remove it, run petrigate disconnect AGENT --hooks for each agent that uses it",
	} {
		p := newPlace(t, "claude-code")
		s := serving(t, p)
		if err := os.MkdirAll(filepath.Dir(s.Manager.File), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Manager.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, _ := clientcfg.HooksOf("claude-code")
		file := hookFile(t, p, h)
		c := HookConnection{Client: "claude-code", Launch: clientcfg.Launch{Command: "/opt/petrigate", Args: []string{"--config", p.config}}, Run: s}
		s.Make = true
		err := p.desk.ConnectHooks(t.Context(), c)
		if err == nil || !strings.HasPrefix(err.Error(), "no service was created, and nothing was written: ") || !strings.HasSuffix(err.Error(), want) {
			t.Error(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("the hooks were written")
		}
		s.Make, p.desk.Yes, p.desk.Ask = false, false, func(question string) (bool, error) {
			if !strings.HasPrefix(question, "Write ") {
				t.Errorf("asked %q", question)
			}
			return true, nil
		}
		if err := p.desk.ConnectHooks(t.Context(), c); err != nil || !strings.Contains(p.out.String(), "note: no service was created: ") {
			t.Errorf("%v\n%s", err, p.out)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
		if p.desk.UsesService(s.Manager, "claude-code") {
			t.Error("the service may go with the hooks of another configuration")
		}
		if err := p.desk.DisconnectHooks("claude-code", ""); err != nil {
			t.Error(err)
		}
		if src, err := os.ReadFile(s.Manager.File); err != nil || string(src) != text {
			t.Errorf("%v\n%s", err, src)
		}
	}
}

// TestRetire checks that the service remains while any agent or client uses it, or if the person
// wants to keep it.
func TestRetire(t *testing.T) {
	p := newPlace(t, "codex")
	s := serving(t, p)
	text, err := s.Manager.Text(s.Service)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.Manager.File), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Manager.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h, _ := clientcfg.HooksOf("codex")
	hookFile(t, p, h)
	connect := func(config string) {
		t.Helper()
		if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "codex", Launch: clientcfg.Launch{Command: "/opt/petrigate", Args: []string{"--config", config}}}); err != nil {
			t.Fatal(err)
		}
	}
	retire := func(want string) {
		t.Helper()
		p.out.Reset()
		if err := p.desk.RemoveUnusedService(t.Context(), s.Manager); err != nil || !strings.Contains(p.out.String(), want) {
			t.Errorf("%v\n%s", err, p.out)
		}
	}
	for client, want := range map[string]bool{"codex": true, "claude-code": true, "zed": false} {
		if p.desk.UsesService(s.Manager, client) != want {
			t.Error(client)
		}
	}
	connect(p.config)
	if !p.desk.UsesService(s.Manager, "codex") || p.desk.UsesService(nil, "codex") {
		t.Error("the hooks of codex do not use the service")
	}
	retire("The service petrigate was kept, because it is still used by Codex.")
	connect(p.config + ".other")
	if p.desk.UsesService(s.Manager, "codex") {
		t.Error("the hooks of codex use another configuration")
	}
	p.desk.Yes = false
	retire("No agent uses the service petrigate any more; --yes removes it: ")
	p.desk.Ask = func(string) (bool, error) { return false, nil }
	retire("The service petrigate was kept: ")
	p.desk.Yes = true
	if err := p.desk.RemoveUnusedService(t.Context(), s.Manager); err == nil || !strings.HasSuffix(err.Error(), "petrigate.service: no service manager runs for this user, for example in a container or after su") {
		t.Error(err)
	}
	if _, err := os.Stat(s.Manager.File); err != nil {
		t.Error(err)
	}
}

// TestServiceFits checks that conflicts and missing variables are reported before the service is
// started.
func TestServiceFits(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, []byte(`{"mcpServers":{"petrigate":{"command":"petrigate","args":["serve","--config","`+p.config+`"]}}}`))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	here := service.Installation{Exists: true}
	runs := []Proxy{{PID: 7, Config: p.config, URL: "http://127.0.0.1:7777/mcp"}}
	for _, c := range []struct {
		edit      func(*HookService)
		there     service.Installation
		listening []Proxy
		want      string
	}{
		{nil, service.Installation{}, nil, ""},
		{nil, service.Installation{}, runs, "a proxy with this configuration is already running: process 7, http://127.0.0.1:7777/mcp. Stop it, and run the command again"},
		{nil, here, runs, ""},
		{func(s *HookService) { s.Memory = true }, here, nil, "Cursor starts a proxy with this configuration too, and each would have its own state. Write state: { driver: sqlite } in the configuration"},
		{func(s *HookService) { s.Listen = l.Addr().String() }, here, nil, "it could not listen at " + l.Addr().String() + ": address already in use. Set another address with listen: { http: ... } in the configuration"},
	} {
		s := serving(t, p)
		if c.edit != nil {
			c.edit(s)
		}
		said := ""
		if err := s.checkConflicts(p.desk, c.there, c.listening); err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
	s := serving(t, p)
	s.Reads = []string{"A", "B", "C"}
	if err := s.checkVariables([]string{"B", "X"}); err == nil || err.Error() != "it would lack A and C, which the configuration reads. Write a line NAME=VALUE for each to "+s.Manager.Variables+", readable only by you, and run the command again" {
		t.Error(err)
	}
	if err := s.checkVariables([]string{"C", "B", "A"}); err != nil {
		t.Error(err)
	}
	s.Manager = service.ManagerOf(service.System{OS: "darwin", Home: "/Users/ann", Env: p.desk.System.Env})
	if err := s.checkVariables([]string{"B", "C"}); err == nil || err.Error() != "it would lack A, which the configuration reads. Write ${file:PATH} in the configuration instead of ${NAME}, with the value in a file readable only by you, and run the command again" {
		t.Error(err)
	}
}

// TestServiceUsers checks that a client that uses a URL on this machine counts as a user of the
// service.
func TestServiceUsers(t *testing.T) {
	for at, want := range map[string]bool{
		"http://127.0.0.1:7777/mcp": true, "https://localhost:1/mcp": true, "http://[::1]:1/mcp": true, "https://gate.example/mcp": false, "http://10.0.0.1:7777/mcp": false,
	} {
		p := newPlace(t, "cursor")
		p.write(t, []byte(`{"mcpServers":{"petrigate":{"url":"`+at+`"}}}`))
		if got := p.desk.usersOf(p.config); (len(got) == 1) != want {
			t.Errorf("%s: %q", at, got)
		}
	}
}
