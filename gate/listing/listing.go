// Package listing resolves the names of calls. It finds the transitions of a net that list a name,
// and the nets of a policy that might apply to a call.
package listing

import (
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Listing holds the names and patterns that a net lists. It is immutable after
// [Listing.Register].
type Listing struct {
	transitions []toolnet.Transition
	entries     map[string]*nameEntry
	names       []namedEntry     // the names that the net lists, in order of first use
	patterns    []naming.Pattern // the patterns that the net lists, in order of first use
	globs       []globEntry      // the transitions that list each pattern
	hasUnless   bool
	hasSpared   bool // whether an Unless list has an entry with Spared set; "default: deny" can refuse the calls that such an entry exempts
}

// nameEntry holds a net's transitions for a name.
type nameEntry struct {
	free  bool
	plain []int // transitions that list the name as a plain name, possibly of the form tool.action
	exact []int // transitions that list the name as a plain name or as a literal
}

// namedEntry is a nameEntry together with its name.
type namedEntry struct {
	name string
	*nameEntry
}

// globEntry holds a net's transitions for names that match a pattern.
type globEntry struct {
	number      int // index of the pattern in the policy or, before [Listing.Register], in the net
	transitions []int
}

// New returns the listing for n. The net must not change afterwards.
func New(n *toolnet.Net) Listing {
	l := Listing{transitions: n.Transitions, entries: make(map[string]*nameEntry)}
	for _, name := range n.Free {
		l.makeEntry(name).free = true
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		l.hasUnless = l.hasUnless || len(t.Unless) > 0
		l.hasSpared = l.hasSpared || slices.ContainsFunc(t.Unless, func(u toolnet.Tool) bool { return u.Spared })
		for _, tool := range t.Tools {
			l.list(i, tool)
		}
	}
	return l
}

// makeEntry returns the entry for a name, creating it if necessary.
func (l *Listing) makeEntry(name string) *nameEntry {
	r := l.entries[name]
	if r == nil {
		r = &nameEntry{}
		l.entries[name], l.names = r, append(l.names, namedEntry{name, r})
	}
	return r
}

func (l *Listing) list(transition int, tool toolnet.Tool) {
	if tool.Kind == toolnet.Glob {
		g := l.glob(tool)
		if !slices.Contains(g.transitions, transition) {
			g.transitions = append(g.transitions, transition)
		}
		return
	}
	r := l.makeEntry(tool.Name)
	if tool.Kind == toolnet.Plain && !slices.Contains(r.plain, transition) {
		r.plain = append(r.plain, transition)
	}
	if !slices.Contains(r.exact, transition) {
		r.exact = append(r.exact, transition)
	}
}

// glob returns the entry for a pattern, creating it if necessary.
func (l *Listing) glob(tool toolnet.Tool) *globEntry {
	p := naming.NewPattern(tool)
	p.Literal = l.literal(tool.Except)
	i := slices.Index(l.patterns, p)
	if i < 0 {
		i = len(l.patterns)
		l.patterns, l.globs = append(l.patterns, p), append(l.globs, globEntry{number: i})
	}
	return &l.globs[i]
}

// literal reports whether the net lists the name only with kind [toolnet.Literal], that is, in
// quotes. Such a name does not match a name of the form tool.action that comes from a call's action
// argument.
func (l *Listing) literal(name string) bool {
	literal := false
	for i := range l.transitions {
		for _, tool := range l.transitions[i].Tools {
			if tool.Name == name && tool.Kind == toolnet.Plain {
				return false
			}
			literal = literal || tool.Name == name && tool.Kind == toolnet.Literal
		}
	}
	return literal
}

// Patterns returns the patterns that the net lists, in order of first use.
func (l *Listing) Patterns() []naming.Pattern { return l.patterns }

// Register registers the net's names and patterns with g, so that g recognizes them in calls. This
// includes the names in Unless lists.
func (l *Listing) Register(g *naming.Naming) {
	for i := range l.names {
		g.Name(l.names[i].name)
	}
	for i := range l.patterns {
		l.globs[i].number = g.Number(&l.patterns[i])
	}
	for i := range l.transitions {
		g.Exempt(l.transitions[i].Unless)
	}
}

// fewEntries is the maximum number of entries for a linear search. For more entries, a map is
// faster.
const fewEntries = 8

// Lookup returns the transitions that list a name, in declaration order. It leaves out the
// transitions in spared, which do not apply to the call. The result free reports whether the net
// always allows the name; see [toolnet.Net].Free.
func (l *Listing) Lookup(name *naming.Label, spared []int) (transitions []int, free bool) {
	var r *nameEntry
	switch {
	case name.Glob > 0:
		if i := l.numbered(name); i >= 0 {
			transitions = l.globs[i].transitions
		}
	case len(l.names) > fewEntries:
		r = l.entries[name.Text]
	default:
		for i := range l.names {
			if l.names[i].name == name.Text {
				r = l.names[i].nameEntry
				break
			}
		}
	}
	if r != nil {
		transitions, free = r.exact, r.free
		if name.From == naming.FromAction {
			transitions = r.plain
		}
	}
	if len(spared) > 0 {
		transitions = Delete(transitions, func(t int) bool { return slices.Contains(spared, t) })
	}
	return transitions, free
}

// numbered returns the index in l.globs of a label's pattern. It returns -1 if the label is not a
// pattern or the net does not list the pattern.
func (l *Listing) numbered(name *naming.Label) int {
	return slices.IndexFunc(l.globs, func(g globEntry) bool { return g.number == int(name.Glob)-1 })
}

// Knows reports whether the net gates a name that the call is certain to have, or lists it as free.
// If so, "default: deny" does not refuse the call. A transition that only observes calls does not
// gate them.
func (l *Listing) Knows(names []naming.Label) bool {
	out := l.leftOut(names)
	for i := range names {
		if !names[i].Certain {
			continue
		}
		if transitions, free := l.Lookup(&names[i], out); free || !l.OnlyObserve(transitions) {
			return true
		}
	}
	return false
}

// leftOut returns the transitions that do not apply to a call with the given names, because an
// Unless entry with Spared set exempts the call; see [toolnet.Tool.Spared].
func (l *Listing) leftOut(names []naming.Label) []int {
	if !l.hasSpared {
		return nil
	}
	return l.exempting(func(u toolnet.Tool) bool { return u.Spared && naming.Exempts(&u, names) })
}

// exempting returns the transitions whose Unless list contains a tool accepted by the function ok.
func (l *Listing) exempting(ok func(u toolnet.Tool) bool) (numbers []int) {
	for t := range l.transitions {
		if slices.ContainsFunc(l.transitions[t].Unless, ok) {
			numbers = append(numbers, t)
		}
	}
	return numbers
}

// OnlyObserve reports whether all of the given transitions are observers.
func (l *Listing) OnlyObserve(transitions []int) bool {
	return !slices.ContainsFunc(transitions, func(t int) bool { return !l.transitions[t].Observe })
}

// Evidence returns the names that deferred observers wait for, in declaration order.
func (l *Listing) Evidence() (names []string) {
	for i := range l.transitions {
		t := &l.transitions[i]
		for k := range t.Tools {
			if name := t.Tools[k].Name; t.Observe && t.Deferred && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Except returns the name that a label's pattern excludes. It returns "" if the pattern excludes no
// name or the net does not list the pattern.
func (l *Listing) Except(name *naming.Label) string {
	if i := l.numbered(name); i >= 0 {
		return l.patterns[i].Except
	}
	return ""
}

// Spared returns the transitions whose Unless list is certain to exempt a call with the given
// names.
func (l *Listing) Spared(names []naming.Label) []int {
	if !l.hasUnless {
		return nil
	}
	return l.exempting(func(u toolnet.Tool) bool { return naming.Exempts(&u, names) })
}

// Delete returns the given transitions without those that satisfy drop. It does not modify its
// argument.
func Delete(transitions []int, drop func(t int) bool) []int {
	if !slices.ContainsFunc(transitions, drop) {
		return transitions
	}
	return slices.DeleteFunc(slices.Clone(transitions), drop)
}

// An Index finds the nets in a policy that might apply to a call, so that the other nets need not
// be evaluated.
type Index struct {
	byName map[string][]int // nets that list the name, or that have a [toolnet.Map] for a tool with this name
	byGlob [][]int          // nets that list each pattern, by index of the pattern in the policy
	always []int            // nets that might apply to every call
	words  int              // size of a [Set] in 64-bit words
}

// NewIndex returns an empty index for the given numbers of nets and patterns.
func NewIndex(nets, patterns int) Index {
	return Index{byName: make(map[string][]int), byGlob: make([][]int, patterns), words: words(nets)}
}

// Always adds a net that might apply to every call.
func (x *Index) Always(net int) { x.always = append(x.always, net) }

// Add adds a net that applies to the names and patterns in l and to the given tools.
func (x *Index) Add(net int, l *Listing, tools []string) {
	for i := range l.names {
		x.name(net, l.names[i].name)
	}
	for _, tool := range tools {
		x.name(net, tool)
	}
	for i := range l.globs {
		number := l.globs[i].number
		x.byGlob[number] = append(x.byGlob[number], net)
	}
}

func (x *Index) name(net int, name string) { x.byName[name] = append(x.byName[name], net) }

// Find returns the nets that might apply to a call with the given names. To save an allocation, it
// stores the result in room if room is large enough. room must be an empty set.
func (x *Index) Find(names []naming.Label, room Set) Set {
	if x.words > len(room) {
		room = make(Set, x.words)
	}
	for _, n := range x.always {
		room.Add(n)
	}
	for i := range names {
		var nets []int
		if glob := names[i].Glob; glob > 0 {
			nets = x.byGlob[glob-1]
		} else {
			nets = x.byName[names[i].Text]
		}
		for _, n := range nets {
			room.Add(n)
		}
	}
	return room
}

// A Set is a bit set of net indexes.
type Set []uint64

// NewSet returns an empty set for the given number of nets.
func NewSet(nets int) Set { return make(Set, words(nets)) }

func words(nets int) int { return (nets + 63) / 64 }

// Add adds a net to the set.
func (s Set) Add(net int) { s[net/64] |= 1 << (net % 64) }
