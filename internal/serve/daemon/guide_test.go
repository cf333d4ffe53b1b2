package daemon

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// chain is a policy in which each of the calls requires the one before it.
func chain(t *testing.T, calls ...string) *gate.Policy {
	t.Helper()
	n := gate.Net{Name: "chain", Places: []string{"0"}, Initial: map[string]int{"0": 1}}
	for i, call := range calls {
		n.Places = append(n.Places, fmt.Sprint(i+1))
		n.Transitions = append(n.Transitions, gate.Transition{Name: call, Inputs: []string{fmt.Sprint(i)}, Outputs: []string{fmt.Sprint(i + 1)}, Tools: gate.Tools(call)})
	}
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWay: the way out is that of the policy and of the tools there are, in the state that is asked
// about; the guide follows a reload.
func TestWay(t *testing.T) {
	tools := []string{"a", "b", "c"}
	g := &guide{names: func() (all []gate.Call) {
		for _, name := range tools {
			all = append(all, gate.Call{Tool: name})
		}
		return all
	}}
	way := func(p *gate.Policy, tool string) string {
		t.Helper()
		s := p.NewState(nil)
		d, _ := p.Decide(s, gate.Call{Tool: tool}, nil)
		r, ok := d.(*gate.Refusal)
		if !ok {
			t.Fatalf("%s is not refused", tool)
		}
		w := g.way(s, gate.Call{Tool: tool}, r)
		return fmt.Sprint(w.Calls, " ", w.Sentence)
	}
	up := chain(t, "a", "b", "c")
	if got := way(up, "c"); got != "[a b] Way out: call `a`, then `b`; after that `c` is allowed." {
		t.Error(got)
	}
	if got := way(chain(t, "c", "b", "a"), "b"); got != "[c] Way out: call `c`; after that `b` is allowed." {
		t.Error("another policy:", got)
	}
	tools = []string{"a", "c"}
	if got := way(up, "c"); got != "[] No other call changes that in this session." {
		t.Error("without b:", got)
	}
}
