package policy_test

import (
	"fmt"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

func ExampleBuild() {
	r, err := policy.Build(policy.Source{
		Rules: []config.RuleText{{File: "safety.rules", Text: "block delte\nlimit push to 3 per session\n"}},
		Tools: []string{"delete", "push"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Problems {
		fmt.Println(p.Severity, p)
	}
	for _, n := range r.Nets {
		fmt.Println(n.Name, *n.States)
	}
	// Output:
	// warning safety.rules:1:7: unknown tool "delte", so this rule never applies (did you mean "delete"?)
	// block-delte 2
	// limit-push-3 5
}
