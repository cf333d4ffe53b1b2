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

func ExampleSpanWords() {
	fmt.Println(rules.SpanWords())
	// Output: [session user second minute hour day]
}

func ExampleTimeSpans() {
	fmt.Println(rules.TimeSpans())
	// Output: [second minute hour day]
}

func ExampleSpan_Window() {
	fmt.Println(rules.Hour, rules.Hour.Window())
	fmt.Println(rules.Session, rules.Session.Window())
	// Output:
	// per hour 1h0m0s
	// per session 0s
}
