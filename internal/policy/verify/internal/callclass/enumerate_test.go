package callclass_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// enumerate returns the classes of calls that the rules distinguish.
func enumerate(t *testing.T, rules string) (*gate.Policy, []*callclass.Class) {
	t.Helper()
	r, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: rules}}})
	if err != nil {
		t.Fatal(err)
	}
	var nets []*callclass.Net
	for i, info := range r.Policy.Nets() {
		nets = append(nets, callclass.NewNet(info, i))
	}
	e := callclass.New(r.Policy, nets, callclass.Options{})
	if gap := e.AnyGap(); gap != "" {
		t.Errorf("not all calls are enumerated: %s", gap)
	}
	return r.Policy, e.AdmittedClasses()
}

// divisions lists rules with the classes that they divide calls into. A class is given by the tool
// with the witness, the name, and the nets that the class affects.
var divisions = map[string][]string{
	"require backup before delete\n":                   {`backup() is backup, nets [0]`, `delete() is delete, nets [0]`},
	"limit push to 1 per session\nblock push\n":        {`push() is push, nets [0 1]`},
	"block discord.timeout\n":                          {`discord() is discord, nets []`, `discord({"action":"timeout"}) is discord.timeout, nets [0]`, `discord({"action":["timeout"]}) is discord.timeout, nets [0]`, `discord.timeout() is discord.timeout, nets [0], unsure`},
	"block delete\nmap bash.command rm as delete\n":    {`bash() is bash, nets []`, `bash({"command":"rm"}) is delete, nets [0]`, `bash({"command":["rm"]}) is delete, nets [0]`, `delete() is delete, nets [0], unsure`},
	"block git*\nrequire git_status before git_push\n": {`git() is git, nets [0]`, `git_push() is git_push, nets [0 1]`, `git_status() is git_status, nets [0 1]`},
}

func TestRulesDivideCallsIntoClasses(t *testing.T) {
	for rules, want := range divisions {
		var got []string
		_, classes := enumerate(t, rules)
		for _, c := range classes {
			text := fmt.Sprintf("%s(%s) is %s, nets %v", c.Tool, c.Args, c.Name(), c.Nets())
			if c.Unsure() {
				text += ", unsure"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s divides calls into\n%q, want\n%q", rules, got, want)
		}
	}
}

// TestWitnessAffectsNetsOfItsClass checks that a class affects the same nets as the gate finds for
// its witness.
func TestWitnessAffectsNetsOfItsClass(t *testing.T) {
	for rules := range divisions {
		p, classes := enumerate(t, rules)
		for _, c := range classes {
			if c.Doubtful {
				continue
			}
			var nets []int
			for _, m := range p.Meaning(gate.Call{Tool: c.Tool, Args: []byte(c.Args)}) {
				nets = append(nets, m.Net)
			}
			if !slices.Equal(nets, c.Nets()) {
				t.Errorf("%s: %s(%s) affects the nets %v, and its class %v", rules, c.Tool, c.Args, nets, c.Nets())
			}
		}
	}
}
