package policydiff

import (
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

// TestDiffsBehindArguments checks that a net that both policies have and that refuses calls because
// of their arguments or values does not hide a difference for other arguments.
func TestDiffsBehindArguments(t *testing.T) {
	const judged = `
name: judged
places: [p]
initialMarking: { p: 1 }
transitions:
  - { name: go, inputs: [p], outputs: [p], tools: [b] }
validate:
  - { tools: [b], require: "args.x == 'fine'", reason: no }
`
	const watching = `
name: watching
places: [p]
initialMarking: { p: 1 }
key: [f]
transitions:
  - { name: go, inputs: [p], outputs: [p], tools: [b], observe: true }
`
	for _, c := range []struct{ net, old, changed, deny, not string }{
		{judged, "limit c to 1 per session", "limit c to 1 per session\nblock c after b", "", "equal"},
		{judged, "limit c to 1 per session", "limit c to 1 per session\nblock d", "", ""},
		{watching, "limit c to 1 per session\nallow b", "limit c to 1 per session\nallow b\nblock c after b", "deny", ""},
		{"", "limit b to 20 per session for each f\nlimit c to 5 per b\nallow c", "limit b to 20 per session for each f\nlimit c to 5 per b\nallow c\nlimit c to 25 per session", "deny", "equal"},
		{"", "limit b to 20 of amount per session\nlimit c to 2 per b\nallow c", "limit b to 20 of amount per session\nlimit c to 2 per b\nallow c\nlimit c to 25 per session", "deny", "equal"},
		{"", "limit b to 2 in a row\nlimit c to 2 per b\nallow c", "limit b to 2 in a row\nlimit c to 2 per b\nallow c\nlimit c to 25 per session", "deny", "equal"},
	} {
		var sides [2]*Side
		for i, text := range []string{c.old, c.changed} {
			source := policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: text}}, Default: c.deny}
			if c.net != "" {
				var err error
				if source.Nets, err = config.ParseNet("p.yaml", []byte(c.net)); err != nil {
					t.Fatal(err)
				}
			}
			result, err := policy.Build(source)
			if err != nil {
				t.Fatal(err)
			}
			if sides[i], err = NewSide(result, source); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Compare(sides[0], sides[1], 20_000, func() bool { return false })
		if err != nil {
			t.Fatal(err)
		}

		if d.result() == c.not {
			t.Errorf("%s, complete %v\n%s\n%s--\n%s", d.result(), d.Complete, c.net, c.old, c.changed)
		}
	}
}
