package policytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

func ExampleSuite() {
	s := Suite{Name: regexp.MustCompile("")}
	fmt.Println(s.Load([]string{"testdata/none"}))
	// Output: looking for tests in testdata/none: no such file or directory
}

// TestSuite checks that a file that is named several times runs only once, and that an unreadable
// file is an error.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.rules", "block rm\n")
	file := write("a_test.yaml", "rules: a.rules\ntests:\n  - name: never\n    steps: [{ call: rm, expect: refuse }]\n")
	s := Suite{
		Name: regexp.MustCompile("never"), Problems: func(err error) (diag.List, error) { return nil, err },
		Loader: Loader{Call: func(*config.Config) func(string) gate.Call {
			return func(tool string) gate.Call { return gate.Call{Tool: tool} }
		}},
	}
	if err := s.Load([]string{file, dir}); err != nil {
		t.Fatal(err)
	}
	if r := s.Run(t.Context()); r.Passed != 1 || r.Failed != 0 {
		t.Errorf("%+v", r)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "b_test.yaml")); err != nil {
		t.Skip(err)
	}
	want := fmt.Sprintf("reading the tests %s: no such file or directory", filepath.Join(dir, "b_test.yaml"))
	if err := s.Load([]string{dir}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
