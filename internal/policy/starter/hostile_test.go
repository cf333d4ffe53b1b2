package starter

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/soak"
)

// hostile returns a list of tools that servers might invent to evade rules.
func hostile(random *rand.Rand, servers []string) (tools []check.ListedTool) {
	words := []string{
		"delete", "delete_", "drop", "run", "exec", "pay", "wire", "send", "get", "read", "edit", "list", "fetch", "note", "*", "?", "\n", "\x1b[2K", "#", `"`, "'", "`", "\\", "%s", "{", " or ",
		" ", ".", "é", "\u202e", "\u200b", "_", "-", "1", "as", "/", "human-approval", "a", "b", "prompt:", "secret-path", "\u00a0", "ｄｅｌｅｔｅ",
	}
	schemas := []string{
		``, `null`, `{}`, `[]`, `7`, `{"properties":[]}`, `{"properties":{"path":true}}`,
		`{"properties":{"path":{"type":"string"}},"required":["path"]}`,
		`{"properties":{"path":{"type":["string","null"]},"a\nb":{"type":"string"}},"required":["path","a\nb"]}`,
		`{"properties":{"amount":{"type":"number"},"\" or x":{"type":"number"}},"required":["amount"]}`,
		`{"properties":{"command":{"type":"string"}}}`,
		`{"properties":{"files":{"type":"array","items":{"properties":{"path":{"type":"string"}}}}},"required":"files"}`,
		`{"properties":{"id":{"type":"string"},"as":{"type":"string"},"$.x":{"type":"string"}},"required":["id","as","$.x"]}`,
	}
	hints := []string{``, `{"readOnlyHint":true}`, `{"readOnlyHint":false}`, `{"destructiveHint":true}`, `{"destructiveHint":false,"readOnlyHint":true}`, `{"openWorldHint":true}`, `7`, `{"readOnlyHint":"yes"}`}
	have := map[string]bool{}
	for range 1 + random.IntN(10) {
		name := ""
		for range 1 + random.IntN(4) {
			name += words[random.IntN(len(words))]
		}
		server := servers[random.IntN(len(servers))]
		if have[server+"_"+name] {
			continue
		}
		have[server+"_"+name] = true
		tools = append(tools, check.ListedTool{
			Exposed: server + "_" + name, Bare: name, Canonical: server + "." + name,
			InputSchema: json.RawMessage(schemas[random.IntN(len(schemas))]), Annotations: json.RawMessage(hints[random.IntN(len(hints))]),
		})
	}
	return tools
}

// TestHarmfulToolsNeedApproval checks that the first call of a harmful tool is refused or requires
// approval, whatever the tool's name is, under both defaults.
func TestHarmfulToolsNeedApproval(t *testing.T) {
	from, count := soak.Range(t, 60)
	for seed := from; seed < from+uint64(count); seed++ { //nolint:gosec // count is not negative
		random := rand.New(rand.NewPCG(seed, 2))
		fallback := []string{"", "default: allow\n", "default: deny\n"}[seed%3]
		c := load(t, []byte("version: 1\nmcpServers: { a: { command: ./a }, a_b: { command: ./b }, \"c d\": { command: ./c } }\n"+fallback))
		tools := hostile(random, []string{"a", "a_b", "c d"})
		plan, err := New(t.Context(), c, tools, nil, check.Effort{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, tools)
		}
		after, err := plan.parseConfig()
		if err != nil {
			t.Fatal(err)
		}
		source := policy.FromConfig(after)
		source.Mode = "enforce"
		result, err := policy.Build(source)
		if err != nil {
			t.Fatal(err)
		}
		named := check.CallsUnder(after)
		for _, tool := range tools {
			kind := toolkind.Classify(toolkind.ListedTool{Name: tool.Bare, Schema: tool.InputSchema, Annotations: tool.Annotations}, nil).Kind
			if kind != toolkind.Unclear && kind < toolkind.Publish {
				continue
			}
			call := named(tool.Canonical)
			if d := sandbox.New(result.Policy, result.Active).Session("").Call(call, sandbox.Nobody); passes(d) {
				t.Errorf("seed %d: %q, %v, passes: %+v\n%s\nleft out:\n%s", seed, tool.Exposed, kind, call, plan.Rules, strings.Join(plan.Left, "\n"))
			}
		}
	}
}

func passes(d gate.Decision) bool {
	switch d.(type) {
	case *gate.Refusal, *gate.Ask:
		return false
	}
	return true
}

// TestFaultyNamesKeepOtherRules checks that a tool with an invisible name, or named like a label,
// does not remove a rule about another tool.
func TestFaultyNamesKeepOtherRules(t *testing.T) {
	c := load(t, []byte("version: 1\nmcpServers: { a: { command: ./a }, b: { command: ./b } }\ndefault: allow\n"))
	plan, err := New(t.Context(), c, []check.ListedTool{
		{Name: "a_delete_note"}, {Name: "a_secret-path"}, {Name: "a_dr\u200bop"},
		{Name: "b_read", InputSchema: json.RawMessage(`{"properties":{"path":{"type":"string"}},"required":["path"]}`)},
	}, nil, check.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"require human-approval before a_delete_note\n", "require human-approval before a_dr?op\n", "require human-approval before a_secret-path\n",
		"as secret-path-2\n", "prove never a_delete_note, a_secret-path without human-approval\n",
	} {
		if !strings.Contains(plan.Rules, line) {
			t.Errorf("%s is not there:\n%s\n%s", line, plan.Rules, plan.Left)
		}
	}
}

// TestRemoveLinesSplitsNames checks that a line with several names is split into one line per name
// before any of them is omitted.
func TestRemoveLinesSplitsNames(t *testing.T) {
	p := &proposal{}
	p.addGroup("c", formatLines("require human-approval before %s", []string{"a", "b"})...)
	if left, again := p.removeLines(map[int]bool{6: true}); len(left) > 0 || !again {
		t.Errorf("%q, %v", left, again)
	}
	if left, again := p.removeLines(map[int]bool{7: true}); len(left) != 1 || left[0] != "require human-approval before b" || !again {
		t.Errorf("%q, %v", left, again)
	}
	if left, again := p.removeLines(nil); len(left) > 0 || again || joined(p.rules[0].lines) != "require human-approval before a" {
		t.Errorf("%q, %v: %+v", left, again, p.rules)
	}
}
