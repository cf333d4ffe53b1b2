package testbinary

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPath: the binary runs, whether it was built before or is built here.
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
