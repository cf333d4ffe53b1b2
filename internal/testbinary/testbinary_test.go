package testbinary

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPath checks that the binary runs, whether it was built before or by this test.
func TestPath(t *testing.T) {
	built := Path(t)
	t.Setenv(Variable, built)
	if got := Path(t); got != built {
		t.Errorf("%s, want %s", got, built)
	}
	out, err := exec.Command(built, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "petrigate ") {
		t.Errorf("%v: %s", err, out)
	}
}
