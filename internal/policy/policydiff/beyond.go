package policydiff

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// notCompared returns the reason why the comparison is incomplete, or "" if it finds no reason. The
// reason is a net that only one policy has and that uses a feature that is not compared. Examples
// are conditions on arguments and approval channels.
func (d *Comparison) notCompared() string {
	for _, n := range d.unsharedNets() {
		channel := func(t gate.Transition) bool { return t.Via != "" }
		switch {
		case n.Validate != nil:
			return fmt.Sprintf("%s judges arguments, which are not compared", n.Name)
		case (n.Sum != nil || n.Row || hasKey(n.Net)) && !d.bounded(n):
			return fmt.Sprintf("%s keeps a count per argument value, and only a few values were tried", n.Name)
		case n.Scope != gate.ScopeSession:
			return fmt.Sprintf("%s counts across sessions, and only one was examined", n.Name)
		case slices.ContainsFunc(n.Transitions, channel) && d.rechanneled(n):
			return fmt.Sprintf("%s requires approval for the same calls in both policies, but via a different channel, and channels are not compared", n.Name)
		case slices.ContainsFunc(n.Transitions, channel):
			return fmt.Sprintf("%s selects the approval channel, and channels are not compared", n.Name)
		}
	}
	return ""
}

// rechanneled reports whether both policies have the net n, ignoring its approval channels.
func (d *Comparison) rechanneled(n gate.NetInfo) bool {
	anyChannel := func(n gate.NetInfo) string {
		net := n.Net
		net.Transitions = slices.Clone(net.Transitions)
		for i := range net.Transitions {
			net.Transitions[i].Via = ""
		}
		return fingerprint(net)
	}
	same := func(o gate.NetInfo) bool {
		return o.Scope == n.Scope && o.Shadow == n.Shadow && sameClass(o, n) && anyChannel(o) == anyChannel(n)
	}
	return anyChannel(n) != "" && slices.ContainsFunc(d.sides[0].nets, same) && slices.ContainsFunc(d.sides[1].nets, same)
}

// crossSessionNet returns the reason why exploring a single session is not sufficient, or "" if it
// finds no reason. The reason is a net in both policies that counts across sessions and has
// affected the comparison.
func (d *Comparison) crossSessionNet() string {
	for i, t := range d.pairs {
		if d.shared != nil && !d.kept[i] {
			continue // no difference depended on the net
		}
		at := slices.IndexFunc(d.sides[0].nets, func(n gate.NetInfo) bool { return n.Name == t[0] })
		n := &d.sides[0].nets[at]
		refilled := func(t gate.Transition) bool { return t.Observe }
		if n.Scope != gate.ScopeSession && !n.Shadow && (n.Cause != gate.CauseLimit || slices.ContainsFunc(n.Transitions, refilled)) {
			return fmt.Sprintf("%s counts across sessions, and only one was examined", n.Name)
		}
	}
	return ""
}
