package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// chain returns a policy where each of the given calls requires the previous one.
func chain(t *testing.T, calls ...string) *gate.Policy {
	t.Helper()
	n := gate.Net{Name: "chain", Places: []string{"0"}, Initial: map[string]int{"0": 1}}
	for i, call := range calls {
		n.Places = append(n.Places, fmt.Sprint(i+1))
		n.Transitions = append(n.Transitions, gate.Transition{Name: call, Inputs: []string{fmt.Sprint(i)}, Outputs: []string{fmt.Sprint(i + 1)}, Tools: gate.Tools(call)})
	}
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// known is a toolset that maps names to input schemas.
type known map[string]string

func (k known) Names() (all []gate.Call) {
	for _, name := range slices.Sorted(maps.Keys(k)) {
		all = append(all, gate.Call{Tool: name})
	}
	return all
}

func (k known) Definition(tool string) string { return k[tool] }

func (k known) Schema(tool string) json.RawMessage { return json.RawMessage(k[tool]) }

// TestWayOutHasKnownArguments checks that a way out never uses an argument that the tool's current
// schema does not contain.
func TestWayOutHasKnownArguments(t *testing.T) {
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: "require backup before delete with same path\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	schema := func(argument string) string {
		return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"additionalProperties":false}`, argument)
	}
	tools := known{"backup": schema("path"), "delete": schema("path")}
	f := &remedyFinder{policy: result.Policy, tools: func() toolset { return tools }, met: noAgents}
	way := func() string {
		t.Helper()
		s := result.Policy.NewState(nil)
		c := gate.Call{Tool: "delete", Args: []byte(`{"path":"a.txt"}`)}
		d, _ := result.Policy.Decide(s, c, nil)
		r, ok := d.(*gate.Refusal)
		if !ok {
			t.Fatal("delete is not refused")
		}
		return f.remedy(s, c, r).Text
	}
	if got := way(); got != "Way out: call `backup` with path \"a.txt\"; after that `delete` is allowed." {
		t.Error("with the argument:", got)
	}
	tools["backup"] = schema("file_path")
	if got := way(); strings.Contains(got, "Way out") || strings.Contains(got, "with path") {
		t.Error("without the argument:", got)
	}
}

// noAgents returns an empty list, which means that no hooks have reported calls.
func noAgents() []string { return nil }

// TestWayOutThroughAgentTools covers A3: a call of an agent's built-in tool may unlock a server's
// tool. Such a call is named if hooks of the agent have reported calls; otherwise, it is not ruled
// out. A remedy rules out all calls only if agent tools cannot help either.
func TestWayOutThroughAgentTools(t *testing.T) {
	src := "map bash.command runs go test as test\nrequire test before push\nlimit pull to 1 per session\nblock drop\nlimit bid to 1 per user\nrequire gemini-cli.read_file before sync\n"
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: src}}})
	if err != nil {
		t.Fatal(err)
	}
	s := result.Policy.NewState(nil)
	for _, tool := range []string{"pull", "bid"} {
		_, delta := result.Policy.Decide(s, gate.Call{Tool: tool}, nil)
		s.Apply(delta)
	}
	const none = "No other call changes that in this session."
	for _, c := range []struct {
		met        []string
		tool, want string
		apart      bool
	}{
		{nil, "push", verify.OwnToolMay, false},
		{nil, "push", none, true}, // no agent's tools are called in this session
		{[]string{"claude-code"}, "push", none, true},
		{[]string{"claude-code"}, "bid", "No other call changes that.", true},
		{[]string{"claude-code"}, "push", "Way out: call `Bash` with {\"command\":\"go test\"} (test); after that `push` is allowed.", false},
		{nil, "pull", none, false},
		{[]string{"codex"}, "pull", none, false},
		{[]string{"claude-code"}, "sync", verify.OwnToolMay, false}, // Gemini's hooks might report calls
		{[]string{"claude-code", "gemini-cli"}, "sync", "Way out: call `read_file`; after that `sync` is allowed.", false},
		{[]string{"claude-code"}, "sync", none, true},
		{nil, "drop", "", false},
	} {
		f := &remedyFinder{policy: result.Policy, tools: func() toolset { return known{"push": "", "pull": "", "drop": "", "bid": "", "sync": ""} }, met: func() []string { return c.met }, apart: c.apart}
		call := gate.Call{Tool: c.tool}
		d, _ := result.Policy.Decide(s, call, nil)
		r, ok := d.(*gate.Refusal)
		if !ok {
			t.Fatalf("%s: %T", c.tool, d)
		}
		if got := f.remedy(s, call, r).Text; got != c.want {
			t.Errorf("%s, %q met, apart %t: %q, want %q", c.tool, c.met, c.apart, got, c.want)
		}
	}
}

// TestWayOutForAgentCall checks that a call of a server's tool is a way out for an agent's built-in
// tool only if it counts in the agent's session.
func TestWayOutForAgentCall(t *testing.T) {
	require := func(scope gate.Scope, first, before string) gate.Net {
		return gate.Net{Name: before, Scope: scope, Places: []string{"0", "1"}, Initial: map[string]int{"0": 1}, Transitions: []gate.Transition{
			{Name: first, Inputs: []string{"0"}, Outputs: []string{"1"}, Tools: gate.Tools(first)},
			{Name: before, Inputs: []string{"1"}, Outputs: []string{"1"}, Tools: gate.Tools(before)},
		}}
	}
	p, err := gate.NewPolicy([]gate.Net{
		require(gate.ScopeSession, "backup", "Write"), require(gate.ScopeSession, "Read", "Edit"), require(gate.ScopePrincipal, "count", "Bash"),
	}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState(nil)
	for _, c := range []struct {
		tool, want string
		apart      bool
	}{
		{"Write", "Way out: call `backup`; after that `Write` is allowed.", false},
		{"Write", "", true},
		{"Edit", "", true},
		{"Bash", "Way out: call `count`; after that `Bash` is allowed.", true}, // a net shared by all sessions
	} {
		f := &remedyFinder{policy: p, tools: func() toolset { return known{"backup": "", "count": ""} }, met: noAgents, apart: c.apart}
		call := gate.Call{Tool: c.tool, Also: []gate.Name{{Text: "claude-code." + c.tool, Certain: true}}}
		d, _ := p.Decide(s, call, nil)
		r, ok := d.(*gate.Refusal)
		if !ok {
			t.Fatalf("%s: %T", c.tool, d)
		}
		if got := f.remedy(s, call, r).Text; got != c.want {
			t.Errorf("%s, apart %t: %q, want %q", c.tool, c.apart, got, c.want)
		}
	}
}

// TestWayOutFollowsToolsAndReload checks that the way out uses the current policy, tools and state,
// even after a reload.
func TestWayOutFollowsToolsAndReload(t *testing.T) {
	tools := known{"a": "", "b": "", "c": ""}
	g := &guide{remedies: func(p *gate.Policy) *remedyFinder {
		return &remedyFinder{policy: p, tools: func() toolset { return tools }, met: noAgents}
	}}
	way := func(p *gate.Policy, tool string) string {
		t.Helper()
		s := p.NewState(nil)
		d, _ := p.Decide(s, gate.Call{Tool: tool}, nil)
		r, ok := d.(*gate.Refusal)
		if !ok {
			t.Fatalf("%s is not refused", tool)
		}
		w := g.way(s, gate.Call{Tool: tool}, r)
		return fmt.Sprint(w.Calls, " ", w.Sentence)
	}
	up := chain(t, "a", "b", "c")
	if got := way(up, "c"); got != "[a b] Way out: call `a`, then `b`; after that `c` is allowed." {
		t.Error(got)
	}
	if got := way(chain(t, "c", "b", "a"), "b"); got != "[c] Way out: call `c`; after that `b` is allowed." {
		t.Error("another policy:", got)
	}
	delete(tools, "b")
	if got := way(up, "c"); got != "[] No other call changes that in this session." {
		t.Error("without b:", got)
	}
}
