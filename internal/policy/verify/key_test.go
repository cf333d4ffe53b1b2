package verify_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRandomKeys compares verify with the gate for nets with keys, explored with two values and a
// third one.
func TestRandomKeys(t *testing.T) { try(t, newKeyTrial, 25) }

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

// keyFields returns the field that keys read, by tool.
func (g *generator) keyFields() map[string]string {
	fields := make(map[string]string)
	for _, tool := range []string{"a", "b", "c"} {
		fields[tool] = g.pick("f", "f", "$.g.h")
	}
	return fields
}

// keyed returns nets with keys: for successes with the same value, freshness, taint and budgets.
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
			return tool(gate.Transition{Name: name, Inputs: []string{from}, Outputs: []string{to}, Observe: true, Deferred: true, Evidence: g.IntN(2) > 0})
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

// keyCalls returns calls of all tools with two values, with a third value, without a value, and
// with several values.
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

// playKeyed explores the calls with results of every value, and separately the calls with a single
// value.
func (tr *trial) playKeyed(g *generator, a, b gate.Tool) {
	tr.partial = true
	tr.brute = newBrute(tr.policy)
	if g.small {
		tr.leaveOut()
		tr.unheard()
	}
	tr.single = &brute{policy: tr.brute.policy}
	for i, c := range tr.brute.calls { // ticks of the clock
		tr.brute.results = append(tr.brute.results, "")
		if !severalValues(c, "") {
			tr.single.calls, tr.single.names, tr.single.results = append(tr.single.calls, c), append(tr.single.names, tr.brute.names[i]), append(tr.single.results, "")
		}
	}
	for _, c := range tr.calls {
		for _, r := range []string{`{"r":"x"}`, `{"r":"y"}`, ""} {
			if r != "" && !tr.readsResult(c.Tool) {
				continue
			}
			tr.brute.call(tr.policy, c, r)
			if !severalValues(c, r) {
				tr.single.call(tr.policy, c, r)
			}
		}
	}
	tr.brute.fresh = func(c int) bool { return !strings.Contains(string(tr.brute.calls[c].Args), "z") }
	tr.brute.explore(a, b)
	tr.single.explore(a, b)
}

// severalValues reports whether the call or its result has a value other than x.
func severalValues(c gate.Call, result string) bool {
	return strings.ContainsAny(string(c.Args)+result, "yYz")
}

// readsResult reports whether some key reads the result of the tool.
func (tr *trial) readsResult(tool string) bool {
	return slices.ContainsFunc(tr.nets, func(n gate.Net) bool {
		return slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			listed := slices.ContainsFunc(t.Tools, func(u gate.Tool) bool { return u.Name == tool || !plainName(u.Name) })
			return listed && slices.ContainsFunc(t.Key, func(f gate.Field) bool { return f.Result })
		})
	})
}

// plainName reports whether only a tool has the name.
func plainName(name string) bool { return name == "a" || name == "b" || name == "c" || name == "d" }

// hasValue reports whether the call has the value in each of the fields f and g that keys read. An
// empty value matches any value.
func (tr *trial) hasValue(c gate.Call, value string) bool {
	args := string(c.Args)
	f, g := tr.reads("f"), tr.reads("g")
	switch {
	case value == "":
		return true
	case f && !g:
		args = memberG.ReplaceAllString(args, "")
	case f && g && strings.Count(args, `"x"`)+strings.Count(args, `"y"`)+strings.Count(args, `"z"`) > strings.Count(args, value):
		return false
	}
	return strings.Contains(args, value)
}

var memberG = regexp.MustCompile(`"g":"[xyz]"`)

// reads reports whether a key reads the field.
func (tr *trial) reads(field string) bool {
	is := func(f gate.Field) bool { return f.Name() == field || strings.Contains(f.Name(), "args."+field+".") }
	return slices.ContainsFunc(tr.nets, func(n gate.Net) bool {
		return slices.ContainsFunc(n.Key, is) || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return slices.ContainsFunc(t.Key, is) })
	})
}

// forEach compares a claim about each value with the calls that have some of the values.
func (tr *trial) forEach(p verify.Proof, e verify.ForEach) {
	all := [][]string{nil}
	for range e.Key {
		var longer [][]string
		for _, one := range all {
			for _, v := range []string{"x", "y", "z"} {
				longer = append(longer, append(slices.Clone(one), v))
			}
		}
		all = longer
	}
	var each []*watcher
	for _, v := range all {
		if len(v) == 1 || v[0] != v[1] || v[0] == "x" {
			each = append(each, forValues(e, v))
		}
	}
	tr.judge(p, forValues(e, all...), each...)
}

// loose reports whether brute covers less than verify. This is so for claims that count over time
// (the values tick one after the other), over a user's sessions, and for each value of a field that
// nothing reads.
func (tr *trial) loose(p verify.Proof) bool {
	a := p.Assertion
	if e, ok := a.(verify.ForEach); ok {
		a = e.Of
		for _, k := range e.Key {
			if !slices.ContainsFunc(tr.brute.calls, func(c gate.Call) bool { return len(valuesIn(k.Field, c)) > 0 }) {
				return true
			}
		}
	}
	most, ok := a.(verify.AtMost)
	return ok && tr.keyed && (most.Per.Window > 0 || most.Per.User)
}

// unmade reports whether the step is a call that brute does not make.
func (tr *trial) unmade(s verify.Step) bool {
	return !s.Ends && s.Wait == 0 && !slices.ContainsFunc(tr.brute.calls, func(c gate.Call) bool {
		return c.Tool == s.Tool && (string(c.Args) == s.Args || s.Args == "" && string(c.Args) == "{}")
	})
}

func (b *brute) call(p *gate.Policy, c gate.Call, result string) {
	b.calls, b.names, b.results = append(b.calls, c), append(b.names, p.Names(c)), append(b.results, result)
}
