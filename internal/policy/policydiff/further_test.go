package policydiff

import (
	"slices"
	"strings"
	"testing"
)

// TestFurtherDifferences checks that a comparison shows the effect of each changed rule, and not only
// the difference that the shortest run shows.
func TestFurtherDifferences(t *testing.T) {
	for _, c := range []struct {
		name, old, changed string
		want               []string // the last lines of the differences
	}{
		{
			"since is gone, and a shorter run shows another rule",
			"require test before push since edit\nblock x", "require test before push",
			[]string{"looser x", "looser push"},
		},
		{
			"once, behind a rule that is gone",
			"require backup before delete\nrequire human-approval before deploy", "require backup before delete once",
			[]string{"looser deploy", "looser delete"},
		},
		{
			"two rules with once",
			"require a before b\nrequire c before d", "require a before b once\nrequire c before d once",
			[]string{"looser b", "looser d"},
		},
		{
			"three rules, in both directions",
			"require a before b\nlimit d to 3 per session\nallow e", "require a before b once\nrequire c before d\nlimit d to 4 per session\nrequire f before e",
			[]string{"stricter d", "stricter e", "looser b"},
		},
		{"a single rule", "require a before b", "require a before b once", []string{"looser b"}},
		{"the same rules", "require a before b", "require a before b", nil},
	} {
		d := compared(t, c.old+"\n", c.changed+"\n")
		var got []string
		for _, w := range append([]*Witness{d.Stricter, d.Looser}, d.more...) {
			if w != nil {
				got = append(got, map[bool]string{true: "stricter ", false: "looser "}[w.verdicts[1] > w.verdicts[0]]+w.trace[len(w.trace)-1].Name)
			}
		}
		slices.SortFunc(got, func(a, b string) int { return slices.Index(c.want, a) - slices.Index(c.want, b) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q\n%s", c.name, got, c.want, d.Text("old", "new"))
		}
		if text := d.Text("old", "new"); strings.Count(text, "also ")+2 < len(c.want) {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}
