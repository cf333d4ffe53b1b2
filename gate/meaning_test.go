package gate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
)

func TestMeaning(t *testing.T) {
	free := handNet("free", map[string]int{"p": 1}, "t: p -> p | other")
	free.Free = []string{"sh"}
	broken := handNet("broken", map[string]int{"p": 1}, "t: p -> p | sh")
	broken.Mapper = func(gate.Call) []gate.Name { panic("no names") }
	nets := []gate.Net{unless(blockNet("sh"), gate.Tool{Name: "read"}), limitNet("read", 2, "session"), blockNet("other"), free, broken}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: labels(shellMaps(&commands{words: []string{"ls", "cat", "rm"}})...)})
	if err != nil {
		t.Fatal(err)
	}
	limit := gate.Meaning{Net: 1, Asks: []gate.Asked{{Transitions: []int{1}}}}
	let := gate.Meaning{Net: 3, Asks: []gate.Asked{{Free: true}}}
	if diff := cmp.Diff([]gate.Meaning{limit, let}, p.Meaning(call(`sh {"c":"ls"}`))); diff != "" {
		t.Error(diff)
	}
	weak := gate.Meaning{Net: 1, Asks: []gate.Asked{{Transitions: []int{1}, Weak: true}}}
	blocks := gate.Meaning{Net: 0, Asks: []gate.Asked{{Transitions: []int{1}}}}
	if diff := cmp.Diff([]gate.Meaning{blocks, weak, let}, p.Meaning(call(`sh {"c":"?"}`))); diff != "" {
		t.Error(diff)
	}
}

func ExamplePolicy_Meaning() {
	policy, err := gate.NewPolicy([]gate.Net{{
		Name: "door", Places: []string{"shut", "open"}, Initial: map[string]int{"shut": 1},
		Transitions: []gate.Transition{{Name: "knock", Inputs: []string{"shut"}, Outputs: []string{"open"}, Tools: gate.Tools("knock")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(policy.Meaning(gate.Call{Tool: "knock"}))
	// Output: [{0 [{[0] false false}]}]
}

func ExampleSession_Snapshot() {
	s := newSession(gate.Net{
		Name: "once", Places: []string{"left"}, Initial: map[string]int{"left": 1},
		Transitions: []gate.Transition{{Name: "use", Inputs: []string{"left"}, Tools: gate.Tools("push")}},
	})
	before := s.Snapshot()
	try(s, "push", gate.Success)
	fmt.Println(before.Nets[0].Marking, s.Snapshot().Nets[0].Marking)
	// Output:
	// push: allowed
	// [1] [0]
}
