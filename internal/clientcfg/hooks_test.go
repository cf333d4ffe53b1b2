package clientcfg

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// TestOurs checks that a hook is recognized as ours by its program or its configuration, for one
// agent only.
func TestOurs(t *testing.T) {
	h, _ := HooksOf("claude-code")
	for hook, want := range map[string]bool{
		`{"command": "petrigate hook claude-code"}`:                          true,
		`{"command": "'/opt/My Apps/petrigate-2' hook claude-code"}`:         true,
		`{"command": "C:\\bin\\Petrigate.exe hook claude-code"}`:             true,
		`{"command": "/opt/gate hook claude-code --config /etc/p.yaml"}`:     true,
		`{"command": "/opt/gate hook claude-code"}`:                          false,
		`{"command": "petrigate hook codex --config x"}`:                     false,
		`{"command": "lefthook hook run --config x"}`:                        false,
		`{"command": "claude-code"}`:                                         false,
		`{"command": "petrigate serve"}`:                                     false,
		`{"url": "http://localhost:1/hook/claude-code", "command": "x"}`:     true,
		`{"url": "http://localhost:1/hook/claude-code-2", "command": "x"}`:   false,
		`{"url": "http://localhost:1/hook/codex", "type": "http"}`:           false,
		`"petrigate hook claude-code"`:                                       false,
		`{"hooks": [{"command": "petrigate hook claude-code"}], "x": "own"}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(hook), &v); err != nil {
			t.Fatal(err)
		}
		if got := h.Ours(v); got != want {
			t.Errorf("%s: %v", hook, got)
		}
	}
}

// TestItems checks that a call is refused if its pre-call hook fails, for agents that support this,
// and that the entries for other agents do not claim it.
func TestItems(t *testing.T) {
	for _, h := range AllHooks() {
		var text strings.Builder
		for _, item := range h.Items(System{OS: "linux"}, Launch{Command: "petrigate"}) {
			fmt.Fprintf(&text, "%s %s\n", item.List, item.Value.YAML("\n"))
		}
		closing := strings.Count(text.String(), "onFailure") + strings.Count(text.String(), "failClosed")
		before, _, _ := strings.Cut(text.String(), h.Config.Configured()[1].Name+" ")
		if want := map[bool]int{true: 1}[h.ClosesAll()]; closing != want || want == 1 && !strings.Contains(before, h.Config.FailClosed.Key) {
			t.Errorf("%s: %d hooks close\n%s", h.Agent, closing, text.String())
		}
	}
}

// TestInstalled checks that installed hooks are found with their event, and whether they fail
// closed.
func TestInstalled(t *testing.T) {
	h, _ := HooksOf("claude-code")
	d, err := splice.Parse("x", []byte(`{"hooks": {
		"PreToolUse": [{"hooks": [{"command": "other"}, {"command": "petrigate hook claude-code", "onFailure": "block"}]}],
		"PostToolUse": [{"hooks": [{"command": "petrigate hook claude-code", "onFailure": "allow"}]}, {"command": "petrigate hook claude-code"}],
		"Unknown": [{"command": "petrigate hook claude-code"}]
	}}`), splice.JSON)
	if err != nil {
		t.Fatal(err)
	}
	const command = "petrigate hook claude-code"
	want := []Hook{{Event: "PreToolUse", Before: true, Closed: true, command: command}, {Event: "PostToolUse", command: command}, {Event: "PostToolUse", command: command}}
	there := h.Installed(d)
	if !slices.Equal(there, want) {
		t.Errorf("%+v", there)
	}
	if missing := h.Missing(there); !slices.Equal(missing, []string{"PostToolUseFailure", "SessionEnd"}) {
		t.Errorf("%q", missing)
	}
}

// TestAsks checks for each agent which configuration its hooks ask.
func TestAsks(t *testing.T) {
	for _, config := range []string{"/home/ann/petrigate.yaml", "/home/ann/my files/it's $x & \"y\".yaml"} {
		for _, h := range AllHooks() {
			d, err := splice.Parse("x", nil, splice.JSON)
			if err != nil {
				t.Fatal(err)
			}
			for args, want := range map[string]bool{config: true, config + "2": false, "/home": false, "": true} {
				l := Launch{Command: "/opt/petrigate"}
				if args != "" {
					l.Args = []string{"--config", args}
				}
				src, err := d.Append([]string{"hooks"}, h.Items(System{OS: "linux"}, l))
				if err != nil {
					t.Fatal(err)
				}
				with, err := splice.Parse("x", src, splice.JSON)
				if err != nil {
					t.Fatal(err)
				}
				there := h.Installed(with)
				for _, hook := range there {
					if got := hook.Asks(System{OS: "linux"}, config); got != want {
						t.Errorf("%s: a hook for %q asks %q: %v\n%s", h.Agent, args, config, got, src)
					}
				}
				if len(there) == 0 {
					t.Errorf("no hooks in %s", src)
				}
			}
		}
	}
	if !(Hook{URL: "http://127.0.0.1:7777/hook/claude-code"}).Asks(System{}, "/x") {
		t.Error("a hook at a URL asks nothing")
	}
}

// TestOddValues checks that an invalid timeout is omitted and named, and that values known only to
// an editor window are refused.
func TestOddValues(t *testing.T) {
	c, _, _ := Find("cursor")
	for src, want := range map[string]string{
		`{"command": "x", "timeout": 1500}`:                        `timeout: "1.5s"`,
		`{"command": "x", "timeout": 0}`:                           "dropped timeout",
		`{"command": "x", "timeout": -1}`:                          "dropped timeout",
		`{"command": "x", "timeout": 1e10}`:                        "dropped timeout",
		`{"command": "x", "timeout": "5"}`:                         "dropped timeout",
		`{"command": "${config:x}"}`:                               "refused only an editor window knows ${config:x}; write its value, as an absolute path",
		`{"command": "${command:x}"}`:                              "refused only an editor window knows ${command:x}; write its value, as an absolute path",
		`{"command": "x", "url": "http://x"}`:                      "refused it has both a command and a URL",
		`{"command": ["x", 1, true], "args": ["y"]}`:               `args: ["1", "true", "y"]`,
		`{"command": "x", "args": "y"}`:                            `refused "args" must be a list of strings`,
		`{"command": "x", "env": ["y"]}`:                           `refused "env" must be a mapping`,
		`{"command": "x", "disabled": "yes"}`:                      `refused "disabled" must be true or false`,
		`{"url": "http://x/sse/"}`:                                 `type: "sse"`,
		`{"url": "http://x/sse", "type": "http"}`:                  `url: "http://x/sse"`,
		`{"command": "x", "enabled": false, "autoApprove": ["a"]}`: "disabled: true",
	} {
		d, err := splice.Parse("x", []byte(`{"mcpServers": {"s": `+src+`}}`), splice.JSON)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := d.Entries(c.Place)
		if err != nil {
			t.Fatal(err)
		}
		s := c.Read(system("linux"), "s", entries[0].Value)
		got := s.Fields.YAML("\n")
		if len(s.Dropped) > 0 {
			got += "dropped " + strings.Join(s.Dropped, " ")
		}
		if s.Refused != "" {
			got = "refused " + s.Refused
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}

// TestNoHeaders checks that an entry without headers does not mention them.
func TestNoHeaders(t *testing.T) {
	for _, c := range All() {
		entry, _ := c.Entry(Launch{URL: "http://x/mcp"})
		if text := strings.ToLower(entry.YAML("\n")); strings.Contains(text, "header") || strings.Contains(text, "options") {
			t.Errorf("%s: %s", c.Name, text)
		}
	}
}
