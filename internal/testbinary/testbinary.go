// Package testbinary gives tests the petrigate binary.
package testbinary

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Variable names a binary that was built before, for all packages of tests.
const Variable = "PETRIGATE_BIN"

// Path is the binary that [Variable] names, as an absolute path, or one that is
// built for this test.
func Path(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(Variable); path != "" {
		if !filepath.IsAbs(path) {
			t.Fatalf("%s must be an absolute path, got %q", Variable, path)
		}
		return path
	}
	path := filepath.Join(t.TempDir(), "petrigate")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	Build(t, path)
	return path
}

// Build builds the binary as these tests are built: with the race detector, if
// they have it.
func Build(t testing.TB, path string) {
	t.Helper()
	args := append([]string{"build", "-o", path}, flags()...)
	out, err := exec.Command("go", append(args, "github.com/petrigate/petrigate/cmd/petrigate")...).CombinedOutput()
	if err != nil {
		t.Fatalf("building petrigate: %v\n%s", err, out)
	}
}
