package policy_test

import (
	"fmt"
	"os"
	"strings"

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

func ExampleEval() {
	cases := strings.NewReader(`{"name":"try","rules":"block rm","events":[{"type":"call","id":"1","tool":"rm"}]}`)
	if _, err := policy.Eval(cases, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"name":"try","nets":[{"name":"block-rm","states":2}],"decisions":[{"i":0,"decision":"refuse","kind":"blocked","nets":["block-rm"],"cause":"block","reason":"rm is blocked and cannot be called."}],"final":[{"name":"block-rm","active":true,"marking":{"ready":1},"inFlight":0}]}
}
