package journal

import (
	"flag"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/backend/backendtest"
)

func TestMain(m *testing.M) {
	runChild()
	_ = flag.Set("test.parallel", "8") // many tests can run at once, because most of them wait for the disk; the flag -parallel takes precedence
	goleak.VerifyTestMain(m)
}

// place returns the path of a database in a new directory.
func place(t testing.TB) string {
	return filepath.Join(t.TempDir(), "state", "petrigate.db")
}

// open opens a state, and closes it at the end of the test.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestBackend(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) func() backend.Backend {
		path := place(t)
		return func() backend.Backend { return open(t, Options{Path: path}) }
	})
}

// TestBackendOfSmallSegments runs the same tests as TestBackend with segments so small that they
// are constantly renamed and sealed.
func TestBackendOfSmallSegments(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) func() backend.Backend {
		path := place(t)
		return func() backend.Backend { return open(t, Options{Path: path, segment: 600}) }
	})
}
