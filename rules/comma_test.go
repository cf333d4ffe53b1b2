package rules_test

import (
	"testing"

	"github.com/petrigate/petrigate/rules"
)

// TestCommaAsWord checks that a comma can be the word that a map looks for. After a field, it is
// read as part of a list of tools; see E011.
func TestCommaAsWord(t *testing.T) {
	for _, src := range []string{"map csv.separator , as odd\nblock odd\n", "map csv.separator ,x as odd\nblock odd\n"} {
		f, errs := rules.Parse("x.rules", []byte(src))
		if len(errs) > 0 {
			t.Errorf("%q: %v", src, errs)
			continue
		}
		if _, err := rules.Compile(f); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
}
