package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Advertised is which tools to show a client for its next turn. It narrows what
// is shown and allows nothing: a call is decided when it comes.
type Advertised struct {
	Tools    []string  // those to show, in the order in which they were given
	Hidden   []Hidden  // the others
	Conflict *Conflict // nil: the nets agree
	Ignored  []string  // advisory nets that yield to a net in recovery
}

// Hidden is a tool that is not shown, and what the net that hides it says.
type Hidden struct {
	Tool string
	Block
}

// A Conflict says that the nets leave no tool that all of them would let pass.
// The lists of the others were not heeded.
type Conflict struct {
	Winner string
	Nets   []string // those with a list, the winner first
}

// Advertise narrows the tools to those that no active net would block now, on
// the names that a call of them has without arguments. A tool stays where
// arguments could make a difference: labels of maps hide none, and what such a
// label may exempt is not hidden. Nets in shadow, and the default, hide nothing.
//
// Advisory nets are not heeded while a net of a higher priority is in recovery.
// Where each net would leave some tool and all together none, there is a
// conflict: the net of the highest priority is heeded alone, of equals that
// with the shorter list, then the first by name. A net that blocks every tool is
// no conflict: there is nothing to show.
//
// Of the calls only Tool, Also, Upstream and Annotations count. The clocks are
// moved to now, see [Session.Tick].
func (s *Session) Advertise(tools []Call, now time.Time) (a Advertised) {
	s.Tick(now)
	s.update(func(state *State) *Delta {
		v := adviser{policy: s.policy, state: state, tools: tools, now: now, lists: make([]*allowlist, len(s.policy.nets))}
		a = v.advise()
		return nil
	})
	return a
}

// adviser finds out what to show.
type adviser struct {
	policy *Policy
	state  *State
	tools  []Call
	now    time.Time

	lists []*allowlist // by net; nil: it narrows nothing
	j     judgement
}

// allowlist is what one net would let pass, as what it would not.
type allowlist struct {
	net     *net
	blocked []bool // by tool
	left    int    // how many tools it lets pass
}

func (v *adviser) advise() Advertised {
	for i := range v.tools {
		v.judge(i)
		for k := range v.j.findings {
			if f := &v.j.findings[k]; v.j.hides(f) {
				v.list(f.net).block(i)
			}
		}
	}
	var a Advertised
	heeded := v.heeded(&a)
	hides := v.hides(heeded)
	if !slices.Contains(hides, -1) && !slices.ContainsFunc(heeded, func(l *allowlist) bool { return l.left == 0 }) && len(heeded) > 0 {
		a.Conflict = &Conflict{Winner: heeded[0].net.Name}
		for _, l := range heeded {
			a.Conflict.Nets = append(a.Conflict.Nets, l.net.Name)
		}
		hides = v.hides(heeded[:1])
	}
	for i, net := range hides {
		if net < 0 {
			a.Tools = append(a.Tools, v.tools[i].Tool)
		} else {
			a.Hidden = append(a.Hidden, v.hidden(i, net))
		}
	}
	return a
}

// judge asks the nets about one tool.
func (v *adviser) judge(tool int) {
	c := v.tools[tool]
	c.Args, c.Time = nil, v.now
	v.j = judgement{policy: v.policy, call: &c, bare: true}
	v.j.name()
	v.j.classify(v.state)
}

// list is the list of the net, made if it is not there.
func (v *adviser) list(n *net) *allowlist {
	if v.lists[n.index] == nil {
		v.lists[n.index] = &allowlist{net: n, blocked: make([]bool, len(v.tools)), left: len(v.tools)}
	}
	return v.lists[n.index]
}

func (l *allowlist) block(tool int) {
	l.blocked[tool] = true
	l.left--
}

// heeded are the lists that count, the most important first; a is told of the
// others.
func (v *adviser) heeded(a *Advertised) []*allowlist {
	recovery, priority := v.recovery()
	var heeded []*allowlist
	for i, n := range v.policy.nets {
		switch {
		case v.lists[i] == nil:
		case recovery && n.Advisory && n.Priority < priority:
			a.Ignored = append(a.Ignored, n.Name)
		default:
			heeded = append(heeded, v.lists[i])
		}
	}
	slices.SortFunc(heeded, func(a, b *allowlist) int {
		return cmp.Or(cmp.Compare(b.net.Priority, a.net.Priority), cmp.Compare(a.left, b.left), strings.Compare(a.net.Name, b.net.Name))
	})
	return heeded
}

// recovery reports whether a net is in recovery, and the highest priority of
// such nets.
func (v *adviser) recovery() (is bool, priority int) {
	for i, n := range v.policy.nets {
		if d := v.state.Nets[i]; d.Active && !n.Shadow && n.recovers(d) && (!is || n.Priority > priority) {
			is, priority = true, n.Priority
		}
	}
	return is, priority
}

// recovers reports whether the marking, as it is shown, is that of recovery.
func (n *net) recovers(d *NetData) bool {
	if n.Recovery == nil {
		return false
	}
	for _, tokens := range n.show(d) {
		if tokens.Count < n.Recovery[tokens.Place] {
			return false
		}
	}
	return true
}

// hides is, for each tool, the first of the nets that hides it; -1 if none does.
func (v *adviser) hides(lists []*allowlist) []int {
	hides := make([]int, len(v.tools))
	for i := range hides {
		hides[i] = -1
		if k := slices.IndexFunc(lists, func(l *allowlist) bool { return l.blocked[i] }); k >= 0 {
			hides[i] = lists[k].net.index
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
