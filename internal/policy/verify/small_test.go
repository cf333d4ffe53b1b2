package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// largeEach is the number of random policies per large one. Most errors show up with a few rules
// about two tools, and many more small policies can be explored in the same time.
const largeEach = 20

func small(seed uint64) bool { return seed%largeEach != 0 }

// fewCalls returns calls like those of plainCalls, with the few tools and values that small
// policies distinguish.
func fewCalls(src string) []gate.Call {
	tools, actions := []string{"a", "b", "c", "d", "ax"}, []string{""}
	for _, label := range []string{"m", "n"} {
		if !strings.Contains(src, " as "+label) {
			tools = append(tools, label)
		}
	}
	if strings.Contains(src, "a.") {
		actions = []string{"", `"go"`, `"stop"`, `["go","stop"]`}
	}
	var calls []gate.Call
	for _, tool := range tools {
		for _, f := range []string{"", `"x"`, `"y"`, `["x","y"]`} {
			for _, action := range actions {
				args := strings.TrimPrefix(field("f", f)+field("action", action), ",")
				calls = append(calls, gate.Call{Tool: tool, Args: []byte("{" + args + "}")})
			}
		}
	}
	return calls
}

// plainCalls returns the calls of a policy, and whether no tools have the names of labels.
func (g *generator) plainCalls(src string, seed uint64) (calls []gate.Call, known bool) {
	if g.small {
		return fewCalls(src), true
	}
	known = toolsKnown(seed)
	return plainCalls(src, fieldsOfWords, known), known
}

// fewClaims keeps the first two claims and a few of the others, using a separate random source.
func fewClaims(seed uint64, all []verify.Assertion) []verify.Assertion {
	own := rand.New(rand.NewPCG(seed, 31))
	rest := slices.Clone(all[2:])
	own.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
	return append(slices.Clip(all[:2]), rest[:min(5, len(rest))]...)
}

// leaveOut omits either the calls with an array or those without a value, because most policies do
// not need both and have fewer states then. A claim about a run with an omitted call is not
// compared with these states; the run only needs to be replayable.
func (tr *trial) leaveOut() {
	own := rand.New(rand.NewPCG(tr.seed, 32))
	keyed := slices.ContainsFunc(tr.calls, func(c gate.Call) bool { return strings.Contains(string(c.Args), `["x","y"]`) })
	if keyed && own.IntN(3) > 0 {
		tr.left = append(tr.left, `["x","y"]`)
	}
	if keyed && own.IntN(3) > 0 {
		tr.left = append(tr.left, "{}")
	}
	tr.calls = slices.DeleteFunc(slices.Clone(tr.calls), func(c gate.Call) bool { return tr.leftOut(string(c.Args)) })
}

func (tr *trial) leftOut(args string) bool {
	return slices.ContainsFunc(tr.left, func(form string) bool { return strings.Contains(args, form) || form == "{}" && args == "" })
}

// among runs compare for claims with the given runs as evidence. If the runs contain omitted calls,
// or combinations of values that no call of brute has, brute does not cover them.
func (tr *trial) among(compare func(), runs ...verify.Trace) {
	beyond := slices.ContainsFunc(slices.Concat(runs...), func(s verify.Step) bool {
		return !s.Ends && s.Wait == 0 && (tr.leftOut(s.Args) || tr.left != nil && strings.Contains(s.Args, "[") || tr.more != nil && tr.unmade(s))
	})
	tr.stats[fmt.Sprint("beyond ", beyond)]++
	if !beyond {
		compare()
		return
	}
	all := []*brute{tr.brute, tr.single}
	closed, sampled := make([]bool, len(all)), make([]bool, len(all))
	for i, b := range all {
		closed[i], sampled[i] = b.closed, b.sampled
		b.closed, b.sampled = false, true
	}
	compare()
	for i, b := range all {
		b.closed, b.sampled = closed[i], sampled[i]
	}
}

// unheard keeps one call of each tool that nothing lists, because no net distinguishes the calls of
// such a tool.
func (tr *trial) unheard() {
	heard := map[string]bool{}
	for _, n := range tr.nets {
		for _, m := range n.Maps {
			heard[m.Tool] = true
		}
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				if strings.ContainsAny(tool.Name, "*?") {
					return
				}
				heard[tool.Name] = true
			}
		}
		for _, p := range n.Phases {
			for _, tool := range p.Tools {
				heard[tool.Name] = true
			}
		}
	}
	for _, a := range tr.o.Prove { // claims do not distinguish these calls either
		hear(heard, a)
	}
	if strings.Contains(tr.rules, "map ") {
		return
	}
	seen := map[string]bool{}
	tr.calls = slices.DeleteFunc(slices.Clone(tr.calls), func(c gate.Call) bool {
		again := seen[c.Tool]
		seen[c.Tool] = true
		return again && !heard[c.Tool]
	})
}

// hear records the tools whose calls the claim distinguishes.
func hear(heard map[string]bool, a verify.Assertion) {
	switch a := a.(type) {
	case verify.Each:
		for _, of := range a.Of {
			hear(heard, of)
		}
	case verify.ForEach:
		switch of := a.Of.(type) {
		case verify.NeverBefore:
			heard[of.Tool.Name], heard[of.First.Name] = true, true
		case verify.AtMost:
			heard[of.Per.Call.Name] = true
			for _, tool := range of.Tools {
				heard[tool.Name] = true
			}
		}
	}
}
