package verify

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A prover answers the questions about one policy.
type prover struct {
	*explore.Model
	deny       bool
	small      int // maximum number of states of a group that is explored whole
	policy     *gate.Policy
	also       map[string][]gate.Name // further names of known tools
	conditions []string               // conditions that nets judge arguments by
	each       *ForEach               // restricts questions to one value of its key; nil: all calls
	options    *Options

	judging bool // some net judges arguments
	rows    bool // some net counts equal calls in a row
}

// listed returns the names that the nets list, in order.
func listed(p *gate.Policy) []gate.Tool {
	var out []gate.Tool
	seen := make(map[string]bool)
	for _, n := range p.Nets() {
		if n.Shadow {
			continue
		}
		for _, t := range n.Transitions {
			for _, tool := range t.Tools {
				name := tool.Name
				if tool.Kind == gate.Literal && strings.Contains(name, ".") {
					name = "\"" + name // distinct from the action of that name
				}
				if !seen[name] {
					seen[name] = true
					out = append(out, gate.Tool{Name: tool.Name, Kind: tool.Kind})
				}
			}
		}
	}
	return out
}

// groups partitions the enforced nets: nets that share calls are in one group.
func (m *prover) groups() [][]int {
	group := make([]int, len(m.Nets)) // the first net of each net's group
	for i := range group {
		group[i] = i
	}
	sets := m.Calls.Together()
	for _, s := range m.Classes {
		sets = append(sets, s.Nets())
	}
	for _, set := range sets {
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

// Options say what to verify, and bound the effort. The zero value is ready to use.
type Options struct {
	Prove []Assertion
	Tools []Tool // tools known to exist; tools that the policy names may exist as well
	Known bool   // no other tools exist, not even with the name of an action or label

	// Lacks returns the argument that the field reads although the tool's schema does not list it;
	// empty if the tool takes all of them. A call with it does not show that anything is possible.
	// If Lacks is nil, no schemas are known.
	Lacks func(tool string, f gate.Field) string

	Doubtful bool // Calls also returns calls without known arguments

	Conditions []string // CEL conditions that nets judge arguments by; arguments are derived from them

	States int         // maximum states of one search; less than 1: DefaultStates
	Stop   func() bool // asked from time to time; true ends the searches; nil: never

	passes     bool // calls unknown to all nets are admitted, regardless of the default
	groups     int  // maximum states of a group explored whole for liveness; 0: explore.GroupLimit
	inventions int  // bound on the names tried for patterns; 0: the default of package callclass
}

// An Assertion is a claim about a policy. [Never], [NeverBefore], [NeverAfter], [NeverWhile],
// [NeverWithoutApproval], [Only], [AtMost], [Reachable], [AlwaysPossible] and [NoFailureLocks] are
// about calls; [Conserved], [Exclusive], [DeadlockFree] and [NoTerminalStates] are about nets;
// [Each] and [ForEach] combine others.
type Assertion interface {
	tools() []gate.Tool
	prove(m *prover) Proof
}

// A Proof is the result of an assertion.
type Proof struct {
	Assertion      Assertion // for Each: the assertion that the other fields are about
	Part           int       // for Each: the index of Assertion
	Result         Result
	Counterexample Trace  // if Refuted: a shortest run that violates the assertion, if a run can show it
	Witness        Trace  // for Reachable, if Proved
	Because        []Net  // nets that cause the result; if Refuted, none of them can be omitted
	Rough          bool   // if Refuted: a subset of Because might suffice, but not all subsets were tried
	Default        bool   // if Refuted: the default denies all calls that the assertion is about
	ForEach        string // if not Proved: key fields as a claim writes them, such that the claim for each of their values is proved
	Why            string
	Supposed       string // if Unknown: the tool whose existence decides the result

	query *explore.Query // query that Counterexample meets; nil: none
}

// ForEach claims Of, a [NeverBefore] or an [AtMost], separately for each value of the key: calls
// with other values do not count.
type ForEach struct {
	Of  Assertion
	Key []Compared
}

// Compared holds the fields that must have the value: Field of the calls that the claim is about,
// Other of the calls that precede them or restart the count.
type Compared struct{ Field, Other gate.Field }

// judging reports whether some enforced net judges arguments.
func judging(nets []*explore.Net) bool {
	return slices.ContainsFunc(nets, func(n *explore.Net) bool {
		return !n.Info.Shadow && (n.Info.Validate != nil || n.Info.Row || n.Info.Sum != nil || n.Keyed())
	})
}

// inARow reports whether some enforced net counts equal calls in a row.
func inARow(nets []*explore.Net) bool {
	return slices.ContainsFunc(nets, func(n *explore.Net) bool { return !n.Info.Shadow && n.Info.Row })
}

func (m *prover) named(nets []int) []Net {
	var out []Net
	for _, n := range nets {
		out = append(out, Net{m.Nets[n].Info.Name, m.Nets[n].Info.Rule})
	}
	return out
}
