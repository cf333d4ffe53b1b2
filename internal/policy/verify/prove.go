package verify

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// An Assertion is a claim about a policy: [Never], [NeverBefore],
// [NeverWithoutApproval], [AtMost], [Reachable], [AlwaysPossible],
// [Conserved], [Exclusive], [DeadlockFree] or [NoTerminalStates].
type Assertion interface {
	tools() []gate.Tool
	prove(m *model) Proof
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
	Counterexample Trace // shortest; where Refuted, as far as there is a run that shows it
	Witness        Trace // of Reachable, where Proved
	Because        []Net // nets that cause it, of which none can be left out
	Default        bool  // where Refuted: the default denies all calls that it is about
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
func (m *model) proofs(all []Assertion) []Proof {
	limit := m.limit
	m.limit = min(limit, easyStates)
	proofs := make([]Proof, len(all))
	for i, a := range all {
		proofs[i] = m.prove(a)
	}
	m.limit = limit
	for i, a := range all {
		if proofs[i].Result == Unknown && proofs[i].Why == whyStates && !m.stop() {
			proofs[i] = m.prove(a)
		}
	}
	return proofs
}

func (m *model) prove(a Assertion) Proof {
	var p Proof
	if m.stop() {
		p.Why = m.spent()
	} else {
		p = m.judged(a.prove(m))
	}
	p.Assertion = a
	return p
}

// safe is the proof that a query is never met.
func (m *model) safe(q *query, nets ...int) Proof {
	f := m.never(q, nets)
	p := Proof{Result: f.result, Why: f.why, Supposed: f.supposed}
	switch f.result {
	case Refuted:
		p.Counterexample = m.trace(m.tidy(f.moves, q.tag))
	case Proved:
		p.Because = m.named(f.nets)
	}
	return p
}

func (a Never) prove(m *model) Proof { return m.safe(admits(a.Tool)) }

// succeeded is the bit of a tag of calls whose success a monitor waits for.
const succeeded = 2

func (a NeverBefore) prove(m *model) Proof {
	return m.safe(&query{
		sole: -1,
		tag: func(s *shape) uint8 {
			tag := carrying(a.Tool)(s)
			if s.carries(a.First, true) {
				tag |= succeeded
			}
			return tag
		},
		start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			if tag&wanted == 0 {
				return mon, false
			}
			return 0, mon == 0
		},
		done: func(mon uint32, tag uint8) uint32 {
			if tag&succeeded != 0 {
				return 1
			}
			return mon
		},
	})
}

func (a NeverWithoutApproval) prove(m *model) Proof {
	return m.safe(&query{
		sole: -1, tag: carrying(a.Tool), unasked: true,
		start: func(mon uint32, tag uint8, manual bool) (uint32, bool) { return mon, tag&wanted != 0 && !manual },
	})
}

// maxCount is up to where calls are counted one by one.
const maxCount = 64

func (a AtMost) prove(m *model) Proof {
	if n, ok := m.budgeted(a); ok {
		return Proof{Result: Proved, Because: m.named([]int{n})}
	}
	q := counting(a.Tool, min(a.Count, maxCount))
	if a.Count <= maxCount {
		return m.safe(q)
	}
	f := m.never(q, nil)
	if f.result != Refuted {
		p := m.safe(q) // fewer are never admitted
		p.Counterexample = nil
		return p
	}
	for i, mv := range f.moves {
		if mv.shape == nil || !mv.shape.carries(a.Tool, false) {
			continue
		}
		longer := repeat(f.moves, i, a.Count-maxCount)
		if m.objection(q, longer) < 0 {
			return Proof{Result: Refuted, Counterexample: m.trace(longer)}
		}
	}
	return Proof{Why: whyLong}
}

// counting looks for more than count calls.
func counting(t gate.Tool, count int) *query {
	return &query{
		sole: -1, tag: carrying(t),
		start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			mon += uint32(tag & wanted)
			return mon, int(mon) > count
		},
	}
}

// budgeted finds a net in which each call of the tool takes, for good, from a
// place that nothing fills and that begins with few enough tokens.
func (m *model) budgeted(a AtMost) (net int, ok bool) {
	if m.gap(nil, carrying(a.Tool)) != "" {
		return 0, false
	}
	for _, n := range m.nets {
		if n.info.Advisory {
			continue
		}
		for p, name := range n.info.Places {
			if tokens := n.info.Initial[name]; tokens > 0 && tokens <= a.Count && m.pays(n, p, a.Tool) {
				return n.index, true
			}
		}
	}
	return 0, false
}

func (m *model) pays(n *net, place int, t gate.Tool) bool {
	cost := make([]bool, len(n.trans))
	for i := range n.trans {
		in, out := weight(n.trans[i].In, place), weight(n.trans[i].Out, place)
		if out > in {
			return false
		}
		def := &n.info.Transitions[i]
		cost[i] = in > out && !def.Deferred && !def.Observe
	}
	kinds, gap := m.kinds([]int{n.index}, carrying(t))
	if gap != "" {
		return false
	}
	for _, s := range slices.Concat(m.shapes, kinds) {
		if !s.carries(t, false) {
			continue
		}
		paid := slices.ContainsFunc(s.touches, func(tt touch) bool {
			return tt.net == n.index && slices.ContainsFunc(n.known.list[tt.effect], func(a ask) bool {
				return !a.free && len(a.lists) > 0 && !slices.ContainsFunc(a.lists, func(t int) bool { return !cost[t] })
			})
		})
		if !paid {
			return false
		}
	}
	return true
}

func (a Reachable) prove(m *model) Proof {
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

func (a AlwaysPossible) prove(m *model) Proof {
	likes := func(s *shape) bool { return s.carries(a.Tool, false) }
	if why := m.yieldingAround(likes); why != "" {
		return Proof{Why: why}
	}
	var nets []int
	l := m.climb()
	for i, s := range m.shapes {
		if !likes(s) || s.unsure() {
			continue
		}
		if l.ok[i] {
			return Proof{Result: Proved}
		}
		nets = append(nets, s.nets()...)
	}
	kinds, gap := m.kinds(nil, carrying(a.Tool))
	if gap != "" {
		return Proof{Why: gap}
	}
	for _, s := range kinds {
		if likes(s) {
			nets = append(nets, s.nets()...)
		}
	}
	if m.deny && !slices.ContainsFunc(slices.Concat(m.shapes, kinds), likes) && m.anyGap() == "" {
		return Proof{Result: Refuted, Default: true}
	}
	return m.always(m.around(nets), nil, goal{
		likes: likes, ok: func(s *space, _ int32, c int) bool { return s.classes[c].tag&wanted != 0 },
	})
}

// around are the groups of the nets.
func (m *model) around(nets []int) []int {
	var out []int
	for _, g := range m.groups() {
		if slices.ContainsFunc(g, func(n int) bool { return slices.Contains(nets, n) }) {
			out = append(out, g...)
		}
	}
	return out
}

// find is the number of a net.
func (m *model) find(name string) int {
	return slices.IndexFunc(m.nets, func(n *net) bool { return n.info.Name == name && !n.info.Shadow })
}

func noNet(name string) Proof {
	return Proof{Why: fmt.Sprintf("there is no net %q that is enforced", name)}
}

func (a Conserved) prove(m *model) Proof {
	i := m.find(a.Net)
	if i < 0 {
		return noNet(a.Net)
	}
	start := 0
	for _, tokens := range m.nets[i].info.Initial {
		start += tokens
	}
	return m.safe(&query{sole: -1, tag: anyCall, start: goOn, state: func(s *space, words []uint32) bool {
		pos := s.view.at[i]
		n := s.nets[pos]
		base := start - m.nets[i].saved(n)
		return n.tokens(int(words[1+pos])) != base
	}}, i)
}

// saved is how many tokens a copy of the net begins without.
func (n *net) saved(c *net) int {
	if c == n {
		return 0
	}
	place := n.info.Places[c.counterAt]
	return n.info.Initial[place] - c.info.Initial[place]
}

// tokens are those of a local state, with those in flight.
func (n *net) tokens(state int) int {
	sum := 0
	for _, tokens := range n.present(&n.locals[state]) {
		sum += tokens
	}
	return sum
}

func (a Exclusive) prove(m *model) Proof {
	i := m.find(a.Net)
	if i < 0 {
		return noNet(a.Net)
	}
	n := m.nets[i]
	var places []int
	for _, p := range a.Places {
		k, ok := n.place[p]
		if !ok {
			return Proof{Why: fmt.Sprintf("the net %q has no place %q", a.Net, p)}
		}
		places = append(places, k)
	}
	if len(places) > maxExclusive {
		return Proof{Why: fmt.Sprintf("no more than %d places are looked at together", maxExclusive)}
	}
	return m.safe(&query{
		sole: -1, tag: anyCall, start: goOn,
		state: func(s *space, words []uint32) bool {
			pos := s.view.at[i]
			return bits.OnesCount32(words[0]|s.nets[pos].marked(int(words[1+pos]), places)) > 1
		},
		lost: func(s *space, mon uint32, open *openType) uint32 {
			for _, h := range open.holds {
				if s.nets[h.net].index == i {
					mon |= n.released(h.effect, places)
				}
			}
			return mon
		},
	}, i)
}

// maxExclusive is how many places fit in the state of a monitor.
const maxExclusive = 32

// marked is the set of those of the places that hold a token, tokens in flight
// counted where they came from.
func (n *net) marked(state int, places []int) (set uint32) {
	l := &n.locals[state]
	for i, p := range places {
		tokens := l.marking[p]
		for t, flights := range l.flights {
			tokens += flights * weight(n.trans[t].In, p)
		}
		if tokens > 0 {
			set |= 1 << i
		}
	}
	return set
}

// released is the set of those of the places to which an unknown outcome gives
// back tokens though the call may still run.
func (n *net) released(hold int, places []int) (set uint32) {
	for _, t := range n.held.list[hold].flights {
		for i, p := range places {
			if n.info.Transitions[t].Release && weight(n.trans[t].In, p) > 0 {
				set |= 1 << i
			}
		}
	}
	return set
}

func (a DeadlockFree) prove(m *model) Proof {
	return m.lively(a.Net, func(s *space, k int32) bool {
		pos := s.view.at[m.find(a.Net)]
		n := s.nets[pos]
		l := &n.locals[s.state(k)[1+pos]]
		return slices.ContainsFunc(n.info.Terminal, func(p string) bool { return l.marking[n.place[p]] > 0 })
	})
}

func (a NoTerminalStates) prove(m *model) Proof { return m.lively(a.Net, nil) }

// lively proves that the net can always move again, or gate a call at least.
func (m *model) lively(name string, excused func(*space, int32) bool) Proof {
	i := m.find(name)
	if i < 0 {
		return noNet(name)
	}
	gated := func(s *space, k int32, c int) bool {
		pos := s.view.at[i]
		for _, t := range s.classes[c].touches {
			if t.net == pos && s.nets[pos].begin(int(s.state(k)[1+pos]), t.effect).verdict == gates {
				return true
			}
		}
		return false
	}
	likes := func(s *shape) bool {
		return slices.ContainsFunc(s.touches, func(t touch) bool { return t.net == i })
	}
	return m.always(m.around([]int{i}), []int{i}, goal{likes, gated, excused})
}
