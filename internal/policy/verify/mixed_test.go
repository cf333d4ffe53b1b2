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

// TestRandomMixed holds verify to the gate in small policies in which the forms meet:
// keys of two fields and of expressions, with clocks, users, lists, exceptions, phases
// and budgets, and claims for each value, of lists, and over periods.
func TestRandomMixed(t *testing.T) { soak(t, newMixedTrial, 25) }

// A mixture is what the keys of a policy read, and the arguments of its calls.
type mixture struct {
	keys []string // after "for each" and "with same"
	same []string // after "with same" alone
	args []string // members, so that all have the values x, y and z
	more []string // some of these too
}

var mixtures = []mixture{
	{[]string{"f"}, []string{"f", "f", "f", "result.$.r as f"}, []string{`"f":"x"`, `"f":"y"`, `"f":"z"`}, []string{`"f":["x","y"]`}},
	{
		[]string{"f, g", "f, g", "f"}, []string{"g, f", "f as g", "f as g, g as f"},
		[]string{`"f":"x","g":"x"`, `"f":"x","g":"y"`, `"f":"y","g":"x"`, `"f":"z","g":"z"`}, []string{`"f":"x"`, `"f":["x","y"],"g":"x"`},
	},
	{[]string{`"args.f.lowerAscii()"`}, []string{`"args.f.lowerAscii()"`}, []string{`"f":"x"`, `"f":"y"`, `"f":"z"`}, []string{`"f":"X"`, `"f":"Y"`, `"f":1`}},
	{
		[]string{`"args.f.lowerAscii()", g`, `"args.f.lowerAscii()"`}, []string{`g as "args.f.lowerAscii()"`},
		[]string{`"f":"x","g":"x"`, `"f":"x","g":"y"`, `"f":"y","g":"x"`, `"f":"z","g":"z"`}, []string{`"f":"X","g":"x"`, `"g":"x"`},
	},
}

// A mixer makes one policy.
type mixer struct {
	*generator
	of    *mixture
	clock bool // there may be one more net that the clock moves
	row   bool // equal calls may count
}

func newMixedTrial(t *testing.T, seed uint64) *trial {
	m := &mixer{generator: &generator{Rand: rand.New(rand.NewPCG(seed, 41)), names: []string{"a", "b", "c"}, small: small(seed)}}
	m.names = m.names[:2+m.IntN(2)]
	m.of = &mixtures[m.IntN(len(mixtures))]
	m.clock = m.IntN(2) == 0
	m.row = !m.clock // a tick is a call of brute force
	var lines []string
	if m.IntN(5) == 0 {
		lines = append(lines, fmt.Sprintf("map %s.f %s as m", m.pick("a", "b"), m.pick("x", "y")))
		m.names = append(m.names, "m")
	}
	for range 2 + m.IntN(3) {
		lines = append(lines, m.rule())
	}
	tr := &trial{t: t, seed: seed, rules: strings.Join(lines, "\n") + "\n", known: true, keyed: true, alone: true}
	if m.IntN(3) == 0 {
		tr.add = append(tr.add, m.net())
	}
	tr.calls = m.calls(tr.rules)
	for range 3 {
		tr.more = append(tr.more, m.claim())
	}
	return m.trial(tr)
}

func (m *mixer) one() string { return m.pick(m.names...) }

// maybe is one of the texts, or none.
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
	count := 1 + m.IntN(2)
	switch m.IntN(14) {
	case 0:
		return fmt.Sprintf("require %s before %s%s%s%s", m.some(), m.some(), m.maybe(4, " once"), same, unless)
	case 1:
		return fmt.Sprintf("require %s or %s before %s%s%s", m.one(), m.one(), m.one(), same, unless)
	case 2:
		return fmt.Sprintf("require %s before %s since %s%s%s", m.one(), m.some(), m.some(), same, unless)
	case 3:
		return fmt.Sprintf("block %s after %s%s%s%s", m.some(), m.one(), m.maybe(2, " until "+m.one()), same, unless)
	case 4:
		return fmt.Sprintf("require %shuman-approval%s before %s after %s%s", m.maybe(2, "2 "), m.maybe(3, " via cli"), m.one(), m.one(), m.maybe(2, " until "+m.one()))
	case 5:
		return fmt.Sprintf("limit %s to %d at once%s%s", m.some(), count, each, unless)
	case 6:
		if m.row {
			return fmt.Sprintf("limit %s to %d in a row%s", m.pick("*", m.one()), count, unless)
		}
	case 7:
		return fmt.Sprintf("limit %s to %d of amount per %s%s", m.one(), count, scope, each)
	case 8:
		return fmt.Sprintf("limit %s to %d per %s%s%s", m.some(), count, scope, each, unless)
	case 9:
		return fmt.Sprintf("limit %s to %d per %s%s%s", m.one(), count, m.maybe(2, "successful ")+m.one(), each, unless)
	case 10, 11:
		if m.clock {
			m.clock = false
			return fmt.Sprintf("limit %s to %d per %s%s%s%s", m.some(), count, m.maybe(3, "user per "), m.pick("minute", "hour"), " for each "+key, unless)
		}
	case 12:
		return fmt.Sprintf("require %shuman-approval%s before %s%s", m.pick("", "2 "), m.maybe(3, " via cli", " via elicit"), m.some(), unless)
	}
	return m.pick("allow ", "block ", "shadow block ") + m.one()
}

// key is one of the fields that keys read as it stands, if there is one.
func (m *mixer) key() []gate.Field {
	for _, text := range []string{"f", "g"} {
		if slices.ContainsFunc(m.of.keys, func(k string) bool { return k == text || strings.HasSuffix(k, ", "+text) }) {
			return []gate.Field{{Path: text}}
		}
	}
	return nil
}

// net has phases and exceptions and, mostly, a key.
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

// calls are those of all tools with all arguments that the rules tell apart.
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
	return append(calls, gate.Call{Tool: "dd", Args: []byte("{}")}) // nor does a pattern match it
}

// claim is one for each value, of a list, or over a period.
func (m *mixer) claim() verify.Assertion {
	tool := func() gate.Tool { return gate.Tool{Name: m.one()} }
	var of verify.Assertion
	switch m.IntN(4) {
	case 0, 1:
		of = verify.NeverBefore{Tool: tool(), First: tool(), Once: m.IntN(3) == 0}
	case 2:
		of = m.atMost(tool)
	default:
		return verify.Each{Of: []verify.Assertion{m.simple(tool), m.simple(tool)}}
	}
	if m.IntN(4) == 0 {
		return of
	}
	return verify.ForEach{Of: of, Key: comparedBy(m.pick(m.of.keys...))}
}

func (m *mixer) atMost(tool func() gate.Tool) verify.Assertion {
	a := verify.AtMost{Count: 1 + m.IntN(2), Tools: []gate.Tool{tool()}}
	if other := tool(); m.IntN(3) == 0 && other != a.Tools[0] {
		a.Tools = append(a.Tools, other)
	}
	switch m.IntN(4) {
	case 0:
		if other := tool(); !slices.Contains(a.Tools, other) {
			a.Per = verify.Period{Call: other, Successful: m.IntN(2) == 0}
		}
	case 1:
		a.Per.Window = []time.Duration{time.Minute, time.Hour}[m.IntN(2)]
	}
	a.Per.User = m.IntN(4) == 0
	return a
}

// simple is a claim of a list.
func (m *mixer) simple(tool func() gate.Tool) verify.Assertion {
	switch m.IntN(6) {
	case 0:
		return verify.Never{Tool: tool()}
	case 1:
		return verify.NeverBefore{Tool: tool(), First: tool()}
	case 2:
		return verify.NeverAfter{Tool: tool(), After: tool(), Until: []gate.Tool{tool()}}
	case 3:
		return verify.NeverWithoutApproval{Tool: tool(), Approval: verify.Approval{Count: m.IntN(3)}}
	case 4:
		return verify.AlwaysPossible{Tool: tool()}
	}
	return m.atMost(tool)
}

// comparedBy is the key of a claim, as it is written.
func comparedBy(key string) (all []verify.Compared) {
	for _, text := range strings.Split(key, ", ") {
		f := gate.Field{Path: text, Source: text}
		if strings.HasPrefix(text, `"`) {
			f.Path = ""
		}
		all = append(all, verify.Compared{Field: f, Other: f})
	}
	return all
}
