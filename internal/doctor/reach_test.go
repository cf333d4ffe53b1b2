package doctor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/takeover"
)

// TestUnansweredHooksAreReported checks that hooks without an answer are reported with a fix.
func TestUnansweredHooksAreReported(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := "http://" + l.Addr().String() + "/hook/claude-code"
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unheard := "http://" + gone.Addr().String() + "/hook/claude-code"
	_ = gone.Close()
	t.Cleanup(func() { _ = l.Close() })
	dir := t.TempDir()
	program, file := filepath.Join(dir, "petrigate"), filepath.Join(dir, "petrigate.yaml")
	for _, name := range []string{program, file} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := []clientcfg.Hook{{Event: "PreToolUse", Before: true}}
	runs := []operator.Status{{Pid: 7, Config: file}}
	for _, c := range []struct {
		name, want string
		hook       takeover.HookInspection
		proxies    []operator.Status
		connected  bool
	}{
		{"the program is gone", "failed H runs " + program + "2", takeover.HookInspection{There: command, Programs: []string{program + "2"}}, runs, false},
		{"a proxy runs", "", takeover.HookInspection{There: command, Programs: []string{program}}, runs, false},
		{"no proxy runs", "warning no proxy runs with this configuration", takeover.HookInspection{There: command, Programs: []string{program}}, nil, false},
		{"the agent starts one", "", takeover.HookInspection{There: command, Programs: []string{program}}, nil, true},
		{"heard", "", takeover.HookInspection{There: []clientcfg.Hook{{URL: heard}}}, nil, false},
		{"unheard", "warning nothing listens at 127.0.0.1:", takeover.HookInspection{There: []clientcfg.Hook{{URL: unheard}}}, nil, false},
		{"elsewhere", "", takeover.HookInspection{There: []clientcfg.Hook{{URL: "https://gate.example/hook/claude-code"}}}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &Doctor{Config: file, Proxies: c.proxies}
			c.hook.Title, c.hook.Client, c.hook.Kept = "H", "h", true
			if c.connected {
				var in takeover.Inspection
				in.Name, in.Title, in.Connected = "h", "H", "yes"
				d.clients = []takeover.Inspection{in}
			}
			got := ""
			for _, f := range d.unansweredHooks(t.Context(), c.hook) {
				got += f.Status + " " + f.Says
			}
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%q", got)
			}
		})
	}
	for url, want := range map[string]int{heard: 0, unheard: 1, "": 0} {
		if found := heardOf(t, url); len(found) != want {
			t.Errorf("%s: %+v", url, found)
		}
	}
}

func heardOf(t *testing.T, url string) []Finding {
	return unansweredURL(t.Context(), takeover.Inspection{Client: clientcfg.Client{Title: "H"}, Entries: []takeover.Entry{{URL: url, Own: true}}})
}

// TestFixFitsProblem checks that each problem gets a suitable fix.
func TestFixFitsProblem(t *testing.T) {
	for why, want := range map[string]string{
		"s.add is quarantined: its definition differs": "petrigate tools accept",
		`s: the tool name "bad name" is outside [A-Z]`: "rename the tool at the server",
		"two servers give the name x":                  "another prefix",
	} {
		if got := leftOutFix(why); !strings.Contains(got, want) {
			t.Errorf("%s: %s", why, got)
		}
	}
	d := &Doctor{loaded: &config.Config{Servers: []config.Server{{Name: "far", URL: "https://x.example"}, {Name: "near", Command: "x"}}}}
	for name, want := range map[string]string{"far": "check its url", "near": "run its command"} {
		if f := upstream(operator.UpstreamStatus{Name: name, State: "down"}, time.Time{}, d.remote(name)); !strings.HasPrefix(f.Fix, want) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
