package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestChaos runs the chaos command for as long as PETRIGATE_CHAOS says: see its
// package comment.
func TestChaos(t *testing.T) {
	duration := os.Getenv("PETRIGATE_CHAOS")
	if duration == "" {
		t.Skip("PETRIGATE_CHAOS=20s runs it for so long")
	}
	seed := cmp.Or(os.Getenv("PETRIGATE_SEED"), "1")
	binary := build(t)
	chaos := filepath.Join(t.TempDir(), "chaos")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", chaos, "./chaos").CombinedOutput(); err != nil {
		t.Fatalf("building chaos: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), chaos, "-petrigate", binary, "-duration", duration, "-seed", seed, "-stdio", "2").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	t.Log(lines[len(lines)-1])
}
