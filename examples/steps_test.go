package examples

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/policy/policytest"
)

// TestSteps runs the policy tests of the examples. Each folder with rules or nets must have tests,
// and these must exercise nearly everything. [TestCookbook] runs those of the cookbook.
func TestSteps(t *testing.T) {
	exe := program(t)
	args := []string{"test", "--min-cover", "95"}
	files, _ := filepath.Glob("*/*_test.yaml")
	for _, file := range files {
		if folder := filepath.Dir(file); !slices.Contains(args, folder) {
			args = append(args, folder)
		}
	}
	out, err := exec.Command(exe, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), ", 0 failed\n") {
		t.Errorf("petrigate test: %v\n%s", err, out)
	}
	found, err := policytest.Find("...")
	if err != nil {
		t.Fatal(err)
	}
	tested := make(map[string]bool)
	for _, file := range found {
		tested[filepath.Dir(file)] = true
	}
	for _, pattern := range []string{"*/*.rules", "*/*.net.yaml", "*/petrigate.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if !tested[filepath.Dir(file)] {
				t.Errorf("%s has no policy test", filepath.Dir(file))
			}
		}
	}
}
