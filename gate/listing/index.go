package listing

import (
	"github.com/petrigate/petrigate/gate/naming"
)

// An Index finds the nets in a policy that might apply to a call, so that the other nets need not
// be evaluated.
type Index struct {
	byName map[string][]int // nets that list the name, or that map a tool with this name
	byGlob [][]int          // nets by pattern number
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

// Find returns the nets that might apply to a call with the given names. It builds the set in room,
// which must be all zero, if room is large enough.
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
