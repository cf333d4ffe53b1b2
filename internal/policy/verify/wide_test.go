package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRandomFields compares verify with the gate for tools that are mapped by several fields of
// different kinds and that have both a canonical and a bare name.
func TestRandomFields(t *testing.T) { try(t, newWideTrial, 2) }

// A wide policy reads two fields and a path of the same tool.
type wide struct {
	rules string
	known bool // the tools are known: gh_a is the tool a of the upstream gh
}

// values of the fields that the maps of a wide policy read, in JSON; empty if the field is missing
var wideFields = []argument{
	{"f", []string{"", `"ls"`, `"rm"`, `"ls; rm"`, `"ls; true"`, `"$x"`, `["ls"]`, `"true"`, `"ls; ls"`, `["rm"]`, `"echo ls rm"`, `"rm ls"`, `"ls rm"`, `["ls rm"]`, `["ls","$x"]`}},
	{"s", []string{"", `"ls"`, `"rm"`, `"true"`, `["rm"]`, `"x"`}},
	{"r", []string{"", `{"k":"x"}`, `[{"k":"x"}]`, `"x"`, `{"k":"y"}`, `{"k":["x"]}`, `{"k":"x y"}`}},
	{"action", []string{"", `"go"`, `["go"]`, `"stop"`, `"zip.go"`}},
}

func newWideTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 77))}
	w := g.wide(g.IntN(3) == 0)
	return g.trial(&trial{t: t, seed: seed, rules: w.rules, known: true, calls: w.calls(), alone: true, o: verify.Options{Tools: w.tools()}})
}

// tools returns an upstream's tools if the policy's tools are known, and nil otherwise.
func (w wide) tools() []verify.Tool {
	if !w.known {
		return nil
	}
	return []verify.Tool{{Name: "gh_a", Also: canonical("gh_a")}, {Name: "b"}, {Name: "c"}}
}

// canonical returns the other names of an upstream's tool.
func canonical(tool string) []gate.Name {
	if tool != "gh_a" {
		return nil
	}
	return []gate.Name{{Text: "a", Certain: true}, {Text: "gh.a", Certain: true}}
}

// upstreamTools are the canonical names that no action can have. Read-only.
var upstreamTools = map[string]bool{"gh.a": true}

// calls returns all calls with all values of the fields.
func (w wide) calls() []gate.Call {
	tools := []string{"a", "b", "c", "d", "ax", "q", "qq", "a.x", "x.go", "a.x.go", "mx", "ox", "0", "x0", "ax0", "a.0"}
	if w.known { // the list of tools does not exclude other calls
		tools = append(tools[1:], "gh_a", "gh_q")
	}
	for _, label := range []string{"m", "n", "o"} {
		if !strings.Contains(w.rules, " as "+label) {
			tools = append(tools, label)
		}
	}
	if strings.Contains(w.rules, `"a.go"`) {
		tools = append(tools, "a.go")
	}
	return callsOf(tools, wideFields)
}

func field(name, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(",%q:%s", name, value)
}

// wideCall returns one of the calls.
func (g *generator) wideCall(w wide) gate.Call {
	tool := g.pick("a", "a", "a", "b", "c", "ax")
	if w.known {
		tool = g.pick("gh_a", "gh_a", "gh_a", "b", "c", "ax")
	}
	var args string
	for _, f := range wideFields {
		args += field(f.name, g.pick(f.values...))
	}
	return gate.Call{Tool: tool, Also: canonical(tool), Others: upstreamTools, Args: []byte("{" + strings.TrimPrefix(args, ",") + "}")}
}

// wide returns a random policy.
func (g *generator) wide(known bool) wide {
	var out []string
	for range 1 + g.IntN(3) {
		out = append(out, g.wideMap())
	}
	for range 1 + g.IntN(4) {
		out = append(out, g.wideRule())
	}
	text := strings.Join(out, "\n") + "\n"
	if known {
		text = strings.ReplaceAll(text, "map a.", "map "+g.pick("a", "gh_a")+".")
	} else {
		text = strings.NewReplacer("gh.a", "a.go", "gh_a", "b", "gh_*", "a*").Replace(text)
	}
	return wide{rules: text, known: known}
}

func (g *generator) wideMap() string {
	label := g.pick("m", "n", "o")
	switch g.IntN(7) {
	case 0, 1:
		return fmt.Sprintf("map a.f runs %s as %s", g.pick("ls", "rm"), label)
	case 2, 3:
		return fmt.Sprintf("map a.s runs %s as %s", g.pick("ls", "rm"), label)
	case 4:
		return fmt.Sprintf("map a.$.r.k %s as %s", g.pick("x", "y"), label)
	case 5:
		return fmt.Sprintf("map a.$.r[*].k %s as %s", g.pick("x", "y"), label)
	}
	return fmt.Sprintf("map a.f %s as %s", g.pick("ls", "rm", "/(ls|rm)/"), label)
}

func (g *generator) wideName() string {
	return g.pick("a", "a", "b", "m", "n", "o", "m", "n", "a.go", "*", "?", "a*", "*.go", "gh_*", "gh.a", "gh_a", `"a.go"`)
}

func (g *generator) wideUnless() string {
	if g.IntN(2) == 0 {
		return ""
	}
	names := []string{g.pick("m", "n", "a", "b", "a.go", "?", "a*", `"a"`, "gh_*", "a.*", "gh.a")}
	if g.IntN(3) == 0 {
		names = append(names, g.pick("m", "b", "a.go"))
	}
	return " unless " + strings.Join(slices.Compact(names), ", ")
}

func (g *generator) wideRule() string {
	switch g.IntN(10) {
	case 0, 1, 2:
		return fmt.Sprintf("require %s before %s%s%s", g.wideName(), g.wideName(), g.pick("", "", " once"), g.wideUnless())
	case 3:
		return fmt.Sprintf("limit %s to %d per session%s", g.wideName(), 1+g.IntN(2), g.wideUnless())
	case 4, 5:
		return fmt.Sprintf("limit %s to %d per %s%s%s", g.wideName(), 1+g.IntN(2), g.pick("", "successful "), g.wideName(), g.wideUnless())
	case 6:
		return fmt.Sprintf("require human-approval before %s%s", g.wideName(), g.wideUnless())
	case 7:
		return fmt.Sprintf("shadow block %s", g.wideName())
	}
	return fmt.Sprintf("block %s%s", g.wideName(), g.wideUnless())
}
