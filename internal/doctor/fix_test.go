package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// TestChmodChangesSameFile checks that chmod changes the file that was checked.
func TestChmodChangesSameFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil { //nolint:gosec // the test needs a file that others can read
		t.Fatal(err)
	}
	was, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := chmod(file, was, 0o600)(t.Context()); err != nil {
		t.Error(err)
	}
	if now, err := os.Stat(file); err != nil || now.Mode() != 0o600 {
		t.Error(now.Mode(), err)
	}
}

// TestMissingInterpreterIsFound checks that a script whose interpreter is missing is a warning.
func TestMissingInterpreterIsFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no scripts with a first line")
	}
	dir := t.TempDir()
	script, runs := filepath.Join(dir, "server"), filepath.Join(dir, "runner-of-scripts")
	for file, src := range map[string]string{script: "#!/usr/bin/env runner-of-scripts\n", runs: "x"} {
		if err := os.WriteFile(file, []byte(src), 0o700); err != nil { //nolint:gosec // a program must be executable
			t.Fatal(err)
		}
	}
	for short, want := range map[string]string{dir: OK, filepath.Join(dir, "none"): Warning} {
		d := &Doctor{Short: []string{short}}
		f := d.command(config.Server{Name: "s", Command: script})
		if f.Status != want || want == Warning && !strings.Contains(f.Says, "is a script run by runner-of-scripts") {
			t.Errorf("%s: %+v", short, f)
		}
	}
}

// TestLongNamesAreCut checks that at most three long names are listed, and that the finding says if
// more exist.
func TestLongNamesAreCut(t *testing.T) {
	for count, more := range map[int]bool{3: false, 4: true} {
		d := &Doctor{}
		for i := range count {
			d.tools = append(d.tools, check.ListedTool{Exposed: "long-name-" + string(rune('a'+i))})
		}
		found := d.exceeded(clientcfg.Limits{NameLength: 5}, "Cursor")
		if len(found) != 1 || strings.Contains(found[0].Says, "and others") != more || !strings.Contains(found[0].Says, "long-name-c") {
			t.Errorf("%d: %+v", count, found)
		}
	}
}
