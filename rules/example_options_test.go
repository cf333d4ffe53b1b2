package rules_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

func ExampleOptions_Compile() {
	f, _ := rules.Parse("policy.rules", []byte("map bash.command runs rm as delete\nblock delete\n"))
	for _, o := range []rules.Options{{}, {Strict: true}} {
		c, err := o.Compile(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		call := gate.Call{Tool: "bash", Args: []byte(`{"command":"python3 -c 'print(1)'"}`)}
		fmt.Println(len(p.Names(call)) == 2)
	}
	// Output:
	// false
	// true
}
