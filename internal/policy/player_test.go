package policy_test

import (
	"fmt"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

func ExamplePlayer() {
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{Text: "require human-approval before deploy\nlimit deploy to 1 per session"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := policy.NewPlayer(gate.NewSession(result.Policy, gate.SessionOptions{}))
	deploy := func(id string, says policy.Consent) {
		switch d := p.Call(gate.Call{ID: id, Tool: "deploy"}, says).(type) {
		case *gate.Allow:
			fmt.Println("allowed")
		case *gate.Ask:
			fmt.Println("asked:", d.Steps[0].Reason)
		case *gate.Refusal:
			fmt.Println("refused:", d.Text)
		}
	}
	deploy("1", policy.No)
	deploy("2", policy.Later)
	p.Answer("2", policy.Yes)
	deploy("3", policy.Yes)
	fmt.Println(p.Settle("2", gate.Success), p.Settle("2", gate.Failure), p.Answer("2", policy.Yes))
	fmt.Println(p.Session().Nets()[1].Marking)
	// Output:
	// refused: deploy requires human approval.
	// asked: deploy requires human approval.
	// refused: deploy has reached its limit of 1 call per session.
	// true false <nil>
	// ready:1
}
