package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// yield drops the verdicts of advisory nets that yield now.
func (j *judgement) yield() {
	if !j.blocked || !j.policy.advisory || !slices.ContainsFunc(j.findings, func(f finding) bool { return f.kind == Blocked && f.net.Advisory }) {
		return
	}
	v := newAdviser(j.policy, j.state, j.callable(), j.world, j.call.Time)
	v.heed()
	j.blocked, j.manual = false, false
	for i := range j.findings {
		f := &j.findings[i]
		if f.kind == Blocked && v.yields[f.net.index] {
			f.kind = Yields
		}
		j.blocked = j.blocked || f.kind == Blocked
		j.manual = j.manual || f.manual()
	}
}

// callable returns the tools that can be called, as far as they are known.
func (j *judgement) callable() []Call {
	if j.offered != nil {
		return j.offered
	}
	return j.state.Tools
}

// adviser finds out which tools the nets block now, and which nets yield.
type adviser struct {
	policy *Policy
	state  *State
	tools  []Call // that can be called
	world  world  // acting, or enforced
	now    time.Time

	lists    []*allowlist // by net; nil: it narrows nothing
	yields   []bool       // by net
	heeded   []*allowlist // the most important first
	ignored  []string     // nets with a list that yield
	conflict *Conflict
	j        judgement
}

// allowlist has the tools that one net allows, stored as those that it blocks.
type allowlist struct {
	net     *net
	blocked []bool // by tool
	left    int    // the number of tools that it allows
}

func newAdviser(p *Policy, s *State, tools []Call, w world, now time.Time) *adviser {
	return &adviser{policy: p, state: s, tools: tools, world: w, now: now, lists: make([]*allowlist, len(p.nets)), yields: make([]bool, len(p.nets))}
}

// heed decides which nets do not yield: all required ones, and then, by priority,
// each advisory one that no recovery net overrules and that leaves a tool which the
// nets before it allow.
func (v *adviser) heed() {
	for i := range v.tools {
		v.judge(i)
		v.add(&v.j, i)
		if v.world == enforced {
			v.add(v.j.in(enforced), i)
		}
	}
	v.recover()
	lists := v.ordered()
	blocked := make([]bool, len(v.tools))
	for _, l := range lists {
		if !l.net.Advisory {
			l.narrow(blocked)
		}
	}
	some := slices.Contains(blocked, false)
	var yield []string
	for _, l := range lists {
		switch {
		case !l.net.Advisory:
		case some && !l.leaves(blocked):
			v.yields[l.net.index] = true
			yield = append(yield, l.net.Name)
		default:
			l.narrow(blocked)
		}
	}
	for _, l := range lists {
		if !v.yields[l.net.index] {
			v.heeded = append(v.heeded, l)
		}
	}
	v.ignored = append(v.ignored, yield...)
	v.conflict = v.disagreement(lists, yield, some)
}

// disagreement returns the conflict of the lists, or nil. A required net that blocks
// every tool is not a conflict: it agrees with all others.
func (v *adviser) disagreement(lists []*allowlist, yield []string, some bool) *Conflict {
	c := &Conflict{Yields: yield}
	switch {
	case len(yield) > 0:
		if len(v.heeded) > 0 {
			c.Winner = v.heeded[0].net.Name
		}
	case some:
		return nil
	default:
		lists = slices.DeleteFunc(lists, func(l *allowlist) bool { return l.net.Advisory })
		if len(lists) == 0 || slices.ContainsFunc(lists, func(l *allowlist) bool { return l.left == 0 }) {
			return nil
		}
	}
	for _, l := range lists {
		c.Nets = append(c.Nets, l.net.Name)
	}
	return c
}

// judge asks the nets about one tool.
func (v *adviser) judge(tool int) {
	c := v.tools[tool]
	c.Args, c.Time = nil, v.now
	v.j = judgement{policy: v.policy, call: &c, bare: true}
	v.j.name()
	v.j.classify(v.state)
}

// add records which nets block the tool whatever its arguments are.
func (v *adviser) add(j *judgement, tool int) {
	for i := range j.findings {
		if f := &j.findings[i]; j.hides(f) {
			v.list(f.net).block(tool)
		}
	}
}

// list returns the list of the net, and creates it if necessary.
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

// narrow adds what the net blocks.
func (l *allowlist) narrow(blocked []bool) {
	for i := range blocked {
		blocked[i] = blocked[i] || l.blocked[i]
	}
}

// leaves reports whether the net lets a tool pass that is not blocked.
func (l *allowlist) leaves(blocked []bool) bool {
	for i := range blocked {
		if !blocked[i] && !l.blocked[i] {
			return true
		}
	}
	return false
}

// ordered returns the lists of the nets that no recovery net overrules, the most
// important first.
func (v *adviser) ordered() []*allowlist {
	var lists []*allowlist
	for i, l := range v.lists {
		switch {
		case l == nil:
		case v.yields[i]:
			v.ignored = append(v.ignored, l.net.Name)
		default:
			lists = append(lists, l)
		}
	}
	slices.SortFunc(lists, func(a, b *allowlist) int {
		return cmp.Or(cmp.Compare(b.net.Priority, a.net.Priority), cmp.Compare(a.left, b.left), strings.Compare(a.net.Name, b.net.Name))
	})
	return lists
}

// recover makes the advisory nets yield whose priority is below that of a net in
// recovery.
func (v *adviser) recover() {
	in, priority := false, 0
	for _, n := range v.policy.nets {
		if (!in || n.Priority > priority) && v.recovering(n) {
			in, priority = true, n.Priority
		}
	}
	for i, n := range v.policy.nets {
		v.yields[i] = in && n.Advisory && n.Priority < priority
	}
}

// recovering reports whether the marking of an active net, as it is shown, is
// that of recovery. A net in shadow overrules none that is enforced.
func (v *adviser) recovering(n *net) bool {
	data := v.state.Nets[n.index]
	if n.Recovery == nil || !data.Active || n.Shadow && v.world != enforced {
		return false
	}
	for d := range data.distinct() {
		if n.recovers(n.at(d, nil, v.now).deciding()) {
			return true
		}
	}
	return false
}

// recovers reports whether the marking is that of recovery; of a net with a key, that
// for one value is enough.
func (n *net) recovers(d *NetData) bool {
	for _, tokens := range n.show(d) {
		if tokens.Count < n.Recovery[tokens.Place] {
			return false
		}
	}
	return true
}
