package verify_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// openMaps gives the tool sh more maps of the same field than are enumerated in advance.
const openMaps = `map sh.c /zz/ as n
map sh.c runs rm as m
map sh.c k1 as k1
map sh.c k2 as k2
map sh.c k3 as k3
map sh.c k4 as k4
limit k1 to 1 per session
limit k2 to 1 per session
limit k3 to 1 per session
limit k4 to 1 per session
`

// openActions contains more maps of an action than can be tried in all combinations.
const openActions = `map x.action k1 as l1
map x.action k2 as l1
map x.action k3 as l1
map x.action k4 as l1
map x.action k5 as l1
map x.action k6 as l1
map x.action k7 as l1
map x.action k9 as l9
limit l1 to 1 per session
`

// overlooked lists claims and calls that refute them, each of a kind that is easily overlooked.
var overlooked = []struct {
	name, rules, claims string
	calls               []string
	tools               []verify.Tool
	deny                bool
}{
	{name: "exempted by a map beside the one that is asked about", rules: openMaps + "block n unless m\n", claims: "never n", calls: []string{`sh{"c":"rm zz"}`}},
	{name: "evidence of a call that another map exempts", rules: openMaps + "block n unless m\nrequire n before pay\n", claims: "never pay", calls: []string{`sh{"c":"rm zz"}`, "pay"}},
	{name: "known by a map beside the one that is asked about", deny: true, rules: openMaps + "limit m to 5 per session\nrequire n before pay\n", claims: "never pay\nnever n", calls: []string{`sh{"c":"rm zz"}`, "pay"}},
	{name: "a command that more words make certain", rules: "map sh.c runs sh -c as n\nmap sh.c runs sh x as m\nblock m\nrequire human-approval before n\n", claims: "never n", calls: []string{`sh{"c":"sh -c ls"}`}},
	{name: "an empty action", rules: "require a.* before pay\nblock a.?*\n", claims: "never pay", calls: []string{`a{"action":""}`, "pay"}},
	{name: "a name like two that are named", rules: "require a? before pay\nblock aa\nblock ax\n", claims: "never pay", calls: []string{"ab", "pay"}},
	{name: "a longer name than two that are named", rules: "require *b* before pay\nblock *b* unless *a*\nblock ab\nblock ba\n", claims: "never pay", calls: []string{"xab", "pay"}},
	{name: "an action like two that are named", rules: "require a.a? before pay\nblock a.aa\nblock a.ax\n", claims: "never pay", calls: []string{`a{"action":"ab"}`, "pay"}},
	{name: "an action of a tool that another pattern matches by its end", rules: "block a*.go unless *e\nrequire a*.go before pay\n", claims: "never pay", calls: []string{`ae{"action":"go"}`, "pay"}},
	{name: "letters of two bytes", rules: "block a.?\nblock a.??\nrequire a.é* before pay\n", claims: "never pay", calls: []string{`a{"action":"éxx"}`, "pay"}},
	{name: "an action that has the name of a label", rules: "map a.f x as b.go\nblock a\nlimit b to 5 per session\nrequire b.go before pay\n", claims: "never pay", calls: []string{`b{"action":"go"}`, "pay"}},
	{name: "an action of the shorter of two tools", rules: "block \"a.b\"\nlimit a to 9 per session\nrequire a.b.c before pay\n", claims: "never pay", calls: []string{`a{"action":"b.c"}`, "pay"}},
	{name: "a tool like one that is named, by its empty action", rules: "require a.? before a.* once\nlimit a?.* to 1 per session\nblock ab unless ?\n", claims: "never a?.*", calls: []string{`aa{"action":""}`}},
	{name: "a tool of which patterns see the action, and nothing else", rules: "limit a*.go to 2 per session unless a.b\nblock ?b unless b.go\nblock a\nblock *o\n", claims: "never a*.go", calls: []string{`aa{"action":"go"}`}},
	{name: "an action that only patterns match, made up as one that a map matches", rules: "map b.action x as n\nblock n\nblock ? unless b.*\nlimit m to 1 per successful b\n", claims: "never b", calls: []string{`b{"action":"y"}`}},
	{name: "an action that has the name of a label, of a tool that nothing names", rules: "map a.f x as b.go\nblock a\nrequire b.go before pay\n", claims: "never pay", calls: []string{`b{"action":"go"}`, "pay"}},
	{name: "an action that patterns match and that has the name of a label", rules: "map a.f x as b.y\nblock ? unless b.*\nblock \"a\"\n", claims: "never b.y", calls: []string{`b{"action":"y"}`}},
	{name: "an action by two names of its tool", rules: "block a.d* unless gh_a.*e\nrequire a.d* before pay\n", claims: "never pay", calls: []string{`gh_a{"action":"de"}`, "pay"}, tools: hub},
	{name: "a map that what is not tried is the same as", rules: "map x.action k9 as n\n" + openActions + "require n before pay\n", claims: "never pay", calls: []string{`x{"action":"k9"}`, "pay"}},
	{name: "known by an action beside the one that is asked about", deny: true, rules: "map x.action runs ls as m\nlimit m to 5 per session\n" + openActions + "require l9 before pay\n", claims: "never pay", calls: []string{`x{"action":"ls k9"}`, "pay"}},
}

// hub lists a tool under three names.
var hub = []verify.Tool{{Name: "gh_a", Also: []gate.Name{{Text: "a", Certain: true}, {Text: "gh.a", Certain: true}}}}

// TestNoRefutableClaimIsProved checks that no claim is proved if a call refutes it.
func TestNoRefutableClaimIsProved(t *testing.T) {
	for _, test := range overlooked {
		t.Run(test.name, func(t *testing.T) {
			text := map[string]string{"policy.rules": test.rules, "prove": test.claims}
			if test.deny {
				text["deny"] = ""
			}
			p, o := build(t, text)
			o.Tools = test.tools
			playAll(t, p, o.Tools, test.calls)
			r := verify.Policy(p, o)
			replayAll(t, p, r)
			for _, proof := range r.Proofs {
				if proof.Result == verify.Proved {
					t.Errorf("%sproved: %+v", test.rules, proof.Assertion)
				}
			}
			last, _, _ := strings.Cut(test.calls[len(test.calls)-1], "{")
			for _, n := range r.Names {
				if n.Tool.Name == last && n.Callable == verify.Impossible {
					t.Errorf("%snever: %+v", test.rules, n)
				}
			}
		})
	}
}

// playAll makes calls that the gate must admit, each after the success of the previous one.
func playAll(t *testing.T, p *gate.Policy, tools []verify.Tool, calls []string) {
	t.Helper()
	s := p.NewState(nil)
	for _, text := range calls {
		call := callOf(text)
		for _, known := range tools {
			if known.Name == call.Tool {
				call.Also = known.Also
			}
		}
		now, ok := begin(p, s, call)
		if !ok {
			t.Fatalf("%s is refused", text)
		}
		s = settle(p, now.state, now.number, gate.Success)
	}
}

// TestPathsOfArguments checks that no constructed call treats a path to an array element as a key,
// or has a single value where a path leads further.
func TestPathsOfArguments(t *testing.T) {
	for _, rules := range []string{
		"map a.$[0] runs x as o\nmap a.f y as p\nblock a unless o\nlimit p to 2 per session\n",
		"map a.$.action.k runs x as o\nrequire human-approval before a.*\nblock a unless o\n",
		"map a.$.action x as o\nrequire human-approval before a.x\nblock o\n",
	} {
		p, o := build(t, map[string]string{"policy.rules": rules, "prove": "never a"})
		replayAll(t, p, verify.Policy(p, o))
	}
}
