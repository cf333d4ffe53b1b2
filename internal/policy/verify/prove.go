package verify

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// An Assertion is a claim about a policy: [Never], [NeverBefore],
// [NeverWithoutApproval], [AtMost], [Reachable], [AlwaysPossible],
// [Conserved], [Exclusive], [DeadlockFree] or [NoTerminalStates].
type Assertion interface {
	tools() []gate.Tool
	prove(m *prover) Proof
}

type (
	// Never claims that no call of Tool is admitted.
	Never struct{ Tool gate.Tool }

	// NeverBefore claims that no call of Tool is admitted without a success of
	// First since the call of Tool before it.
	NeverBefore struct{ Tool, First gate.Tool }

	// NeverWithoutApproval claims that a person is asked about each call of Tool.
	NeverWithoutApproval struct{ Tool gate.Tool }

	// AtMost claims that no more than Count calls of Tool are admitted, of
	// whatever outcome.
	AtMost struct {
		Count int
		Tool  gate.Tool
	}

	// Reachable claims that successful calls lead to one of Tool.
	Reachable struct{ Tool gate.Tool }

	// AlwaysPossible claims that a call of Tool can be reached by successful
	// calls from every state that the policy can get into.
	AlwaysPossible struct{ Tool gate.Tool }

	// Conserved claims that the number of tokens in Net never changes.
	Conserved struct{ Net string }

	// Exclusive claims that no two of Places in Net are ever marked at once. Tokens
	// in flight are counted where they came from, also after an unknown outcome has
	// released them: the call may still run.
	Exclusive struct {
		Net    string
		Places []string
	}

	// DeadlockFree claims that a call that Net gates can always be reached by
	// successful calls, except where a terminal place of Net is marked.
	DeadlockFree struct{ Net string }

	// NoTerminalStates claims it without exception.
	NoTerminalStates struct{ Net string }
)

// A Proof is what came of an assertion.
type Proof struct {
	Assertion      Assertion
	Result         Result
	Counterexample Trace    // shortest; where Refuted, as far as there is a run that shows it
	Witness        Trace    // of Reachable, where Proved
	Because        []Net    // nets that cause it, of which none can be left out
	Default        bool     // where Refuted: the default denies all calls that it is about
	OneValue       []string // where Proved: fields of keys of which calls have one value only; of another nothing is said
	Why            string
	Supposed       string // where Unknown: the tool of which it depends whether it is there
}

func (a Never) tools() []gate.Tool                { return []gate.Tool{a.Tool} }
func (a NeverBefore) tools() []gate.Tool          { return []gate.Tool{a.Tool, a.First} }
func (a NeverWithoutApproval) tools() []gate.Tool { return []gate.Tool{a.Tool} }
func (a AtMost) tools() []gate.Tool               { return []gate.Tool{a.Tool} }
func (a Reachable) tools() []gate.Tool            { return []gate.Tool{a.Tool} }
func (a AlwaysPossible) tools() []gate.Tool       { return []gate.Tool{a.Tool} }
func (a Conserved) tools() []gate.Tool            { return nil }
func (a Exclusive) tools() []gate.Tool            { return nil }
func (a DeadlockFree) tools() []gate.Tool         { return nil }
func (a NoTerminalStates) tools() []gate.Tool     { return nil }

// easyStates is how many states a search looks at before others have had their turn.
const easyStates = 2000

// proofs are those of all assertions: first those that are easy, so that none
// is unknown for the time that another one takes.
func (m *prover) proofs(all []Assertion) []Proof {
	limit := m.Limit
	m.Limit = min(limit, easyStates)
	proofs := make([]Proof, len(all))
	for i, a := range all {
		proofs[i] = m.prove(a)
	}
	m.Limit = limit
	for i, a := range all {
		if proofs[i].Result == Unknown && proofs[i].Why == explore.WhyStates && !m.Stop() {
			proofs[i] = m.prove(a)
		}
	}
	return proofs
}

func (m *prover) prove(a Assertion) Proof {
	var p Proof
	if m.Stop() {
		p.Why = m.Spent()
	} else {
		p = m.proof(a)
	}
	p.Assertion = a
	return p
}

// safe is the proof that a query is never met.
func (m *prover) safe(q *explore.Query, nets ...int) Proof {
	f := m.Never(q, nets)
	p := Proof{Result: f.Result, Why: f.Why, Supposed: f.Supposed}
	switch f.Result {
	case Refuted:
		p.Counterexample = trace(explore.Tidy(f.Moves, q.Tag))
	case Proved:
		p.Because = m.named(f.Nets)
	}
	return p
}

func (a Never) prove(m *prover) Proof { return m.safe(admits(a.Tool)) }

func (a NeverBefore) prove(m *prover) Proof {
	return m.safe(&explore.Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			tag := carrying(a.Tool)(s)
			if s.Carries(a.First, true) {
				tag |= explore.Succeeded
			}
			return tag
		},
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			if tag&explore.Wanted == 0 {
				return mon, false
			}
			return 0, mon == 0
		},
		Done: func(mon uint32, tag uint8) uint32 {
			if tag&explore.Succeeded != 0 {
				return 1
			}
			return mon
		},
	})
}

func (a NeverWithoutApproval) prove(m *prover) Proof {
	return m.safe(&explore.Query{
		Sole: -1, Tag: carrying(a.Tool), Unasked: true,
		Start: func(mon uint32, tag uint8, manual bool) (uint32, bool) {
			return mon, tag&explore.Wanted != 0 && !manual
		},
	})
}

// maxCount is up to where calls are counted one by one.
const maxCount = 64

func (a AtMost) prove(m *prover) Proof {
	if n, ok := m.Budgeted(carrying(a.Tool), a.Count); ok {
		return Proof{Result: Proved, Because: m.named([]int{n})}
	}
	q := counting(a.Tool, min(a.Count, maxCount))
	if a.Count <= maxCount {
		return m.safe(q)
	}
	f := m.Never(q, nil)
	if f.Result != Refuted {
		p := m.safe(q) // fewer are never admitted
		p.Counterexample = nil
		return p
	}
	for i, mv := range f.Moves {
		if mv.Class == nil || !mv.Class.Carries(a.Tool, false) {
			continue
		}
		longer := explore.Repeat(f.Moves, i, a.Count-maxCount)
		if m.Objection(q, longer) < 0 {
			return Proof{Result: Refuted, Counterexample: trace(longer)}
		}
	}
	return Proof{Why: explore.WhyLong}
}

// counting looks for more than count calls.
func counting(t gate.Tool, count int) *explore.Query {
	return &explore.Query{
		Sole: -1, Tag: carrying(t),
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			mon += uint32(tag & explore.Wanted)
			return mon, int(mon) > count
		},
	}
}

func (a Reachable) prove(m *prover) Proof {
	n := m.callable(a.Tool)
	switch n.Callable {
	case Possible:
		return Proof{Result: Proved, Witness: n.Shortest}
	case Unsure:
		return Proof{Why: n.Why, Supposed: n.Supposed}
	case AfterFailure:
		return Proof{Result: Refuted, Why: "only calls that fail or overlap lead there"}
	}
	return Proof{Result: Refuted, Because: n.Because, Default: n.Default}
}

func (a AlwaysPossible) prove(m *prover) Proof {
	likes := func(s *callclass.Class) bool { return s.Carries(a.Tool, false) }
	classes, gap := m.ClassesFor(nil, carrying(a.Tool))
	var liked, known []int // nets
	for i, s := range classes {
		if !likes(s) {
			continue
		}
		liked = append(liked, s.Nets()...)
		if i >= len(m.Classes) || !s.Unsure() {
			known = append(known, s.Nets()...)
		}
	}
	if why := m.Yielding(m.around(liked)); why != "" {
		return Proof{Why: why}
	}
	for i, ok := range m.Attract().Ok {
		if ok && likes(m.Classes[i]) {
			return Proof{Result: Proved}
		}
	}
	if gap != "" {
		return Proof{Why: gap}
	}
	if m.deny && !slices.ContainsFunc(classes, likes) && m.Calls.AnyGap() == "" {
		return Proof{Result: Refuted, Default: true}
	}
	return m.always(m.around(known), nil, explore.TaggedGoal(likes))
}

// around are the groups of the nets.
func (m *prover) around(nets []int) []int {
	var out []int
	for _, g := range m.groups() {
		if slices.ContainsFunc(g, func(n int) bool { return slices.Contains(nets, n) }) {
			out = append(out, g...)
		}
	}
	return out
}

// ofNet is the proof about a net, if there is such a net that is enforced.
func (m *prover) ofNet(name string, prove func(net int) Proof) Proof {
	i := slices.IndexFunc(m.Nets, func(n *explore.Net) bool { return n.Info.Name == name && !n.Info.Shadow })
	if i < 0 {
		return Proof{Why: fmt.Sprintf("there is no net %q that is enforced", name)}
	}
	return prove(i)
}

func (a Conserved) prove(m *prover) Proof {
	return m.ofNet(a.Net, func(net int) Proof { return m.safe(m.Unbalanced(net), net) })
}

func (a Exclusive) prove(m *prover) Proof {
	return m.ofNet(a.Net, func(net int) Proof {
		var places []int
		for _, p := range a.Places {
			k := slices.Index(m.Nets[net].Info.Places, p)
			if k < 0 {
				return Proof{Why: fmt.Sprintf("the net %q has no place %q", a.Net, p)}
			}
			places = append(places, k)
		}
		if len(places) > explore.MaxExclusive {
			return Proof{Why: fmt.Sprintf("no more than %d places are looked at together", explore.MaxExclusive)}
		}
		return m.safe(m.Coinciding(net, places), net)
	})
}

func (a DeadlockFree) prove(m *prover) Proof {
	return m.ofNet(a.Net, func(net int) Proof { return m.lively(net, m.Nets[net].Info.Terminal) })
}

func (a NoTerminalStates) prove(m *prover) Proof {
	return m.ofNet(a.Net, func(net int) Proof { return m.lively(net, nil) })
}

// lively proves that the net can always move again, or gate a call at least,
// except where one of the places is marked.
func (m *prover) lively(net int, terminal []string) Proof {
	return m.always(m.around([]int{net}), []int{net}, m.GatedGoal(net, terminal))
}
