package proxytest

import (
	"cmp"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// DefaultRules contains the rules needed by the attack tests.
const DefaultRules = `require backup before delete
require human-approval before deploy
block danger
limit push to 3 per session
map bash.command rm as delete
block discord.timeout
`

// PolicyOf builds a policy from the given rules, or from [DefaultRules] if they are empty.
func PolicyOf(t testing.TB, text string) *gate.Policy {
	t.Helper()
	return build(t, policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: cmp.Or(text, DefaultRules)}}})
}

// ShadowPolicy builds a policy from rules and puts the whole policy in shadow mode.
func ShadowPolicy(t *testing.T, rules, fallback string) *gate.Policy {
	t.Helper()
	return build(t, policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: rules}}, Mode: "shadow", Default: fallback})
}

func build(t testing.TB, source policy.Source) *gate.Policy {
	t.Helper()
	r, err := policy.Build(source)
	if err != nil {
		t.Fatal(err)
	}
	return r.Policy
}

// NetPolicy builds a policy from hand-written nets.
func NetPolicy(t *testing.T, nets ...gate.Net) *gate.Policy {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// BlockingPolicy builds a policy with a net that never allows calls to the given tools.
func BlockingPolicy(t *testing.T, names ...string) *gate.Policy {
	return NetPolicy(t, gate.Net{
		Name: "closed", Places: []string{"never"},
		Transitions: []gate.Transition{{Name: "pass", Inputs: []string{"never"}, Tools: gate.Tools(names...)}},
	})
}

// ChainPolicy builds a policy from a net with a single token in the place "ready". A call to one of
// the tools holds the token until its result arrives. A successful call moves the token to the
// place "done"; a failed call leaves it in "ready".
func ChainPolicy(t *testing.T, tools ...string) *gate.Policy {
	return NetPolicy(t, gate.Net{
		Name: "chain", Places: []string{"ready", "done"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{{Name: "do", Inputs: []string{"ready"}, Outputs: []string{"done"}, Tools: gate.Tools(tools...), Deferred: true}},
	})
}

// ChainInFlight fails the test unless exactly one call is in flight and the token of [ChainPolicy]
// is in the place "ready".
func (s *Site) ChainInFlight() {
	s.T.Helper()
	if s.OpenCalls() != 1 || s.Marking("chain", "ready") != 1 || s.Marking("chain", "done") != 0 {
		s.T.Errorf("the token is not in flight: %s", s.State())
	}
}

// ChainSettled waits until all calls have an outcome. It then fails the test unless the token of
// [ChainPolicy] is in the given place.
func (s *Site) ChainSettled(place string) {
	s.T.Helper()
	s.Eventually("the call is settled", func() bool { return s.OpenCalls() == 0 })
	if s.Marking("chain", place) != 1 {
		s.T.Errorf("the token is not in %s: %s", place, s.State())
	}
}
