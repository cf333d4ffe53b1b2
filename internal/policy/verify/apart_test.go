package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestUnrelatedRulesAreExploredSeparately checks that rules that share no call are explored separately, so that twice as
// many rules cost twice as much.
func TestUnrelatedRulesAreExploredSeparately(t *testing.T) {
	for name, rules := range map[string]func(int) string{"keyed": keyed, "mixed": mixed} {
		t.Run(name, func(t *testing.T) {
			visited := func(n int) int {
				p, o := build(t, map[string]string{"policy.rules": rules(n)})
				return verify.Policy(p, o).Visited
			}
			if few, many := visited(14), visited(28); many > 2*few {
				t.Errorf("14 rules take %d states, 28 take %d", few, many)
			}
		})
	}
}
