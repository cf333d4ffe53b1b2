// Package testbinary provides the petrigate binary for tests.
package testbinary

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
)

// Variable names the environment variable that contains the path of a binary built in advance for
// all test packages.
const Variable = "PETRIGATE_BIN"

// Path returns the absolute path of the binary in [Variable] or, if the variable is not set, of a
// binary that it builds for this test.
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

// Build builds the binary and writes it to path. The race detector is enabled in the binary if it
// is enabled in the test. Except on Windows, Build calls go run -exec cp, so that the binary is
// copied instead of run. The go command caches binaries linked for go run but not those linked for
// go build, and linking takes most of the time.
func Build(t testing.TB, path string) {
	t.Helper()
	args := []string{"run", "-exec", "cp"}
	if runtime.GOOS == "windows" {
		args = []string{"build", "-o", path}
	}
	if soak.Race {
		args = append(args, "-race")
	}
	args = append(args, "github.com/petrigate/petrigate/cmd/petrigate")
	if args[0] == "run" {
		args = append(args, path)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("building petrigate: %v\n%s", err, out)
	}
}
