package pipefail_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/pipefail"
)

func policyOf(t *testing.T, rules string) *gate.Policy {
	t.Helper()
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: rules}}})
	if err != nil {
		t.Fatal(err)
	}
	return result.Policy
}

const rules = "map bash.command runs npm test as tests\nmap bash.command runs git push as push\nmap bash.command runs rm as wipe\nrequire tests before push\nblock wipe\n"

// TestAddChangesOnlyHiddenEvidence checks that a script is changed if only the pipe prevents it from being evidence, and
// that nothing else of the call changes.
func TestAddChangesOnlyHiddenEvidence(t *testing.T) {
	p := policyOf(t, rules)
	for script, changes := range map[string]bool{
		"npm test | tail -3":                           true,
		"cd app && npm test 2>&1 | tail -30":           true,
		"npm test |& grep -v ok":                       true,
		"npm ci && npm test | tail":                    true,
		"#!/bin/bash\nnpm test | tail":                 true,
		"cat <<E | npm test | tail\n\"x\"\nE":          true,
		"npm test":                                     false,
		"set -o pipefail; npm test | tail":             false, // it already counts
		"npm test | tail || true":                      false, // something else is missing
		"npm test | tail; echo done":                   false,
		"npm test --help | tail":                       false,
		"npm test | tail &":                            false,
		"set +o pipefail; npm test | tail":             false,
		"git push | tail":                              false, // no net waits for it
		"rm x | tail":                                  false,
		"ls | tail":                                    false,
		"npm test 'a|b'":                               false,
		"npm test | tail '":                            false,
		"PATH=/tmp npm test | tail":                    false,
		"npm test | tail\n# |\nfalse":                  false,
		"npm run build && npm test | tail && git push": true, // the decision about the push is unaffected
	} {
		text, _ := json.Marshal(script)
		args := fmt.Sprintf(`{ "timeout":5, "command": %s ,"x":"a|b" }`, text)
		got, ok := pipefail.Add(p, gate.Call{Tool: "bash", Args: []byte(args)})
		want := fmt.Sprintf(`{ "timeout":5, "command": "%s%s ,"x":"a|b" }`, pipefail.Prefix, text[1:])
		if ok != changes || ok && (string(got) != want || pipefail.Script(got) != pipefail.Prefix+script) {
			t.Errorf("%s: %s, %t", script, got, ok)
		}
	}
	for _, args := range []string{`{"command":["npm test | tail"]}`, `{"script":"npm test | tail"}`, ``} {
		if got, ok := pipefail.Add(p, gate.Call{Tool: "bash", Args: []byte(args)}); ok {
			t.Errorf("%s: %s", args, got)
		}
	}
	if got, ok := pipefail.Add(policyOf(t, "map bash.command runs npm test as tests\nblock tests\n"), gate.Call{Tool: "bash", Args: []byte(`{"command":"npm test | tail"}`)}); ok {
		t.Errorf("nothing waits for a test: %s", got)
	}
}

// TestAddKeepsEscapes checks that the text of the script is unchanged, so that it equals the agent's own
// report of the call.
func TestAddKeepsEscapes(t *testing.T) {
	p := policyOf(t, rules)
	got, ok := pipefail.Add(p, gate.Call{Tool: "bash", Args: []byte(`{"command":"npm\u0020test \u007c t\u0061il"}`)})
	if want := `{"command":"set -o pipefail; npm\u0020test \u007c t\u0061il"}`; !ok || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func ExampleAdd() {
	result, _ := policy.Build(policy.Source{Rules: []config.RuleText{{Text: rules}}})
	args, ok := pipefail.Add(result.Policy, gate.Call{Tool: "bash", Args: []byte(`{"command":"npm test | tail -30"}`)})
	fmt.Println(string(args), ok)
	// Output: {"command":"set -o pipefail; npm test | tail -30"} true
}
