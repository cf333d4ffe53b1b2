package policytest

import (
	"errors"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// FuzzParse parses arbitrary bytes. Invalid files must be rejected with positions, and it must be
// possible to run valid files.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"tests: [{name: a, steps: [{call: x}]}]",
		"tests:\n- name: a\n  sessions: {a: b}\n  steps:\n  - {call: b, args: {x: [1, y]}, result: pending, as: z}\n  - {settle: {call: z}}\n  - {after: 2m, call: c, times: 3, reason: /r/i}\n",
		`{"tests":[{"name":"a","events":[{"type":"call","id":"1","tool":"b"},{"type":"result","id":"1","outcome":"unknown"}],"expect":"ask"}]}`,
		"tests: [{name: a, steps: [{settle: {call: 1}}]}]",
	} {
		f.Add([]byte(seed))
	}
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{Text: "require a before b\nrequire human-approval before c\nlimit b to 2 per hour\nshadow block x"}}})
	if err != nil {
		f.Fatal(err)
	}
	p := &Policy{Result: result, call: func(tool string) gate.Call { return gate.Call{Tool: tool} }}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("f", src)
		var list config.ErrorList
		if err != nil {
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("no list of errors: %v", err)
			}
			return
		}
		for i := range file.Tests {
			r := p.Run(&file.Tests[i])
			if len(r.Steps)+r.left != len(file.Tests[i].Steps) || r.Failure == nil && r.left > 0 {
				t.Fatalf("%d of %d steps were played: %+v", len(r.Steps), len(file.Tests[i].Steps), r.Failure)
			}
		}
	})
}
