package gate

import (
	"time"
)

// Advertised lists the offered tools that a client should see in its next turn. Hiding a tool does
// not block it: the gate still decides on each call.
type Advertised struct {
	Tools    []string  // tools to show, in the order of [Session.Offer]
	Hidden   []Hidden  // all other offered tools
	Conflict *Conflict // set only if the nets together allow no tool
	Ignored  []string  // advisory nets that would hide tools but currently have no effect; see [Net.Advisory]
}

// A Hidden is an offered tool that is not shown, with the verdict of the net that hides it.
type Hidden struct {
	Tool string
	Block
}

// A Conflict reports that the nets together allow no tool. The advisory nets in Yields then have no
// effect: they neither hide tools nor block calls. If Yields is empty, all nets in Nets are
// required and take effect, and every tool is hidden. A required net that blocks every tool by
// itself is not a conflict.
type Conflict struct {
	Winner string   // highest-ranking net in Nets that takes effect; empty if Yields is empty or contains all of Nets
	Nets   []string // the conflicting nets, ranked by priority, then by number of allowed tools (fewest first), then by name
	Yields []string // the nets in Nets that have no effect; all of them are advisory
}

// Offer sets the tools that can be called; the Args and Time of each [Call] are ignored. The tools
// determine which advisory nets have no effect; see [Net.Advisory]. Until Offer is called, an
// advisory net takes effect unless a net of higher priority is in recovery; see [Net.Recovery]. The
// caller must not modify tools afterwards.
func (s *Session) Offer(tools []Call) {
	s.update(func(*State) *Delta { return &Delta{Tools: tools} })
}

// Advertise returns the offered tools except those that a net would now block regardless of their
// arguments. A [Map] can give a call a name because of its arguments. Such a name never hides a
// tool. It keeps the tool visible if a call with this name might pass. Advisory nets without effect
// (see [Net.Advisory]), nets in shadow mode and "default: deny" hide no tools.
//
// Advertise advances the clocks to now; see [Session.Tick].
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

// hidden returns the Hidden entry for a tool that the given net hides.
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
