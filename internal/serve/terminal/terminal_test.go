package terminal

import (
	"io"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/leftover"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// TestAskingRequiresTerminal checks that nothing is asked if the input is not a terminal. The tests
// in cmd/petrigate use real terminals.
func TestAskingRequiresTerminal(t *testing.T) {
	const want = "standard input is not a terminal"
	in := strings.NewReader("y\ny\n")
	if err := Confirm(t.Context(), in, io.Discard, "May it?"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := Watch(t.Context(), t.TempDir(), in, io.Discard, "ann"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if Is(in) || Width(in) != 0 {
		t.Error("it is taken for a terminal")
	}
}
