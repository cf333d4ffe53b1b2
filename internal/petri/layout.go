package petri

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// maxWidth is the maximum lane width. Token counts stay far below it.
const maxWidth = 62

// layout defines the position of each place in a packed marking. Each place has a lane of bits and,
// above it, a guard bit that is 0 in a valid marking. To compare all lanes of two words at once,
// the guards of the first word are set and the second word is subtracted. If a lane of the first
// word is too small, the subtraction borrows from that lane's guard and does not affect the other
// lanes.
type layout struct {
	words int
	lanes []lane // lane of each place
	guard []uint64
	ones  []uint64 // lowest bit of each lane
	owner []int32  // place of each guard bit; bit b of word w is at index 64*w+b
}

type lane struct {
	word  int
	shift uint
	width uint // number of bits in the lane, without the guard
}

// newLayout returns a layout with lanes of the given widths. It places wide lanes first, each into
// the first word with enough room.
func newLayout(widths []uint) *layout {
	l := &layout{lanes: make([]lane, len(widths))}
	order := make([]int, len(widths))
	for place := range order {
		order[place] = place
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(widths[b], widths[a]) })
	used := make([]uint, 1) // at least one word, so that even a net without places has a state
	for _, place := range order {
		width := widths[place]
		word := slices.IndexFunc(used, func(u uint) bool { return u+width < 64 })
		if word < 0 { // no word has enough room
			word = len(used)
			used = append(used, 0)
		}
		l.lanes[place] = lane{word: word, shift: used[word], width: width}
		used[word] += width + 1
	}
	l.words = len(used)
	l.guard, l.ones, l.owner = make([]uint64, l.words), make([]uint64, l.words), make([]int32, 64*l.words)
	for place, a := range l.lanes {
		l.guard[a.word] |= 1 << (a.shift + a.width)
		l.ones[a.word] |= 1 << a.shift
		l.owner[64*a.word+int(a.shift+a.width)] = int32(place)
	}
	return l
}

// pack encodes m into key. It reports whether every token count fits in its lane.
func (l *layout) pack(m Marking, key []uint64) bool {
	clear(key)
	for place, tokens := range m {
		a := l.lanes[place]
		if uint64(tokens)>>a.width != 0 {
			return false
		}
		key[a.word] |= uint64(tokens) << a.shift
	}
	return true
}

// tokens returns the token count in a place.
func (l *layout) tokens(key []uint64, place int) int {
	a := l.lanes[place]
	return int(key[a.word] >> a.shift & (1<<a.width - 1))
}

// unpack decodes key into m.
func (l *layout) unpack(key []uint64, m Marking) {
	for place := range m {
		m[place] = l.tokens(key, place)
	}
}

func (l *layout) widths() []uint {
	return list.Map(l.lanes, func(a lane) uint { return a.width })
}

// packedTransition is a transition for packed markings. Firing it takes one subtraction and one
// addition for each word that it affects.
type packedTransition struct {
	parts []part
	idle  bool // whether firing the transition leaves the marking unchanged
}

// part is the effect of a transition on one word of a packed marking.
type part struct {
	word    int
	in, out uint64
}

// packTransition converts t to a packedTransition. The weights of its arcs must fit in the lanes.
func (l *layout) packTransition(t *Transition) packedTransition {
	in, out := l.packArcs(t.In), l.packArcs(t.Out)
	f := packedTransition{idle: slices.Equal(in, out)}
	for w := range in {
		if in[w]|out[w] != 0 {
			f.parts = append(f.parts, part{word: w, in: in[w], out: out[w]})
		}
	}
	return f
}

func (l *layout) packArcs(arcs []Arc) []uint64 {
	key := make([]uint64, l.words)
	for _, a := range arcs {
		key[l.lanes[a.Place].word] += uint64(a.Weight) << l.lanes[a.Place].shift
	}
	return key
}

// neededWidths returns lane widths that fit the initial marking, every arc, and the known bounds. A
// negative number stands for an unknown bound.
func neededWidths(n *Net, initial Marking, bounds []int) []uint {
	widths := make([]uint, n.Places)
	need := func(place, tokens int) {
		widths[place] = max(widths[place], uint(bits.Len(uint(tokens))))
	}
	for place, tokens := range initial {
		need(place, max(1, tokens, bounds[place]))
	}
	for _, t := range n.Transitions {
		for _, a := range slices.Concat(t.In, t.Out) {
			need(a.Place, a.Weight)
		}
	}
	return widths
}
