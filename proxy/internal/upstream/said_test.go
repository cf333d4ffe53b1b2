package upstream

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// TestOutputOfChildIsKept checks that the output of a child on both streams is available after the
// child has ended.
func TestOutputOfChildIsKept(t *testing.T) {
	u := New(Config{Name: "a", Command: "sh", Args: []string{"-c", "echo hello; echo why >&2; exit 3"}}, Options{})
	u.Start(t.Context())
	<-u.Settled()
	said := u.Output()
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(said)
	if !slices.Equal(said, []string{conn.OnStdout + "hello", "why"}) {
		t.Errorf("%q", said)
	}
}
