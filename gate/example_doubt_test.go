package gate_test

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

func ExampleWays() {
	blocks := []gate.Block{
		{Net: "block-push", Doubt: &gate.Doubt{What: "a command word that is not literal", Code: "$X y", Advice: "write the name of the program itself"}},
		{Net: "block-wipe", Doubt: &gate.Doubt{What: "a command word that is not literal", Code: "$X y", Advice: "write the name of the program itself"}},
	}
	fmt.Println(strings.Join(gate.Ways(blocks), " "))
	// Output: Write the name of the program itself.
}

func ExampleNear_Sentence() {
	n := gate.Near{Name: "test", Why: gate.Doubt{What: "the pipe hides whether it failed", Code: "npm test | tail", Advice: "write `set -o pipefail; npm test | tail`"}}
	fmt.Println(n.Sentence())
	// Output: `npm test | tail` did not count as test: the pipe hides whether it failed. Write `set -o pipefail; npm test | tail`.
}

func ExamplePolicy_Why() {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	p, err := gate.NewPolicy([]gate.Net{blockNet("remove")}, gate.PolicyOptions{Labels: labels(shellMaps(words)...)})
	if err != nil {
		fmt.Println(err)
		return
	}
	why, found := p.Why(gate.Call{Tool: "sh", Args: []byte(`{"c": "?"}`)}, "remove")
	fmt.Println(found == gate.Perhaps, why)
	// Output: true a doubt
}

func ExamplePolicy_Unproved() {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	p, err := gate.NewPolicy([]gate.Net{sequenceNet("read", "deploy")}, gate.PolicyOptions{Labels: labels(shellMaps(words)...)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, script := range []string{`{"c": "ls"}`, `{"c": "ls; tail"}`} {
		fmt.Println(script, p.Unproved(gate.Call{Tool: "sh", Args: []byte(script)}))
	}
	// Output:
	// {"c": "ls"} []
	// {"c": "ls; tail"} [read]
}
