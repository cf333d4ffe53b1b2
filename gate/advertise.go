package gate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// Advertised lists the offered tools to show to a client for its next turn. It only narrows the
// list: the gate still decides on each call.
type Advertised struct {
	Tools    []string  // tools to show, in the order of the offer
	Hidden   []Hidden  // all other tools
	Conflict *Conflict // nil: the nets agree
	Ignored  []string  // advisory nets that would hide tools but yield
}

// Hidden is a tool that is not shown, with the verdict of the net that hides it.
type Hidden struct {
	Tool string
	Block
}

// A Conflict means that the nets together allow no tool. Advisory nets then yield, and do not block
// calls either. If required nets conflict with each other, none of them yields, and every tool that
// one of them blocks is hidden.
type Conflict struct {
	Winner string   // the highest-ranking net that does not yield; empty if none of the nets yields
	Nets   []string // the nets in conflict, ranked by priority, then by fewer allowed tools, then by name
	Yields []string // the advisory nets among them that yield
}

// Offer sets the tools that can be called. They determine which advisory nets yield, see
// [Net.Advisory]; before the first Offer, advisory nets yield only to nets in recovery. Offer reads
// only Tool, Also, Upstream and Annotations of the calls. The caller must not modify them
// afterwards.
func (s *Session) Offer(tools []Call) {
	s.update(func(*State) *Delta { return &Delta{Tools: tools} })
}

// Advertise returns the tools of [Session.Offer] without those that a net would block now, judging
// by the names of a call without arguments. A tool stays listed if arguments could make a
// difference: labels from maps do not hide a tool, and a tool that such a label might exempt is not
// hidden either. Nets that yield, nets in shadow mode and the default hide nothing.
//
// Advertise advances the clocks to now, see [Session.Tick].
func (s *Session) Advertise(now time.Time) Advertised {
	s.Tick(now)
	return read(s, func(state *State) Advertised { return s.policy.Advertise(state, state.Tools, now) })
}

// Advertise is like [Session.Advertise] for the given tools and state. It does not advance any
// clock.
func (p *Policy) Advertise(s *State, tools []Call, now time.Time) Advertised {
	return newAdviser(p, s, tools, acting, now).advise()
}

func (v *adviser) advise() Advertised {
	settled := v.settle()
	a := Advertised{Conflict: (*Conflict)(settled.Conflict), Ignored: settled.Ignored}
	for i := range v.tools {
		if net := settled.Hides(i); net < 0 {
			a.Tools = append(a.Tools, v.tools[i].Tool)
		} else {
			a.Hidden = append(a.Hidden, v.hidden(i, net))
		}
	}
	return a
}

// hidden returns the tool with the verdict of the net that hides it.
func (v *adviser) hidden(tool, net int) Hidden {
	h := Hidden{Tool: v.tools[tool].Tool}
	v.judge(tool)
	for k := range v.j.findings {
		if f := &v.j.findings[k]; f.net.index == net {
			v.j.block(&h.Block, f)
		}
	}
	return h
}

// hides reports whether the net blocks the call regardless of its arguments.
func (j *judgement) hides(f *finding) bool { return f.kind == Blocked && !j.canUnblock(f) }

// canUnblock reports whether arguments could unblock the call, by giving it a name that exempts it or a
// name that replaces its own.
func (j *judgement) canUnblock(f *finding) bool {
	if f.broken {
		return false
	}
	n := f.net
	if n.Row || f.objection() != "" && f.special.phase == nil {
		return true
	}
	if f.special != nil && f.special.phase != nil {
		return slices.ContainsFunc(f.special.phase.Tools, func(u Tool) bool { return j.couldGive(n, u, Surely) })
	}
	if n.MatchFirst && n.own.Maps != nil && slices.ContainsFunc(j.tools, func(t naming.Label) bool { return n.own.Maps.Has(t.Text) }) {
		return true
	}
	l := &f.labels[f.label]
	if except := n.listing.Except(l); except != "" && j.couldGive(n, Tool{Name: except}, Surely) {
		return true
	}
	lists, _ := n.listing.Lookup(l)
	return slices.ContainsFunc(lists, func(t int) bool {
		return slices.ContainsFunc(n.Transitions[t].Unless, func(u Tool) bool { return j.couldGive(n, u, Surely) })
	})
}

// couldGive reports whether arguments could give the call a name that u matches; if how is Surely, a
// certain name.
func (j *judgement) couldGive(n *net, u Tool, how Found) bool {
	if n.Labels != nil {
		return j.policy.names.CanGive(j.tools, &u, how == Surely)
	}
	return n.own.CanGive(j.tools, &u, how == Surely)
}
