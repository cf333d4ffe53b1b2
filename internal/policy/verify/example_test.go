package verify_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

func ExamplePolicy() {
	f, _ := rules.Parse("policy.rules", []byte("require test before deploy\nlimit test to 1 per deploy\n"))
	compiled, err := rules.Compile(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	deploy := gate.Tool{Name: "deploy"}
	report := verify.Policy(policy, verify.Options{
		Prove: []verify.Assertion{verify.NeverBefore{Tool: deploy, First: gate.Tool{Name: "test"}}},
	})
	for _, n := range report.Names {
		fmt.Println(n.Tool.Name, "by", n.Shortest.Calls())
	}
	for _, g := range report.Groups {
		for _, step := range g.Deadlock.Trace {
			if step.Ends {
				fmt.Println("call", step.Call, "ends: failure", step.Outcome == gate.Failure)
			} else {
				fmt.Println("call", step.Call, "is", step.Name)
			}
		}
		for _, n := range g.Deadlock.Because {
			fmt.Println("then locked by", n.Rule, n.Name)
		}
	}
	fmt.Println(report.Proofs[0].Result)
	// Output:
	// test by [test]
	// deploy by [test deploy]
	// call 1 is test
	// call 1 ends: failure true
	// then locked by policy.rules:1:1 require-test-before-deploy
	// then locked by policy.rules:2:1 limit-test-1-per-deploy
	// proved
}
