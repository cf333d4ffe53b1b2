package verify_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

const (
	moreStates = "there are more states than were explored"
	someTexts  = "no arguments are known that match some of the maps together"
)

// TestReasons compares the reasons for unknown results about small policies, in report order.
func TestReasons(t *testing.T) {
	nets := map[string]string{"judged": `
- name: guard
  places: [p]
  initialMarking: { p: 1 }
  transitions: [{ name: w, inputs: [p], outputs: [p], tools: [write] }]
  validate: [{ tools: [write], require: "false", reason: no }]
`, "failure": `
- name: job
  places: [ready, done]
  initialMarking: { ready: 1 }
  transitions:
    - { name: start, inputs: [ready], outputs: [done], tools: [start], deferred: true }
    - { name: recover, inputs: [ready], outputs: [ready], tools: [recover] }
- name: log
  places: [none, begun]
  initialMarking: { none: 1 }
  transitions:
    - { name: start, inputs: [none], outputs: [begun], tools: [start] }
    - { name: recover, inputs: [begun], outputs: [none], tools: [recover] }
`}
	known := func(o *verify.Options) { o.Known = true }
	stopped := func(o *verify.Options) { o.Stop = func() bool { return true } }
	late := func(o *verify.Options) { // starts after the kinds of calls were counted
		asked := 0
		o.Stop = func() bool { asked++; return asked > 300 }
	}
	tests := []struct {
		name, rules, prove string
		change             func(*verify.Options)
		want               []string
	}{
		{"known", "require backup before delete\n", "never delete before backup\n", nil, nil},
		{"no text", "map sh.c /^x{9}y?$/ as long\nmap sh.c /x{3}/ as short\nblock short\nlimit long to 1 per session\n", "never long\n", known, []string{"no arguments of sh are known that are long (policy.rules:1) and nothing else that matters here", someTexts}},
		{"tools", "map sh.c rm as delete\nrequire human-approval before sh\nblock run\nlimit run.x to 1 per session\n", "never delete without approval\nalways-possible run.x\n", nil, []string{
			"only if there is a tool run.x", "it does not hold if there is a tool delete", "it depends on whether there is a tool run.x",
		}},
		{"too long", "require backup before delete\n", "at-most 100 delete\n", nil, []string{"it takes more calls than were tried"}},
		{"no run", "require a before *\nlimit a to 2 per successful c\n", "at-most 2 b\n", nil, []string{"a run could not be built from the states that were found"}},
		{"no net", "limit a to 1 per session\n", "conserved x\nexclusive limit-a-1 nowhere\n", nil, []string{`no enforced net "x"`, `the net "limit-a-1" has no place "nowhere"`}},
		{"many places", "limit a to 1 per session\n", "exclusive limit-a-1" + strings.Repeat(" ready", 33) + "\n", nil, []string{"more than 32 places cannot be explored together"}},
		{"failure", "", "reachable recover\n", nil, []string{"only calls that fail or overlap lead there"}},
		{"judged", "", "never write\n", nil, []string{"refuting it takes a call to write that the net guard accepts, and it accepted none of those that were tried"}},
		{"states", hard(), "", func(o *verify.Options) { o.States = 100 }, []string{moreStates}},
		{"time", "limit a to 1 per session\n", "never a\n", stopped, []string{"the time ran out"}},
		{"actions", each(10, "map x.action /a#/ as l#\nlimit l# to 1 per session\n"), "", known, []string{
			"no arguments of x are known that are l8 (policy.rules:17) and nothing else that matters here",
			"no arguments of x are known that are l9 (policy.rules:19) and nothing else that matters here",
			"the maps of x.action can match in more ways than were tried",
			"the calls of x can have these names together in more ways than were tried: actions", someTexts,
		}},
		{"many maps", each(12, "map x.f /a#.?b/ as l#\n") + "block l*\nlimit x to 1 per session\n", "never l*\n", known, []string{
			"the calls of x can have these names together in more ways than were tried: l0, l1, l2, l3, l4, l5, l6, l7 and 4 more",
		}},
		{"no map", "map x when \"tool == 'x'\" as always\nblock always\n", "never x\n", known, []string{"no arguments of x are known that match none of the maps", someTexts}},
		{"names", each(12, "block *@*\n"), "never push\n", nil, []string{"the patterns *a*, *b*, *c*, *d*, *e*, *f*, *g*, *h*, *i*, *j*, *k*, *l* can match names in more ways than were tried"}},
		{"names of actions", each(12, "block *.*@*\n"), "", nil, []string{
			"the patterns *.*a*, *.*b*, *.*c*, *.*d*, *.*e*, *.*f*, *.*g*, *.*h*, *.*i*, *.*j*, *.*k*, *.*l* can match names in more ways than were tried",
		}},
		{"kinds", manyKinds("v") + manyKinds("w") + manyKinds("x") + manyKinds("y") + manyKinds("z"), "", late, []string{"the policy has more than 8192 kinds of calls", "the time ran out"}},
		{"time for kinds", manyKinds("v") + manyKinds("w"), "never v\n", stopped, []string{"the time ran out"}},
		{"time for maps", each(12, "map x.f /a#.?b/ as l#\n") + "block l*\n", "never l*\n", stopped, []string{"the time ran out"}},
		{"time for names", each(12, "block *@*\n"), "never push\n", stopped, []string{"the time ran out"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, o := build(t, map[string]string{"policy.rules": test.rules, "prove": test.prove, "nets.yaml": nets[test.name]})
			if test.change != nil {
				test.change(&o)
			}
			if diff := cmp.Diff(test.want, reasons(p, o)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestReasonsOfNets compares the reasons for unknown results about hand-written nets.
func TestReasonsOfNets(t *testing.T) {
	waits := gate.Net{Name: "wide", Places: []string{"p"}, Initial: map[string]int{"p": 1}}
	for i := range 65 {
		waits.Transitions = append(waits.Transitions, gate.Transition{
			Name: fmt.Sprintf("t%d", i), Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools(fmt.Sprintf("x%d", i)), Deferred: true, Observe: true,
		})
	}
	tests := []struct {
		net  gate.Net
		want []string
	}{
		{gate.Net{
			Name: "named", Places: []string{"p"}, Mapper: func(gate.Call) []gate.Name { return nil },
			Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("x")}},
		}, []string{"the net named names calls by a function"}},
		{waits, []string{"the net wide has more than 64 observers that wait"}},
	}
	for _, test := range tests {
		p, err := gate.NewPolicy([]gate.Net{test.net}, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, reasons(p, verify.Options{})); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// reasons returns all reasons for unknown results in a report, without duplicates.
func reasons(p *gate.Policy, o verify.Options) []string {
	r := verify.Policy(p, o)
	var all []string
	for _, n := range r.Names {
		all = append(all, n.Why)
	}
	for _, proof := range r.Proofs {
		all = append(all, proof.Why)
	}
	for _, g := range r.Groups {
		all = append(all, g.Deadlock.Why)
	}
	all = append(all, r.Gaps...)
	_, why := verify.Calls(p, o)
	all = append(all, why)
	var once []string
	for _, text := range all {
		if text != "" && !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	return once
}

// each returns text repeated for n numbers (#) and letters (@).
func each(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("#", strconv.Itoa(i), "@", string(rune('a'+i))).Replace(text))
	}
	return b.String()
}

// hard returns a policy with many states.
func hard() string {
	return star(6) + each(6, "limit a# to 2 per deploy\n")
}

// manyKinds returns rules that distinguish two thousand kinds of calls of a tool.
func manyKinds(tool string) string {
	return strings.ReplaceAll(each(5, "map TOOL.f f# as TOOL-f#\nblock TOOL-f#\n")+each(4, "map TOOL.g g# as TOOL-g#\nblock TOOL-g#\n"), "TOOL", tool)
}
