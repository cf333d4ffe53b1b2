package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestRandomMixed compares verify with the gate for small policies that combine features: keys of
// two fields or with expressions, together with clocks, users, lists, exceptions, phases and
// budgets; and claims for each value, about lists, and over periods.
func TestRandomMixed(t *testing.T) { try(t, newMixedTrial, 15) }

// A mixture holds the fields that a policy's keys read, and the arguments of its calls.
type mixture struct {
	keys []string // keys for use after "for each" and "with same"
	same []string // keys for use only after "with same"
	args []string // members whose values are always x, y and z
	more []string // members; only some of them are present
}

var mixtures = []mixture{
	{[]string{"f"}, []string{"f", "f", "f", "result.$.r as f"}, []string{`"f":"x"`, `"f":"y"`, `"f":"z"`}, []string{`"f":["x","y"]`}},
	{
		[]string{"f, g", "f, g", "f"}, []string{"g, f", "f as g", "f as g, g as f"},
		[]string{`"f":"x","g":"x"`, `"f":"x","g":"y"`, `"f":"y","g":"x"`, `"f":"y","g":"y"`, `"f":"z","g":"z"`}, []string{`"f":"x"`, `"f":["x","y"],"g":"x"`},
	},
	{[]string{`"args.f.lowerAscii()"`}, []string{`"args.f.lowerAscii()"`}, []string{`"f":"x"`, `"f":"y"`, `"f":"z"`}, []string{`"f":"X"`, `"f":"Y"`, `"f":1`}},
	{
		[]string{`"args.f.lowerAscii()", g`, `"args.f.lowerAscii()"`}, []string{`g as "args.f.lowerAscii()"`},
		[]string{`"f":"x","g":"x"`, `"f":"x","g":"y"`, `"f":"y","g":"x"`, `"f":"y","g":"y"`, `"f":"z","g":"z"`}, []string{`"f":"X","g":"x"`, `"g":"x"`},
	},
}

// A mixer creates one policy.
type mixer struct {
	*generator
	of    *mixture
	said  []saying // claims about the generated rules
	clock bool     // another net with a clock may be added
	row   bool     // equal calls may be counted
}

func newMixedTrial(t *testing.T, seed uint64) *trial {
	m := &mixer{generator: &generator{Rand: rand.New(rand.NewPCG(seed, 41)), names: []string{"a", "b", "c"}, small: small(seed)}}
	m.names = m.names[:2+m.IntN(2)]
	m.of = &mixtures[m.IntN(len(mixtures))]
	m.clock = m.IntN(2) == 0
	m.row = !m.clock // brute treats ticks as calls
	var lines []string
	if m.IntN(5) == 0 {
		lines = append(lines, fmt.Sprintf("map %s.f %s as m", m.pick("a", "b"), m.pick("x", "y")))
		m.names = append(m.names, "m")
	}
	for range 2 + m.IntN(3) {
		lines = append(lines, m.rule())
	}
	tr := &trial{t: t, seed: seed, rules: strings.Join(lines, "\n") + "\n", known: true, keyed: true, alone: true, two: strings.Contains(m.of.args[0], `"g"`)}
	if m.IntN(3) == 0 {
		tr.add = append(tr.add, m.net())
	}
	tr.calls = m.calls(tr.rules)
	for range 4 {
		tr.more = append(tr.more, m.claim())
	}
	if tr.add != nil { // the net's patterns match only existing names
		all := verify.Each{}
		for _, name := range []string{"a", "b", "c", "d"} {
			all.Of = append(all.Of, verify.Never{Tool: gate.Tool{Name: name}})
		}
		tr.more = append(tr.more, all)
	}
	return m.trial(tr)
}

func (m *mixer) one() string { return m.pick(m.names...) }

// maybe returns one of the texts, or none.
func (m *mixer) maybe(of int, texts ...string) string {
	if m.IntN(of) > 0 {
		return ""
	}
	return m.pick(texts...)
}

func (m *mixer) rule() string {
	key := m.pick(m.of.keys...)
	each, same := m.maybe(2, " for each "+key), m.maybe(2, " with same "+key, " with same "+m.pick(m.of.same...))
	unless := m.maybe(8, " unless "+m.one())
	scope := m.pick("session", "session", "user")
	a, b, c, count := m.some(), m.some(), m.one(), 1+m.IntN(2)
	user := verify.Period{User: scope == "user"}
	switch m.IntN(14) {
	case 0:
		once := m.maybe(4, " once")
		m.says(same, verify.NeverBefore{Tool: m.among(b), First: m.among(a), Once: once != ""})
		return fmt.Sprintf("require %s before %s%s%s%s", a, b, once, same, unless)
	case 1:
		m.says(same, verify.NeverBefore{Tool: gate.Tool{Name: c}, First: m.among(a)})
		return fmt.Sprintf("require %s before %s%s%s", strings.ReplaceAll(a, ",", " or"), c, same, unless)
	case 2:
		m.says(same, verify.NeverBefore{Tool: m.among(b), First: gate.Tool{Name: c}})
		return fmt.Sprintf("require %s before %s since %s%s%s", c, b, a, same, unless)
	case 3:
		until := m.maybe(2, " until "+m.one())
		m.says("", verify.NeverAfter{Tool: m.among(a), After: gate.Tool{Name: c}, Until: named(strings.TrimPrefix(until, " until "))})
		return fmt.Sprintf("block %s after %s%s%s%s", a, c, until, same, unless)
	case 4:
		return m.approvedAfter()
	case 5:
		m.says("", verify.NeverWhile{Tool: m.among(a), Other: m.among(a)})
		return fmt.Sprintf("limit %s to %d at once%s%s", a, count, each, unless)
	case 6:
		if m.row {
			tool := m.pick("*", c)
			m.says("", verify.AtMost{Count: count, Tools: named(c)})
			return fmt.Sprintf("limit %s to %d in a row%s", tool, count, unless)
		}
	case 7:
		m.says(each, verify.AtMost{Count: count, Tools: named(c), Per: user})
		return fmt.Sprintf("limit %s to %d of amount per %s%s", c, count, scope, each)
	case 8:
		m.says(each, verify.AtMost{Count: count, Tools: named(a), Per: user})
		return fmt.Sprintf("limit %s to %d per %s%s%s", a, count, scope, each, unless)
	case 9:
		successful, other := m.maybe(2, "successful "), m.one()
		m.says(each, verify.AtMost{Count: count, Tools: named(c), Per: verify.Period{Call: gate.Tool{Name: other}, Successful: successful != ""}})
		return fmt.Sprintf("limit %s to %d per %s%s%s%s", c, count, successful, other, each, unless)
	case 10, 11:
		if m.clock {
			return m.timed(a, count, key, unless)
		}
	case 12:
		two := m.pick("", "2 ")
		m.says("", verify.NeverWithoutApproval{Tool: m.among(b), Approval: verify.Approval{Count: len(two)}})
		return fmt.Sprintf("require %shuman-approval%s before %s%s", two, m.maybe(3, " via cli", " via elicit"), b, unless)
	}
	m.says("", verify.Never{Tool: gate.Tool{Name: c}})
	return m.pick("allow ", "block ", "shadow block ") + c
}

func (m *mixer) approvedAfter() string {
	two, via, tool, after, until := m.maybe(2, "2 "), m.maybe(3, " via cli"), m.one(), m.one(), m.maybe(2, " until "+m.one())
	m.says("", verify.NeverAfter{
		Tool: gate.Tool{Name: tool}, After: gate.Tool{Name: after}, Until: named(strings.TrimPrefix(until, " until ")),
		Unapproved: &verify.Approval{Count: len(two), Via: strings.TrimPrefix(via, " via ")},
	})
	return fmt.Sprintf("require %shuman-approval%s before %s after %s%s", two, via, tool, after, until)
}

func (m *mixer) timed(tools string, count int, key, unless string) string {
	m.clock = false
	user, window := m.maybe(3, "user per "), m.IntN(2)
	period := verify.Period{User: user != "", Window: []time.Duration{time.Minute, time.Hour}[window]}
	m.says(" for each "+key, verify.AtMost{Count: count, Tools: named(tools), Per: period})
	return fmt.Sprintf("limit %s to %d per %s%s for each %s%s", tools, count, user, []string{"minute", "hour"}[window], key, unless)
}

// key returns one of the fields that keys read directly, if there is any.
func (m *mixer) key() []gate.Field {
	for _, text := range []string{"f", "g"} {
		if slices.ContainsFunc(m.of.keys, func(k string) bool { return k == text || strings.HasSuffix(k, ", "+text) }) {
			return []gate.Field{{Path: text}}
		}
	}
	return nil
}

// net returns a net with phases and exceptions and, mostly, a key.
func (m *mixer) net() gate.Net {
	n := m.phases()
	if m.IntN(3) > 0 {
		n.Key = m.key()
	}
	n.Scope = gate.Scope(m.IntN(2))
	for i := range n.Transitions {
		t := &n.Transitions[i]
		switch m.IntN(4) {
		case 0:
			t.Unless = gate.Tools(m.pick("a", "b"))
		case 1:
			t.Tools = []gate.Tool{{Name: "?", Kind: gate.Glob, Except: m.pick("", "a", "b")}}
		}
		t.Spoils = t.Observe && !t.Deferred && m.IntN(2) == 0
		t.Manual = !t.Observe && m.IntN(5) == 0
		if t.Manual {
			t.Approvals = m.IntN(3)
		}
	}
	if m.clock && m.IntN(2) == 0 {
		m.clock = false
		n.Transitions = append(n.Transitions, gate.Transition{Name: "later", Inputs: []string{"q"}, Outputs: []string{"p"}, Every: time.Minute})
	}
	return n
}

// calls returns the calls of all tools with all arguments that the rules distinguish.
func (m *mixer) calls(rules string) []gate.Call {
	args := append([]string{""}, m.of.args...)
	for _, a := range m.of.more {
		if m.IntN(3) == 0 {
			args = append(args, a)
		}
	}
	var calls []gate.Call
	for _, tool := range []string{"a", "b", "c", "d"} { // no rule names d
		for _, a := range args {
			amounts := []string{""}
			switch {
			case tool == "d" || tool == "c" && !slices.Contains(m.names, "c"):
			case strings.Contains(rules, "of amount"):
				amounts = []string{"", `"amount":0`, `"amount":1`}
			case strings.Contains(rules, "in a row"):
				amounts = []string{"", `"n":1`}
			}
			for _, amount := range amounts {
				text := a + "," + amount
				calls = append(calls, gate.Call{Tool: tool, Args: []byte("{" + strings.Trim(text, ",") + "}")})
			}
		}
	}
	return append(calls, gate.Call{Tool: "dd", Args: []byte("{}")}) // a tool that no pattern matches
}
