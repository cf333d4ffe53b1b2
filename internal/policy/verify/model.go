package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A model is the policy as it is explored: nets, and the kinds of calls.
type model struct {
	nets   []*net
	shapes []*shape // those that the default lets pass
	byNet  [][]int  // shapes that touch a net
	listed []gate.Tool
	gaps   []gap // why it is not the whole policy
	limit  int   // states of one search
	small  int   // states of a group that is looked at whole
	stop   func() bool
	states int // visited so far
	effort int // likewise, times the classes that were tried in them
	capped map[lowered]*net
	ladder *ladder // made when it is needed
	all    *ground // likewise
	deny   bool
	shaper *shaper
	off    []bool // nets that are left out, because they were found redundant

	policy     *gate.Policy
	also       map[string][]gate.Name // of tools that are known: their further names
	conditions []string               // by which nets judge arguments
}

// lowered names a net whose counters begin at a smaller number.
type lowered struct{ net, to int }

func newModel(p *gate.Policy, o *Options) *model {
	m := &model{limit: o.States, small: cmp.Or(o.groups, groupLimit), capped: make(map[lowered]*net), policy: p, conditions: o.Conditions, also: make(map[string][]gate.Name)}
	for _, t := range o.Tools {
		m.also[t.Name] = t.Also
	}
	if m.limit < 1 {
		m.limit = DefaultStates
	}
	m.stop = lasting(o.Stop)
	b := &shaper{deny: p.Options().Deny && !o.passes, complete: o.Known, tries: cmp.Or(o.inventions, maxInventions)}
	for i, info := range p.Nets() {
		n := newNet(info, i)
		m.nets = append(m.nets, n)
		if info.Mapper != nil {
			b.gap("", "the net %s names calls by a function", info.Name)
		}
		if n.tooWide() {
			b.gap("", "the net %s has more than %d observers that wait", info.Name, maxWatches)
			n.watchAt = make([]int, len(n.watchAt))
		}
	}
	for _, a := range o.Prove {
		b.extra = append(b.extra, a.tools()...)
	}
	m.deny, m.off = b.deny, make([]bool, len(m.nets))
	b.nets, b.naming = m.nets, newNaming(p.Maps(), m.nets, b.extra, o.Tools)
	b.derive(o.Tools)
	m.gaps, m.shaper = b.gaps, b
	m.adopt(b)
	m.waits()
	m.list()
	return m
}

// askEvery is how many states are looked at between two questions whether to stop.
const askEvery = 64

// due asks whether to stop, if there were that many states since it asked last.
func (m *model) due(asked *int, states int) bool {
	if states-*asked < askEvery {
		return false
	}
	*asked = states
	return m.stop()
}

// lasting is stop, but that a yes is never taken back: what was begun is left
// everywhere.
func lasting(stop func() bool) func() bool {
	over := false
	return func() bool {
		over = over || stop != nil && stop()
		return over
	}
}

// adopt takes the shapes. Where two mean the same to some nets, the earlier one
// is taken: that of known arguments, that no net shuts, and that fewer nets
// are about.
func (m *model) adopt(b *shaper) {
	for _, s := range b.shapes {
		if !b.deny || len(s.knowers) > 0 {
			m.shapes = append(m.shapes, s)
		}
	}
	slices.SortStableFunc(m.shapes, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(a.touches), len(b.touches)))
	})
	m.byNet = make([][]int, len(m.nets))
	for i, s := range m.shapes {
		for _, t := range s.touches {
			m.byNet[t.net] = append(m.byNet[t.net], i)
		}
	}
}

// waits adds what the clock does: it may let any of its transitions fire at any
// time. Of two nets, one may so be late: that is more than there is.
func (m *model) waits() {
	for _, n := range m.nets {
		if n.info.Shadow {
			continue
		}
		for _, t := range n.timed {
			s := &shape{waits: true, wait: n.info.Transitions[t].Every, touches: []touch{{n.index, n.internEffect(effect{{lists: []int{t}}})}}}
			m.byNet[n.index] = append(m.byNet[n.index], len(m.shapes))
			m.shapes = append(m.shapes, s)
		}
	}
}

func (s *shape) rank() int {
	switch {
	case s.doubtful:
		return 3
	case s.supposed:
		return 2
	case len(s.shut) > 0:
		return 1
	}
	return 0
}

// list collects the names that the nets list, in order.
func (m *model) list() {
	seen := make(map[string]bool)
	for _, n := range m.nets {
		if n.info.Shadow {
			continue
		}
		for _, t := range n.info.Transitions {
			for _, tool := range t.Tools {
				name := tool.Name
				if tool.Kind == gate.Literal && strings.Contains(name, ".") {
					name = "\"" + name // another thing than the action
				}
				if !seen[name] {
					seen[name] = true
					m.listed = append(m.listed, gate.Tool{Name: tool.Name, Kind: tool.Kind})
				}
			}
		}
	}
}

// groups are the nets that share calls, with all that can be called in them.
func (m *model) groups() [][]int {
	parent := make([]int, len(m.nets))
	for i := range parent {
		parent[i] = i
	}
	var root func(int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	for _, s := range m.shapes {
		for _, t := range s.touches[min(1, len(s.touches)):] {
			a, b := root(s.touches[0].net), root(t.net)
			parent[max(a, b)] = min(a, b)
		}
	}
	for _, o := range m.shaper.opened { // what one call can have together
		first := -1
		for n, atoms := range o.concerns {
			if len(atoms) == 0 && o.plain.effectIn(n) < 0 {
				continue
			}
			if first < 0 {
				first = root(n)
			}
			a, b := root(first), root(n)
			parent[max(a, b)] = min(a, b)
		}
	}
	if o := m.shaper.invented; o != nil { // one name can match all
		first := -1
		for n, patterns := range o.byNet {
			if len(patterns) == 0 {
				continue
			}
			if first < 0 {
				first = n
			}
			a, b := root(first), root(n)
			parent[max(a, b)] = min(a, b)
		}
	}
	var groups [][]int
	at := make(map[int]int)
	for i := range m.nets {
		if m.nets[i].info.Shadow {
			continue
		}
		r := root(i)
		if _, ok := at[r]; !ok {
			at[r] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[r]] = append(groups[at[r]], i)
	}
	return groups
}

// A view is the model with some of its nets only, and with the calls that
// they can tell apart. Fewer nets forbid less: what no view allows the policy
// does not allow.
type view struct {
	model   *model
	nets    []*net
	at      []int // position of a net of the model, -1
	classes []class
	limits  []int // positions of nets whose counters begin at a smaller number
}

// A class is the shapes that a view cannot tell apart.
type class struct {
	shape   *shape // one of them
	touches []touch
	tag     uint8

	sure   bool  // of some shape it is known that such a call can be made; see viewOptions.beyond
	beyond []int // of that one with the fewest: nets that the view has not and that can refuse it
}

// viewOptions choose what is seen.
type viewOptions struct {
	tag       func(*shape) uint8 // what the question asks about; nil: nothing
	witnessed bool               // only calls of tools and with arguments that are known
	cap       int                // large counters begin here; 0: where they do
	limit     int                // states of a search
	until     int                // effort of the model at which searches end; 0: any
	required  bool               // nothing is proved by what advisory nets block
	beyond    bool               // say of the classes which nets that are not seen can refuse them
	about     int                // 1 + the net whose verdicts are asked about: it is seen to block; 0: none
}

func (m *model) view(nets []int, o viewOptions) *view {
	v := &view{model: m, at: make([]int, len(m.nets))}
	for i := range v.at {
		v.at[i] = -1
	}
	for i, n := range nets {
		v.at[n] = i
		use := m.nets[n]
		if o.cap > 0 {
			if c := m.cap(use, o.cap); c != use {
				v.limits = append(v.limits, i)
				use = c
			}
		}
		v.nets = append(v.nets, use)
	}
	var key []byte
	seen := make(map[string]int)
	kinds, _ := m.kinds(nets, o.tag)
	for _, s := range slices.Concat(m.shapes, kinds) {
		if o.witnessed && s.unsure() || slices.ContainsFunc(s.shut, func(n int) bool { return v.at[n] >= 0 && n != o.about-1 }) {
			continue
		}
		c := class{shape: s}
		if o.tag != nil {
			c.tag = o.tag(s)
		}
		key = append(key[:0], c.tag)
		for _, t := range s.touches {
			if at := v.at[t.net]; at >= 0 {
				c.touches = append(c.touches, touch{at, t.effect})
				key = append(key, byte(at), byte(at>>8), byte(t.effect), byte(t.effect>>8))
			}
		}
		if len(c.touches) == 0 && c.tag == 0 {
			continue
		}
		if i, ok := seen[string(key)]; ok {
			if v.classes[i].shape.unsure() && !s.unsure() {
				v.classes[i].shape = s
			}
			v.classes[i].weigh(v, s, o)
			continue
		}
		seen[string(key)] = len(v.classes)
		c.weigh(v, s, o)
		v.classes = append(v.classes, c)
	}
	return v
}

// weigh notes which nets beyond the view can refuse the shape, where they are
// fewer than of the others of its class.
func (c *class) weigh(v *view, s *shape, o viewOptions) {
	if !o.beyond || s.unsure() {
		return
	}
	var beyond []int
	for _, t := range s.touches {
		if v.at[t.net] < 0 && !v.model.nets[t.net].lenient(t.effect) {
			beyond = append(beyond, t.net)
		}
	}
	if !c.sure || len(beyond) < len(c.beyond) {
		c.sure, c.beyond = true, beyond
	}
}

// bound is how many states a search may look at.
func (v *view) bound(o viewOptions) int {
	limit := min(o.limit, o.limit*usualPrice/v.price())
	if o.until > 0 {
		limit = min(limit, (o.until-v.model.effort)/v.price())
	}
	return max(1, limit)
}

// price is the effort of one state: to keep it, and to try all classes in it.
func (v *view) price() int { return 16 + len(v.classes) }

// usualPrice is up to where the limit is one of states, and not of effort.
const usualPrice = 64

func (m *model) visited(v *view, states int) {
	m.states += states
	m.effort += states * v.price()
}

// gap is why nothing is proved of the nets, or of the calls that a question is
// about; empty where nothing was left out that could matter.
func (m *model) gap(nets []int, tag func(*shape) uint8) string {
	for _, g := range m.gaps {
		if g.tool == "" {
			return g.text
		}
		for _, s := range m.shaper.shapes { // what makes others known may be among what was left out
			if s.tool != g.tool {
				continue
			}
			if tag != nil && tag(s) != 0 || slices.ContainsFunc(s.touches, func(t touch) bool { return slices.Contains(nets, t.net) }) {
				return g.text
			}
		}
	}
	_, gap := m.kinds(nets, tag)
	return gap
}

// anyGap is why a name that no call has may have one.
func (m *model) anyGap() string {
	if len(m.gaps) == 0 {
		return ""
	}
	return m.gaps[0].text
}
