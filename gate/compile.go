package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/internal/petri"
)

// net is a [Net] prepared for decisions. It never changes.
type net struct {
	Net   // a copy that nobody else holds
	index int
	print string // fingerprint of structure and maps

	net        petri.Net // its transitions stand in the order of Net.Transitions
	lasting    [][]petri.Arc
	progress   []bool // transitions for which a weak name is not enough
	structural []int  // without tools, but for those that are timed
	timed      []int  // fire by the clock
	alone      bool   // every timed transition ticks as if it were alone
	initial    petri.Marking
	start      petri.Marking // at rest
	rows       map[string]*row
	names      []namedRow // the rows, in order of first use
	own        naming.Own // without Labels, the names that it gives; with or without, its patterns in order of first use
	globs      []globRow  // of the patterns
	reasoned   []string   // the reason, as what is around each {key}
	spares     bool       // a transition has Unless
	manual     bool       // a transition asks a person
	moving     bool       // time alone changes the net
	spoils     bool       // a transition spoils evidence
	evidence   []string   // the names of the calls that are evidence for a net that has spoilers

	keys    []int        // the numbers of its keys in the policy, each once; none: it has no key
	keyOf   []int        // by transition: which of keys; -1: it has none
	written keyvalue.Key // the key under the names by which it is shown
	results []int        // the transitions whose key is in the result
	mixed   bool         // one of them reads the arguments too
}

// row has the transitions of a net for one name.
type row struct {
	free  bool
	plain []int // transitions that list it, also as tool.action
	exact []int // plain ones and literal ones
}

// namedRow is the row of a name.
type namedRow struct {
	name string
	*row
}

// fewRows are so many that to compare each name is faster than a map.
const fewRows = 8

// row returns the row of a name; nil if the net does not list it.
func (n *net) row(name string) *row {
	if len(n.names) > fewRows {
		return n.rows[name]
	}
	for i := range n.names {
		if n.names[i].name == name {
			return n.names[i].row
		}
	}
	return nil
}

// lists returns the transitions that gate l, in declaration order.
func (r *row) lists(l *naming.Label) []int {
	if l.ActionOnly() {
		return r.plain
	}
	return r.exact
}

// globRow has the transitions of a net for the names that a pattern matches.
type globRow struct {
	number      int // of the pattern in the policy; in a net without Labels: in the net
	transitions []int
}

// compile checks and prepares one net.
func compile(def Net) (*net, ErrorList) {
	n := &net{Net: copyNet(def)}
	if errs := n.Check(); len(errs) > 0 {
		return nil, errs
	}
	n.net, n.initial = n.Structure()
	n.structural = n.Structural()
	for i := range n.Transitions {
		t, pt := &n.Transitions[i], &n.net.Transitions[i]
		n.lasting = append(n.lasting, pt.Lasting())
		n.progress = append(n.progress, n.Labels == nil && !t.WeakProgress && pt.Adds())
		n.spares = n.spares || len(t.Unless) > 0
		n.manual = n.manual || t.Manual
		if t.Every > 0 {
			n.timed = append(n.timed, i)
		}
	}
	n.moving = len(n.timed) > 0 || n.Sum != nil && n.Sum.Every > 0
	n.reasoned = strings.Split(n.Reason, "{key}")
	n.start = slices.Clone(n.initial)
	n.advance(n.start, nil)
	n.own.Mapper, n.own.First = n.Mapper, n.MatchFirst
	n.prepareClock()
	n.gatherEvidence()
	n.list()
	if n.Labels == nil && len(n.Maps) > 0 {
		n.own.Maps = naming.NewMapping(n.Maps)
	}
	n.print = fingerprint.Net(&n.Net)
	return n, nil
}

// copyNet returns a copy of n that shares only functions with it.
func copyNet(n Net) Net {
	n.Places = slices.Clone(n.Places)
	n.Terminal = slices.Clone(n.Terminal)
	n.Free, n.Key = slices.Clone(n.Free), slices.Clone(n.Key)
	n.Maps = slices.Clone(n.Maps)
	n.Phases = slices.Clone(n.Phases)
	for i := range n.Phases {
		n.Phases[i].Tools = slices.Clone(n.Phases[i].Tools)
	}
	if n.Sum != nil {
		sum := *n.Sum
		n.Sum = &sum
	}
	n.Initial, n.Recovery = maps.Clone(n.Initial), maps.Clone(n.Recovery)
	n.Transitions = slices.Clone(n.Transitions)
	for i := range n.Transitions {
		t := &n.Transitions[i]
		t.Inputs, t.Outputs = slices.Clone(t.Inputs), slices.Clone(t.Outputs)
		t.Tools, t.Unless, t.Key = slices.Clone(t.Tools), slices.Clone(t.Unless), slices.Clone(t.Key)
	}
	if n.Cause == "" {
		n.Cause = CauseNet
	}
	return n
}

// list fills the rows and the globs.
func (n *net) list() {
	n.rows = make(map[string]*row)
	for _, name := range n.Free {
		n.makeRow(name).free = true
	}
	for i, t := range n.Transitions {
		for _, tool := range t.Tools {
			n.listTool(i, tool)
		}
	}
}

// makeRow returns the row of a name, and creates it if necessary.
func (n *net) makeRow(name string) *row {
	r := n.rows[name]
	if r == nil {
		r = &row{}
		n.rows[name], n.names = r, append(n.names, namedRow{name, r})
	}
	return r
}

func (n *net) listTool(transition int, tool Tool) {
	if tool.Kind == Glob {
		g := n.glob(tool)
		if !slices.Contains(g.transitions, transition) {
			g.transitions = append(g.transitions, transition)
		}
		return
	}
	r := n.makeRow(tool.Name)
	if tool.Kind == Plain && !slices.Contains(r.plain, transition) {
		r.plain = append(r.plain, transition)
	}
	if !slices.Contains(r.exact, transition) {
		r.exact = append(r.exact, transition)
	}
}

// glob returns the row of a pattern, and creates it if necessary.
func (n *net) glob(tool Tool) *globRow {
	g := naming.Pattern{Text: tool.Name, Except: tool.Except, Literal: n.literal(tool.Except), Actions: strings.Contains(tool.Name, ".")}
	i := slices.Index(n.own.Patterns, g)
	if i < 0 {
		i = len(n.own.Patterns)
		n.own.Patterns, n.globs = append(n.own.Patterns, g), append(n.globs, globRow{number: i})
	}
	return &n.globs[i]
}

// literal reports whether the net knows name only in quotes, so that an
// action of this name is another thing.
func (n *net) literal(name string) bool {
	literal := false
	for _, t := range n.Transitions {
		for _, tool := range t.Tools {
			if tool.Name == name && tool.Kind == Plain {
				return false
			}
			literal = literal || tool.Name == name && tool.Kind == Literal
		}
	}
	return literal
}
