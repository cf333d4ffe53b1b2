package policydiff

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A Comparison is the result of comparing two policies by making the same calls under both.
type Comparison struct {
	sides      [2]*Side // the old and the new policy
	calls      []possibleCall
	maybe      []possibleCall    // calls that might be impossible, because no arguments for them are known
	vocabulary vocabulary        // names and patterns that the policies mention
	pairs      []sharedNet       // all nets that both policies have
	shared     []sharedNet       // nets that the search can leave out: the nets in pairs, or nil if it must include all nets
	kept       []bool            // for each net in pairs, whether the search must include it because a difference depends on it
	sums       [][2]gate.NetInfo // pairs of nets that differ only in the limit of a sum
	states     int
	stop       func() bool
	none       [2]bool // whether the new policy is proved never to be stricter (index 0) or looser (index 1)
	alike      int     // maximum number of identical calls in flight that hold no tokens; see manyAlike

	Stricter, Looser *Witness
	more             []*Witness // further differences, which involve nets or tools other than those of Stricter and Looser
	Complete         bool
	why              string // if Complete is false, why the comparison is incomplete
}

// A Witness is a sequence of calls that proves a difference: the two policies decide differently on
// its last call.
type Witness struct {
	trace    verify.Trace
	verdicts [2]permission // decisions of the old and the new policy on the last call
	by       []string      // names of the nets that refuse the call or require approval
}

// A representative is a call that stands for all calls that neither policy distinguishes from it.
type representative struct {
	verify.Call
	named *gate.Call // the call with all its names; nil if the call has only the name of its tool
}

// A possibleCall is a call to make under both policies. If its arguments are unknown, the call
// might be impossible.
//
// A loose search includes calls that might be impossible, and lets timed transitions fire at any
// time. If it finds no difference, the policies do not differ. But the differences that it finds
// might not be real.
type possibleCall struct {
	representative
	names   [2][]gate.Name // if the arguments are unknown, the names that the map statements of each policy would assign to the call
	effects [2]effects     // for each policy, the effects of the call on its nets
}

// effects describes the effects of a call on each net of a policy, keyed by the net's name. Effects
// that cannot be attributed to a single net have an empty key. A policy cannot distinguish calls
// with equal effects.
type effects map[string]string

// callFor returns the call with the names and arguments for the old policy (side 0) or the new
// policy (side 1).
func (c *possibleCall) callFor(side int) gate.Call {
	call := gate.Call{Tool: c.Tool}
	if c.named != nil {
		call = *c.named
	}
	switch {
	case c.Doubtful:
		call.Also = append(slices.Clone(c.Also), c.names[side]...)
	case c.Args != "":
		call.Args = []byte(c.Args)
	}
	return call
}

// A permission is a decision about a call. Permissions are ordered from the most permissive to the
// strictest.
type permission uint8

const (
	allowed     permission = 0
	refusedCall permission = math.MaxUint8
)

// asked returns the permission for a call that the given number of people must approve.
func asked(persons int) permission { return permission(min(persons, math.MaxUint8-1)) }

func (p permission) String() string {
	switch p {
	case allowed:
		return "allow"
	case refusedCall:
		return "refuse"
	case asked(1):
		return "ask"
	}
	return fmt.Sprintf("ask %d persons", p)
}

// otherTool is the name of a tool that neither policy mentions.
const otherTool = "some-other-tool"

const someTogether = "no arguments are known that match some of the maps together"

func (d *Comparison) partly(why string) { d.Complete, d.why = false, why }

// direction returns a pointer to the field for the difference between two verdicts: Stricter if the
// second one is stricter, and Looser if it is less strict. If they are equal, direction returns
// nil.
func (d *Comparison) direction(verdicts [2]permission) **Witness {
	switch {
	case verdicts[1] > verdicts[0]:
		return &d.Stricter
	case verdicts[1] < verdicts[0]:
		return &d.Looser
	}
	return nil
}

// unsharedNets returns the nets that only one of the two policies has.
func (d *Comparison) unsharedNets() []gate.NetInfo {
	var out []gate.NetInfo
	for i, s := range d.sides {
		out = append(out, list.Filter(s.nets, func(n gate.NetInfo) bool {
			return !slices.ContainsFunc(d.pairs, func(t sharedNet) bool { return t[i] == n.Name })
		})...)
	}
	return out
}

// settled reports whether the search can end: for each kind of difference, a witness was found, or
// the difference was proved to be impossible.
func (d *Comparison) settled() bool {
	return (d.Stricter != nil || d.none[0]) && (d.Looser != nil || d.none[1])
}

// Excludes reports whether a kind of difference is proved to be impossible. The kind is "stricter",
// "looser" or, for both, "different".
func (d *Comparison) Excludes(direction string) bool {
	stricter := d.Stricter == nil && (d.Complete || d.none[0])
	looser := d.Looser == nil && (d.Complete || d.none[1])
	return map[string]bool{"stricter": stricter, "looser": looser, "different": stricter && looser}[direction]
}

// decide makes a call in state s and grants the approvals that the policy requests. It returns the
// verdict, the number of the call if it is admitted, and the names of the nets that refuse the call
// or require approval.
func decide(p *gate.Policy, s *gate.State, call gate.Call) (verdict permission, number uint64, by []string) {
	decision, delta := p.Decide(s, call, nil)
	s.Apply(delta)
	if ask, ok := decision.(*gate.Ask); ok {
		verdict = asked(ask.Approvals())
		by = list.Map(ask.Steps, func(s gate.Step) string { return s.Net })
		decision, delta = p.Decide(s, call, ask.Grant())
		s.Apply(delta)
	}
	switch d := decision.(type) {
	case *gate.Allow:
		return verdict, d.Ticket.Number, by
	case *gate.Refusal:
		by = append(by, list.Map(d.Blocks, func(b gate.Block) string { return b.Net })...)
	}
	return refusedCall, 0, by
}

// decide makes the call in the states of both policies at the given time. It returns, for each
// policy, the verdict, the number of the call if it is admitted, and the names of the nets that
// refuse the call or require approval.
func (c *possibleCall) decide(policies [2]*gate.Policy, states [2]*gate.State, now time.Time) (verdicts [2]permission, numbers [2]uint64, by [2][]string) {
	for i, p := range policies {
		call := c.callFor(i)
		call.Time = now
		verdicts[i], numbers[i], by[i] = decide(p, states[i], call)
	}
	return verdicts, numbers, by
}

// settle ends a call with outcome o in the states of both policies. numbers holds, for each state,
// the number of the call.
func settle(policies [2]*gate.Policy, states [2]*gate.State, numbers [2]uint64, o gate.Outcome, now time.Time) {
	for i, p := range policies {
		states[i].Apply(p.SettleAt(states[i], numbers[i], o, now))
	}
}
