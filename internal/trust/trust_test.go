package trust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/petrigate/petrigate/internal/trust"
)

func TestTrust(t *testing.T) {
	project, other := t.TempDir(), t.TempDir()
	path := filepath.Join(project, "petrigate.yaml")
	for _, dir := range []string{project, other} {
		if err := os.WriteFile(filepath.Join(dir, "petrigate.yaml"), []byte("version: 1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := trust.List{File: filepath.Join(t.TempDir(), "petrigate", "trusted.json")}
	if b.Trusts(path, []byte("version: 1")) {
		t.Error("a configuration is trusted that nobody was asked about")
	}
	if err := b.Trust(path, []byte("version: 1")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.File)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a file for this user alone", info, err)
	}
	if err := b.Trust(filepath.Join(other, "petrigate.yaml"), []byte("version: 2")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	for _, c := range []struct {
		path, src string
		want      bool
	}{
		{path, "version: 1", true},
		{"petrigate.yaml", "version: 1", true},
		{path, "version: 1\n", false},
		{filepath.Join(other, "petrigate.yaml"), "version: 1", false},
		{filepath.Join(other, "petrigate.yaml"), "version: 2", true},
		{filepath.Join(project, "none.yaml"), "version: 1", false},
	} {
		if got := b.Trusts(c.path, []byte(c.src)); got != c.want {
			t.Errorf("%s with %q: got %v, want %v", c.path, c.src, got, c.want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for file, mode := range map[string]os.FileMode{path: 0o666, project: 0o777, b.File: 0o622, filepath.Dir(b.File): 0o722} {
		before, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if b.Trusts(path, []byte("version: 1")) {
			t.Errorf("it is trusted although others can write to %s", file)
		}
		if err := os.Chmod(file, before.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if !b.Trusts(path, []byte("version: 1")) {
		t.Error("it is no longer trusted")
	}
	if err := os.WriteFile(b.File, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b.Trusts(path, []byte("version: 1")) || b.Trust(path, []byte("version: 1")) == nil {
		t.Error("a broken list counts")
	}
}
