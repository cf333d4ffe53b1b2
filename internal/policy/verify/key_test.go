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

// TestRandomKeys holds verify to the gate in policies of nets with keys, played with
// two values and a third.
func TestRandomKeys(t *testing.T) { soak(t, newKeyTrial, 40) }

func newKeyTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12)), names: []string{"a", "b", "c"}, small: small(seed)}
	fields := g.keyFields()
	var rules []string
	most := 3
	if g.small {
		g.names, most = g.names[:2], 2
	}
	for range g.IntN(most) {
		switch g.IntN(5) {
		case 0, 1:
			rules = append(rules, fmt.Sprintf("require %s before %s", g.pick(g.names...), g.pick(g.names...)))
		case 2, 3:
			rules = append(rules, fmt.Sprintf("limit %s to %d per session", g.pick(g.names...), 1+g.IntN(3)))
		default:
			rules = append(rules, fmt.Sprintf("require human-approval before %s", g.pick(g.names...)))
		}
	}
	src := strings.Join(rules, "\n") + "\n"
	return g.trial(&trial{t: t, seed: seed, rules: src, known: true, keyed: true, alone: true, fields: fields, calls: keyCalls(fields), add: g.keyed(fields)})
}

// keyFields is the field of each tool that keys read.
func (g *generator) keyFields() map[string]string {
	fields := make(map[string]string)
	for _, tool := range []string{"a", "b", "c"} {
		fields[tool] = g.pick("f", "f", "$.g.h")
	}
	return fields
}

// keyed are nets with keys: of the same thing, fresh, tainted, budgets.
func (g *generator) keyed(fields map[string]string) (nets []gate.Net) {
	most := 2
	if g.small {
		most = 1
	}
	for i := range 1 + g.IntN(most) {
		n := gate.Net{Name: fmt.Sprint("keyed", i), Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}}
		tool := func(t gate.Transition) gate.Transition {
			name := g.pick(g.names...)
			t.Tools, t.Key = gate.Tools(name), []gate.Field{{Path: fields[name]}}
			if t.Observe && t.Deferred && g.IntN(4) == 0 {
				t.Key = []gate.Field{{Path: "$.r", Result: true}}
			}
			return t
		}
		watch := func(name, from, to string) gate.Transition {
			return tool(gate.Transition{Name: name, Inputs: []string{from}, Outputs: []string{to}, Observe: true, Deferred: true})
		}
		spoil := func(name, from, to string) gate.Transition {
			return tool(gate.Transition{Name: name, Inputs: []string{from}, Outputs: []string{to}, Observe: true, Spoils: true})
		}
		switch g.IntN(5) {
		case 0:
			n.Transitions = []gate.Transition{watch("first", "p", "q"), tool(gate.Transition{Name: "then", Inputs: []string{"q"}, Outputs: []string{g.pick("p", "q")}})}
		case 1:
			n.Transitions = []gate.Transition{watch("first", "p", "q"), tool(gate.Transition{Name: "then", Inputs: []string{"q"}, Outputs: []string{"p"}}), spoil("spoil", "q", "p")}
		case 2:
			n.Initial["q"] = 1 + g.IntN(2)
			n.Transitions = []gate.Transition{tool(gate.Transition{Name: "do", Inputs: []string{"p", "q"}, Outputs: []string{"p"}, Manual: g.IntN(4) == 0})}
			if g.IntN(2) == 0 {
				n.Transitions = append(n.Transitions, watch("refill", "p", "q"))
			}
		case 3:
			n.Transitions = []gate.Transition{spoil("taint", "p", "q"), watch("clear", "q", "p"), tool(gate.Transition{Name: "clean", Inputs: []string{"p"}, Outputs: []string{"p"}})}
			if g.IntN(3) == 0 {
				ask := n.Transitions[2]
				ask.Name, ask.Inputs, ask.Outputs, ask.Manual = "ask", []string{"q"}, []string{"q"}, true
				n.Transitions = append(n.Transitions, ask)
			}
		default: // at once
			n.Transitions = []gate.Transition{tool(gate.Transition{Name: "do", Inputs: []string{"p"}, Outputs: []string{"p"}, Deferred: true, Release: g.IntN(5) == 0})}
		}
		nets = append(nets, n)
	}
	return nets
}

// keyCalls are calls of all tools with two values, a third, none and several.
func keyCalls(fields map[string]string) []gate.Call {
	var calls []gate.Call
	for _, tool := range []string{"a", "b", "c"} {
		form := `{"f":%s}`
		if fields[tool] != "f" {
			form = `{"g":{"h":%s}}`
		}
		for _, value := range []string{`"x"`, `"y"`, `"z"`, `["x","y"]`} {
			calls = append(calls, gate.Call{Tool: tool, Args: []byte(fmt.Sprintf(form, value))})
		}
		calls = append(calls, gate.Call{Tool: tool, Args: []byte("{}")})
	}
	return calls
}

// playKeyed plays the calls with results of every value, and those of one value alone.
func (tr *trial) playKeyed(g *generator, a, b gate.Tool) {
	tr.partial = true
	tr.brute = newBrute(tr.policy)
	tr.single, tr.each = newBrute(tr.policy), newBrute(tr.policy)
	if g.small {
		tr.leaveOut()
		tr.unheard()
	}
	tr.each.about = func(c int) bool { return strings.Contains(string(tr.each.calls[c].Args), `"x"`) }
	for _, c := range tr.calls {
		for _, r := range []string{`{"r":"x"}`, `{"r":"y"}`, ""} {
			if r != "" && !tr.readsResult(c.Tool) {
				continue
			}
			tr.brute.call(tr.policy, c, r)
			tr.each.call(tr.policy, c, r)
			if !strings.ContainsAny(string(c.Args)+r, "yz") {
				tr.single.call(tr.policy, c, r)
			}
		}
	}
	tr.brute.fresh = func(c int) bool { return !strings.Contains(string(tr.brute.calls[c].Args), "z") }
	tr.brute.explore(a, b)
	tr.single.explore(a, b)
	tr.each.played = tr.brute.table()
	tr.each.explore(a, b)
}

// readsResult reports whether some key is in the result of the tool.
func (tr *trial) readsResult(tool string) bool {
	return slices.ContainsFunc(tr.nets, func(n gate.Net) bool {
		return slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			listed := slices.ContainsFunc(t.Tools, func(u gate.Tool) bool { return u.Name == tool || !plainName(u.Name) })
			return listed && slices.ContainsFunc(t.Key, func(f gate.Field) bool { return f.Result })
		})
	})
}

// plainName reports whether a tool alone has the name.
func plainName(name string) bool { return name == "a" || name == "b" || name == "c" || name == "d" }

// forEach compares a claim about each value with what calls of one of them do.
func (tr *trial) forEach(p verify.Proof, e verify.ForEach) {
	b := tr.each
	broken := false
	var about gate.Tool
	switch a := e.Of.(type) {
	case verify.NeverBefore:
		about, broken = a.Tool, b.admitted(func(k, c int) bool { return b.has(c, a.Tool, false) && b.states[k].mon == 0 })
	case verify.AtMost:
		about, broken = a.Tools[0], b.most(a.Tools[0], a.Count+1) > a.Count
	}
	if p.Result == verify.Proved && broken {
		tr.errorf("for each: %+v is broken", p)
	}
	if p.Result == verify.Refuted {
		tr.reaches(about, p.Counterexample)
	}
}

func (b *brute) call(p *gate.Policy, c gate.Call, result string) {
	b.calls, b.names, b.results = append(b.calls, c), append(b.names, p.Names(c)), append(b.results, result)
}
