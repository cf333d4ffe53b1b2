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
// they have it. Go keeps what it links to run, unlike what it links to build, and most
// of the time goes into linking: so this runs a program that copies the binary.
func Build(t testing.TB, path string) {
	t.Helper()
	args := []string{"run", "-exec", "cp"}
	if runtime.GOOS == "windows" {
		args = []string{"build", "-o", path}
	}
	args = append(append(args, flags()...), "github.com/petrigate/petrigate/cmd/petrigate")
	if args[0] == "run" {
		args = append(args, path)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("building petrigate: %v\n%s", err, out)
	}
}
