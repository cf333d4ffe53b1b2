package rules_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/rules"
)

// TestNamesOfLongLists checks that the net for a long list has a readable name, which differs from
// those for similar lists, and that repeated refusals do not list all names.
func TestNamesOfLongLists(t *testing.T) {
	const src = "limit a, b, c, d to 5 in a row\nlimit a, b, c, e to 5 in a row\nrequire a or b or c before d\nlimit a, b to 3 per session\n"
	file, errs := rules.Parse("test.rules", []byte(src))
	out, err := rules.Compile(file)
	if len(errs) > 0 || err != nil {
		t.Fatal(errs, err)
	}
	var names []string
	for _, n := range out.Nets {
		names = append(names, n.Name)
	}
	want := "limit-a-and-3-more-HASH-5-in-a-row limit-a-and-3-more-HASH-5-in-a-row require-a-or-2-more-HASH-before-d limit-a-and-b-3"
	var got []string
	for _, name := range names {
		if before, after, found := strings.Cut(name, "-more-"); found {
			name = before + "-more-HASH" + after[4:]
		}
		got = append(got, name)
	}
	if strings.Join(got, " ") != want || names[0] == names[1] {
		t.Errorf("%q", names)
	}
	if got := out.Nets[0].Reason; got != "The same call was made 5 times in a row: repeating it changes nothing." {
		t.Error(got)
	}
}
