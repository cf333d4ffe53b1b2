package policytest_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/policytest"
)

func ExampleEval() {
	cases := strings.NewReader(`{"name":"try","rules":"block rm","events":[{"type":"call","id":"1","tool":"rm"}]}`)
	if _, err := policytest.Eval(cases, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"name":"try","nets":[{"name":"block-rm","states":2}],"decisions":[{"i":0,"decision":"refuse","kind":"blocked","nets":["block-rm"],"cause":"block","reason":"rm is blocked and cannot be called."}],"final":[{"name":"block-rm","active":true,"marking":{"ready":1},"inFlight":0}]}
}
