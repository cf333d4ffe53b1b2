package takeover

import (
	"os"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// TestTakeSome checks that --only takes only the named servers, and that petrigate itself is never
// taken.
func TestTakeSome(t *testing.T) {
	p := newPlace(t, "cursor")
	p.write(t, []byte(`{"mcpServers":{"petrigate":{"command":"petrigate","args":["serve"]},"a":{"command":"x"},"b":{"command":"y"}}}`))
	names := func(only ...string) string {
		plan, err := p.desk.Plan(Import{Client: "cursor", Config: p.config, Only: only})
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, s := range plan.Servers {
			all += s.Name + " "
		}
		return all
	}
	for only, want := range map[string]string{"": "a b ", "b": "b ", "a,b": "a b ", "petrigate": ""} {
		if got := names(strings.FieldsFunc(only, func(r rune) bool { return r == ',' })...); got != want {
			t.Errorf("%q takes %q, want %q", only, got, want)
		}
	}
}

// TestDisconnectAsks checks that disconnect shows the difference and writes nothing unless the
// answer is yes.
func TestDisconnectAsks(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	if strings.Contains(p.out.String(), "reaches a") || !strings.Contains(p.out.String(), "reaches b directly") {
		t.Errorf("connect says\n%s", p.out)
	}
	connected := p.read(t)
	p.desk.Yes = false
	for _, ask := range []func(string) (bool, error){nil, func(string) (bool, error) { return false, nil }} {
		p.out.Reset()
		p.desk.Ask = ask
		err := p.desk.Disconnect(t.Context(), "cursor", "")
		if err == nil || p.read(t) != connected || !strings.Contains(p.out.String(), "+"+two) {
			t.Errorf("%v\n%s", err, p.out)
		}
	}
	if l := p.listed(t); l.Connected != "yes" {
		t.Errorf("%+v", l)
	}
}

// TestNothingLeft checks that connect does not mention other servers if petrigate has them all.
func TestNothingLeft(t *testing.T) {
	p := served(t, `{"mcpServers":{"a":{"command":"x"}}}`)
	p.connect(t)
	if strings.Contains(p.out.String(), "note:") {
		t.Errorf("%s", p.out)
	}
}

// TestEditedKeepsBackup checks that the backup is not removed while it is still needed.
func TestEditedKeepsBackup(t *testing.T) {
	p := served(t, two)
	p.connect(t)
	p.write(t, []byte(strings.Replace(p.read(t), `"b":`, `"c":{"command":"z"},"b":`, 1)))
	p.disconnect(t)
	backup := p.file + ".before-petrigate"
	if src, err := os.ReadFile(backup); err != nil || string(src) != two || !strings.Contains(p.out.String(), "is still in "+backup) {
		t.Errorf("%q, %v\n%s", src, err, p.out)
	}
	edited := p.read(t)
	p.connect(t) // the existing backup is from an earlier time
	if src, _ := os.ReadFile(backup); string(src) != edited {
		t.Errorf("the backup is %q", src)
	}
}

// TestHooksAsBefore checks that disconnect reports when it has restored a hooks file exactly, and
// then removes the backup.
func TestHooksAsBefore(t *testing.T) {
	p := newPlace(t, "claude-code")
	h, _ := clientcfg.HooksOf("claude-code")
	file := hookFile(t, p, h)
	for _, edit := range []string{"", "{\n  \"theme\": \"dark\",\n"} {
		if err := os.WriteFile(file, []byte("{\n  \"x\": 1\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.desk.ConnectHooks(t.Context(), HookConnection{Client: "claude-code", Launch: clientcfg.Launch{Command: "petrigate"}}); err != nil {
			t.Fatal(err)
		}
		src, _ := os.ReadFile(file)
		if !strings.Contains(string(src), "\n    \"PreToolUse\": [{\n      \"hooks\": [{\n        \"type\": ") {
			t.Errorf("the hooks are written as\n%s", src)
		}
		if edit != "" {
			if err := os.WriteFile(file, []byte(strings.Replace(string(src), "{\n", edit, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.out.Reset()
		if err := p.desk.DisconnectHooks("claude-code", ""); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(file + ".before-petrigate-hooks")
		if said := strings.Contains(p.out.String(), "byte for byte"); said != (edit == "") || os.IsNotExist(err) != (edit == "") {
			t.Errorf("%q: %v\n%s", edit, err, p.out)
		}
		if p.desk.InspectHooks()[0].Kept {
			t.Error("it is still kept")
		}
	}
}

// TestConfigOf checks which configuration an entry of ours names.
func TestConfigOf(t *testing.T) {
	for args, want := range map[string]string{"serve --config x": "x", "serve --config=y --quiet": "y", "serve --config": "", "serve": ""} {
		if got := (Entry{Args: strings.Fields(args)}).Config(); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
