package verify_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// fieldsOfWords are texts and other values that words and regular expressions distinguish.
var fieldsOfWords = []string{"", `"x"`, `"y"`, `"xx"`, `"x y"`, `["xx"]`, `["x"]`, `["y"]`, `["x","y"]`}

// enumerate keeps one call of each set of calls that neither the gate nor the claims distinguish.
func (tr *trial) enumerate(claimed ...gate.Tool) {
	seen, spoken := map[string]bool{}, tr.spoken(claimed)
	for _, call := range tr.calls {
		names := tr.policy.Names(call)
		key := fmt.Sprint(relevant(names, spoken), tr.policy.Meaning(call))
		for _, t := range claimed {
			key += fmt.Sprint(carried(call, names, t, false), carried(call, names, t, true))
		}
		if !seen[key] {
			seen[key] = true
			tr.brute.calls = append(tr.brute.calls, call)
			tr.brute.names = append(tr.brute.names, names)
		}
	}
}

// plainCalls returns calls of all tools with all possible values of field f, in JSON. If the tools
// are unknown, tools may be named like labels and actions.
func plainCalls(src string, fields []string, known bool) []gate.Call {
	tools := []string{"a", "b", "c", "d", "ax", "xb", "axb", "q", "qq", "a.x", "x.go", "a.x.go", "a.xb", "mx", "ox", "x0", "ax0", "m0", "o0x", "0", "b0", "a.0", "m.go", "o.go", "mb", "ob"}
	if !known {
		tools = append(tools, "a.stop", "b.go", "o0", "o1", "o2", "o3", "o4")
	}
	if !known || strings.Contains(src, `"a.go"`) {
		tools = append(tools, "a.go") // a tool if quoted, an action of a otherwise
	}
	for _, label := range []string{"m", "n", "o"} {
		if !known || !strings.Contains(src, " as "+label) {
			tools = append(tools, label)
		}
	}
	var calls []gate.Call
	for _, tool := range tools {
		for _, f := range fields {
			for _, action := range []string{"", `"go"`, `"stop"`, `"zap"`, `"zip.go"`, `["go"]`, `["stop"]`, `["go","stop"]`} {
				args := strings.TrimPrefix(field("f", f)+field("action", action), ",")
				calls = append(calls, gate.Call{Tool: tool, Args: []byte("{" + args + "}")})
			}
		}
	}
	return calls
}

// spoken returns the names mentioned in the policy or in a claim.
func (tr *trial) spoken(claimed []gate.Tool) map[string]bool {
	spoken := map[string]bool{}
	for _, t := range claimed {
		spoken[t.Name] = true
	}
	for _, n := range tr.nets {
		for _, t := range n.Transitions {
			for _, tool := range slices.Concat(t.Tools, t.Unless) {
				spoken[tool.Name] = true
			}
		}
		for _, f := range n.Free {
			spoken[f] = true
		}
	}
	for _, t := range []string{"a", "b", "c", "a.go", "a.stop", "b.go", "m", "n", "o", "o0", "o1"} {
		spoken[t] = true
	}
	return spoken
}

// relevant removes names that are not mentioned anywhere.
func relevant(names []gate.Name, spoken map[string]bool) []gate.Name {
	return slices.DeleteFunc(slices.Clone(names), func(n gate.Name) bool { return !spoken[n.Text] })
}
