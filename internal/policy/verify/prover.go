package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A prover answers questions about a policy.
type prover struct {
	*explore.Model
	deny       bool
	small      int // groups of nets with at most this many states are explored completely
	policy     *gate.Policy
	also       map[string][]gate.Name // for each known tool, its other names
	conditions []string               // conditions on arguments that nets evaluate
	each       *ForEach               // the [ForEach] claim being proved, if any; all searches then consider a single value of its key
	options    *Options

	judging bool // whether verdicts depend on the arguments of calls, not only on their names
	rows    bool // whether some net counts consecutive identical calls
}

// listedNames returns the names listed by the enforced nets, without duplicates and in order of
// first appearance.
func listedNames(p *gate.Policy) []gate.Tool {
	var out []gate.Tool
	seen := make(map[string]bool)
	enforced := list.Filter(p.Nets(), func(n gate.NetInfo) bool { return !n.Shadow })
	transitions := list.FlatMap(enforced, func(n gate.NetInfo) []gate.Transition { return n.Transitions })
	for _, tool := range list.FlatMap(transitions, func(t gate.Transition) []gate.Tool { return t.Tools }) {
		name := tool.Name
		if tool.Kind == gate.Literal && strings.Contains(name, ".") {
			name = "\"" + name // distinguish a tool from an action with the same name
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, gate.Tool{Name: tool.Name, Kind: tool.Kind})
		}
	}
	return out
}

// groups partitions the enforced nets. Nets that share calls are in the same group.
func (m *prover) groups() [][]int {
	group := make([]int, len(m.Nets)) // for each net, the index of the first net in its group
	for i := range group {
		group[i] = i
	}
	for _, set := range append(m.Calls.JointNets(), list.Map(m.Classes, (*callclass.Class).Nets)...) {
		for _, n := range set {
			a, b := group[set[0]], group[n]
			for i := 0; a != b && i < len(group); i++ {
				if group[i] == max(a, b) {
					group[i] = min(a, b)
				}
			}
		}
	}
	var groups [][]int
	at := make(map[int]int)
	for i, n := range m.Nets {
		if n.Info.Shadow {
			continue
		}
		if _, ok := at[group[i]]; !ok {
			at[group[i]] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[group[i]]] = append(groups[at[group[i]]], i)
	}
	return groups
}

// Options specify what to verify and how much effort to spend on it. The zero value is ready to
// use.
type Options struct {
	Prove []Assertion
	Tools []Tool // tools known to exist; tools named in the policy may exist too
	Known bool   // whether Tools lists all existing tools, including those that share a name with an action or a map entry

	// Lacks returns an argument that field f reads but the tool's schema does not list, or "" if
	// the schema lists all arguments that f reads. A call with an unlisted argument might not be
	// possible, so no result relies on it. If Lacks is nil, no schemas are known.
	Lacks func(tool string, f gate.Field) string

	Doubtful bool // whether Calls also returns calls whose arguments are not known

	Conditions []string // CEL conditions on arguments that nets evaluate, used to derive sample arguments

	States int         // maximum number of states per search; less than 1 means DefaultStates
	Stop   func() bool // called periodically; the searches end when it returns true; may be nil

	passes     bool // whether to admit calls that no net lists, even if the policy denies calls by default
	groups     int  // for liveness, nets that share calls are explored completely if together they have at most this many states; 0 means explore.GroupLimit
	inventions int  // maximum number of names to make up when searching for one that the patterns match; 0 means the default of package callclass
}

// An Assertion is a claim about a policy. [Never], [NeverBefore], [NeverAfter], [NeverWhile],
// [NeverWithoutApproval], [Only], [AtMost], [Reachable], [AlwaysPossible] and [NoFailureLocks] are
// about calls; [Conserved], [Exclusive], [DeadlockFree] and [NoTerminalStates] are about nets;
// [Each] and [ForEach] combine other assertions.
type Assertion interface {
	tools() []gate.Tool
	prove(m *prover) Proof
}

// A Proof is the result of an attempt to prove an assertion.
type Proof struct {
	Assertion      Assertion // the assertion; for Each, the element of Of that the other fields refer to
	Part           int       // for an Each, the index of Assertion in its list Of
	Result         Result
	Counterexample Trace  // if Refuted, a run that violates the assertion, usually a shortest one; empty if no single run is a counterexample
	Witness        Trace  // for Reachable, if Proved, a run that leads to a call to Tool
	Because        []Net  // nets that cause the result; if Refuted, all of them are necessary unless Rough is set
	Rough          bool   // if Refuted, whether some nets in Because might be unnecessary; set if not all subsets were tried
	Default        bool   // if Refuted, whether the policy's default refuses all calls that the assertion concerns
	ForEach        string // if the claim is proved only for each key value separately, a phrase such as "for each path"
	Why            string
	Supposed       string // if Unknown because a tool might not exist, the name of that tool

	query *explore.Query // query that Counterexample meets; may be nil
}

// ForEach claims that Of, a [NeverBefore] or an [AtMost], holds separately for each value of the
// key. For each value, it considers only the calls with that value. A NeverBefore also concerns
// calls to its Tool without a value.
type ForEach struct {
	Of  Assertion
	Key []Compared
}

// A Compared is a pair of fields that must have the same value in two different calls. Field is
// read from a call that the claim concerns. In a [NeverBefore], Other is read from a call that must
// come first. In an [AtMost], it is read from a call that restarts the count.
type Compared struct{ Field, Other gate.Field }

// enforces reports whether any enforced net satisfies the given condition.
func (m *prover) enforces(f func(n *explore.Net) bool) bool {
	return slices.ContainsFunc(m.Nets, func(n *explore.Net) bool { return !n.Info.Shadow && f(n) })
}

func (m *prover) named(nets []int) []Net { return list.Map(nets, m.net) }

func (m *prover) net(n int) Net { return Net{m.Nets[n].Info.Name, m.Nets[n].Info.Rule} }

func newProver(p *gate.Policy, o *Options) *prover {
	c := callclass.Options{Tools: o.Tools, Known: o.Known, Passes: o.passes, Syntheses: o.inventions, Lacks: o.Lacks}
	o.Prove = slices.Clone(o.Prove)
	c.Compared = compared(p, o.Prove)
	c.Names = Each{o.Prove}.tools()
	m := &prover{
		Model: explore.New(p, c, explore.Options{States: o.States, Stop: o.Stop}),
		deny:  p.Options().Deny && !o.passes, small: cmp.Or(o.groups, explore.GroupLimit),
		policy: p, also: callclass.Also(o.Tools), conditions: o.Conditions, options: o,
	}
	m.judging = m.Keyed() || m.enforces(func(n *explore.Net) bool { return n.Info.Validate != nil || n.Info.Row || n.Info.Sum != nil })
	m.rows = m.enforces(func(n *explore.Net) bool { return n.Info.Row })
	return m
}

// compared returns the groups of fields that the assertions compare with each other. It also
// replaces each field in the assertions' keys with the result of [resolveField].
func compared(p *gate.Policy, all []Assertion) (out [][]callclass.Reading) {
	for i, a := range all {
		switch a := a.(type) {
		case Each:
			out = append(out, compared(p, a.Of)...)
		case ForEach:
			a.Key = slices.Clone(a.Key)
			about, others := a.sides()
			for k := range a.Key {
				c := &a.Key[k]
				c.Field, c.Other = resolveField(p, c.Field), resolveField(p, c.Other)
				own := list.Map(about, func(t gate.Tool) callclass.Reading { return callclass.Reading{Tool: t, Field: c.Field} })
				other := list.Map(others, func(t gate.Tool) callclass.Reading { return callclass.Reading{Tool: t, Field: c.Other} })
				out = append(out, append(own, other...))
			}
			all[i] = a
		}
	}
	return out
}

// resolveField returns f if f can be evaluated. Otherwise, f is an expression without a
// [gate.ValueReader]. resolveField then looks in the policy's keys for a field with a reader and
// the same source text. If it finds no such field, it returns f.
func resolveField(p *gate.Policy, f gate.Field) gate.Field {
	if f.Path != "" || f.Reader != nil {
		return f
	}
	for _, n := range p.Nets() {
		for _, t := range n.Transitions {
			for _, g := range slices.Concat(n.Key, t.Key) {
				if g.Reader != nil && g.Source == f.Source {
					return g
				}
			}
		}
	}
	return f
}

// sides returns the names of the calls that the claim is about, and the names of the calls that
// precede them or restart the count.
func (a ForEach) sides() (about, others []gate.Tool) {
	switch of := a.Of.(type) {
	case NeverBefore:
		return []gate.Tool{of.Tool}, []gate.Tool{of.First}
	case AtMost:
		if of.Per.Call.Name != "" {
			others = []gate.Tool{of.Per.Call}
		}
		return of.Tools, others
	}
	return a.Of.tools(), nil
}
