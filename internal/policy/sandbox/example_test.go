package sandbox_test

import (
	"fmt"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

func ExampleSession() {
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{Text: "require human-approval before deploy\nlimit deploy to 1 per session"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sandbox.New(result.Policy, nil).Session("")
	deploy := func(id string, says sandbox.Consent) {
		switch d := s.Call(gate.Call{ID: id, Tool: "deploy"}, says).(type) {
		case *gate.Allow:
			fmt.Println("allowed")
		case *gate.Ask:
			fmt.Println("asked:", d.Steps[0].Reason)
		case *gate.Refusal:
			fmt.Println("refused:", d.Text)
		}
	}
	deploy("1", sandbox.No)
	deploy("2", sandbox.Later)
	s.Answer("2", sandbox.Yes)
	deploy("3", sandbox.Yes)
	fmt.Println(s.End("2", gate.End{Outcome: gate.Success}), s.End("2", gate.End{Outcome: gate.Failure}), s.Answer("2", sandbox.Yes))
	fmt.Println(s.Nets()[1].Marking)
	// Output:
	// refused: deploy requires human approval.
	// asked: deploy requires human approval.
	// refused: deploy has reached its limit of 1 call per session.
	// true false <nil>
	// ready:1
}
