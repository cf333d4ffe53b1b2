package gate

import (
	"slices"
	"strings"
	"time"
)

// Advertised is which of the offered tools to show a client for its next turn.
// It narrows what is shown and allows nothing: a call is decided when it comes.
type Advertised struct {
	Tools    []string  // those to show, in the order in which they were offered
	Hidden   []Hidden  // the others
	Conflict *Conflict // nil: the nets agree
	Ignored  []string  // advisory nets that would hide tools and yield
}

// Hidden is a tool that is not shown, and what the net that hides it says.
type Hidden struct {
	Tool string
	Block
}

// A Conflict says that the nets leave no tool that all of them would let pass.
// Advisory nets yield then, and do not block calls either. Where required nets
// conflict among themselves none yields, and nothing is shown that one of them
// blocks.
type Conflict struct {
	Winner string   // the most important net that is heeded; empty where none yields
	Nets   []string // those in conflict, the most important first: by priority, of equals the one that leaves fewer tools, then by name
	Yields []string // the advisory ones among them that are not heeded
}

// Offer says which tools can be called. Which advisory nets yield depends on it:
// see [Net.Advisory]; until it is known they yield to recovery nets only. Of
// the calls only Tool, Also, Upstream and Annotations count, and they must not be
// changed afterwards.
func (s *Session) Offer(tools []Call) {
	s.update(func(*State) *Delta { return &Delta{Tools: tools} })
}

// Advertise narrows the tools of [Session.Offer] to those that no net which is
// heeded would block now, on the names that a call of them has without
// arguments. A tool stays where arguments could make a difference: labels of
// maps hide none, and what such a label may exempt is not hidden. Nets in
// shadow, and the default, hide nothing.
//
// The clocks are moved to now, see [Session.Tick].
func (s *Session) Advertise(now time.Time) (a Advertised) {
	s.Tick(now)
	s.update(func(state *State) *Delta {
		a = s.policy.Advertise(state, state.Tools, now)
		return nil
	})
	return a
}

// Advertise is [Session.Advertise] of these tools in the state s, at the time
// now. It moves no clock.
func (p *Policy) Advertise(s *State, tools []Call, now time.Time) Advertised {
	return newAdviser(p, s, tools, acting, now).advise()
}

func (v *adviser) advise() Advertised {
	v.heed()
	a := Advertised{Conflict: v.conflict, Ignored: v.ignored}
	for i, net := range v.hides() {
		if net < 0 {
			a.Tools = append(a.Tools, v.tools[i].Tool)
		} else {
			a.Hidden = append(a.Hidden, v.hidden(i, net))
		}
	}
	return a
}

// hides is, for each tool, the first of the heeded nets that hides it; -1 if none does.
func (v *adviser) hides() []int {
	hides := make([]int, len(v.tools))
	for i := range hides {
		hides[i] = -1
		if k := slices.IndexFunc(v.heeded, func(l *allowlist) bool { return l.blocked[i] }); k >= 0 {
			hides[i] = v.heeded[k].net.index
		}
	}
	return hides
}

// hidden is what the net says against the tool.
func (v *adviser) hidden(tool, net int) Hidden {
	h := Hidden{Tool: v.tools[tool].Tool}
	v.judge(tool)
	for k := range v.j.findings {
		if f := &v.j.findings[k]; f.net.index == net {
			h.Block = v.j.block(f)
		}
	}
	return h
}

// hides reports whether the net blocks the call whatever its arguments are.
func (j *judgement) hides(f *finding) bool { return f.kind == Blocked && !j.open(f) }

// open reports whether arguments could take away what blocks the call: they
// could give it a name that exempts it, or put another name in the place of
// its own.
func (j *judgement) open(f *finding) bool {
	if f.broken {
		return false
	}
	n := f.net
	if n.MatchFirst && n.maps != nil && slices.ContainsFunc(j.tools, func(t label) bool { return len(n.maps.byTool[t.text]) > 0 }) {
		return true
	}
	l := &f.labels[f.label]
	for i := range n.globs {
		if g := &n.globs[i]; g.number == l.glob-1 && g.except != "" && j.gives(n, Tool{Name: g.except}) {
			return true
		}
	}
	lists, _ := n.lookup(l)
	return slices.ContainsFunc(lists, func(t int) bool {
		return slices.ContainsFunc(n.Transitions[t].Unless, func(u Tool) bool { return j.gives(n, u) })
	})
}

// gives reports whether arguments could give the call a certain name that u
// speaks of.
func (j *judgement) gives(n *net, u Tool) bool {
	maps := n.maps
	if n.Labels != nil {
		maps = j.policy.names.mapping
	}
	for i := range j.tools {
		tool := j.tools[i].text
		if maps != nil && slices.ContainsFunc(maps.byTool[tool], func(number int) bool {
			m := &maps.maps[number]
			return m.Reader != nil && u.is(&label{text: m.As, from: fromMap})
		}) {
			return true
		}
		if n.Labels != nil && (strings.HasPrefix(u.Name, tool+".") || u.Kind == Glob && strings.Contains(u.Name, ".")) && u.Kind != Literal {
			return true
		}
	}
	return false
}
