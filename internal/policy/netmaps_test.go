package policy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// TestNetMapsOfScripts checks that the maps of hand-written nets read scripts in the same way as
// those of rules.
func TestNetMapsOfScripts(t *testing.T) {
	nets, err := config.ParseNet("n.yaml", []byte(`
name: n
places: [p]
initialMarking: { p: 1 }
map:
  - { tool: bash, field: command, runs: cargo test, exactly: true, as: tests }
  - { tool: bash, field: command, reads: [.env*, "*.pem"], as: secret }
  - { tool: bash, field: command, writes: "*.go", as: edit }
transitions:
  - { name: t, inputs: [p], outputs: [p], tools: [tests, secret, edit] }
`))
	if err != nil {
		t.Fatal(err)
	}
	result, err := policy.Build(policy.Source{Nets: nets})
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"cargo test": "[bash tests]", "cargo test -q": "[bash tests]", "cargo test -p x": "[bash]", "cat app/.env.local": "[bash secret]",
		"cat k.pem": "[bash secret]", "sed -i s/a/b/ x/a.go": "[bash edit]", "gofmt a.go": "[bash]", "ls": "[bash]",
	} {
		args, _ := json.Marshal(map[string]string{"command": script})
		var names []string
		for _, n := range result.Policy.Names(gate.Call{Tool: "bash", Args: args}) {
			names = append(names, n.Text)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}
