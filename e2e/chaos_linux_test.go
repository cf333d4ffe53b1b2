package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChaos is the short form of the chaos command: see its package comment.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("end-to-end tests are long")
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	chaos := filepath.Join(t.TempDir(), "chaos")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", chaos, "./chaos").CombinedOutput(); err != nil {
		t.Fatalf("building chaos: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), chaos, "-petrigate", binary, "-duration", "20s", "-stdio", "2").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}
