package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/control"
)

// TestSignedBase puts a signed base in force, and tries to widen it, to roll it back and to swap it.
func TestSignedBase(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "petrigate.yaml")
	key := strings.Split(string(signed(t, "k.pub")), "\n")[1]
	put := func(base, local string) {
		for name, data := range map[string][]byte{
			"base.yaml": signed(t, base+".yaml"), "base.yaml.minisig": signed(t, base+".yaml.minisig"),
			"petrigate.yaml": []byte("state: { driver: memory }\nconsole: { http: \"off\" }\nextends: [ { file: base.yaml, key: \"" + key + "\" } ]\n" + local),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	load := func() (*config.Config, error) { return config.Load(config.Options{Path: file}) }
	put("b7", "")
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	result, known, err := Policy(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(Options{Config: c, Policy: result, Known: known, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, step := range []struct {
		base, local string
		dry         bool
		result      string
		problem     string
	}{
		{"b8", "", true, control.DryRun, ""},
		{"b7", "rules: [ { inline: block rm } ]", false, control.Applied, ""}, // a dry run notes nothing
		{"b8", "", false, control.Applied, ""},
		{"b7", "", false, control.Invalid, "rolled back"},
		{"b8swapped", "", false, control.Invalid, "swapped"},
		{"bothername", "", false, control.Invalid, "swapped for another"},
		{"botherkey", "", false, control.Invalid, "signed by the key"},
		{"b8", "rules: [ { inline: map bash.command runs make as test } ]", false, control.Invalid, "allows what the base policy"},
		{"b8", "mode: shadow", false, control.Invalid, "weaker"},
		{"b8", "", false, control.Unchanged, ""},
	} {
		put(step.base, step.local)
		r := d.Reload(t.Context(), control.Reload{Actor: "test", DryRun: step.dry})
		if r.Result != step.result || !strings.Contains(r.Problem, step.problem) {
			t.Errorf("%s %s: %s, %s", step.base, step.local, r.Result, r.Problem)
		}
	}
}

func signed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "basefile", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
