package gate

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// trie maps texts to states of nets. It never changes: its methods return another,
// which shares almost all of it. The zero value is empty.
type trie struct {
	root *trieNode
	size int
}

// trieNode has what begins with the same bits of a hash, by its next four bits.
type trieNode struct {
	bits  uint16 // the slots that there are
	slots []trieSlot
}

// trieSlot has a node, or the entries of one hash.
type trieSlot struct {
	node  *trieNode
	entry *trieEntry
}

// trieEntry is a text with its state. The clock, and what is spent, is kept apart, so
// that states that are equal but for those can be one.
type trieEntry struct {
	hash  uint64
	text  string
	data  *NetData
	clock *Clock
	spent *spending
	next  *trieEntry // of the same hash
}

// width is the number of bits by which a node divides what it has.
const width = 4

var trieSeed = maphash.MakeSeed()

func hashOf(text string) uint64 { return maphash.String(trieSeed, text) }

// get returns the entry of the text, or nil.
func (t trie) get(hash uint64, text string) *trieEntry {
	shift := 0
	for n := t.root; n != nil; shift += width {
		bit, at := n.slot(hash, shift)
		if n.bits&bit == 0 {
			return nil
		}
		s := n.slots[at]
		for e := s.entry; e != nil; e = e.next {
			if e.hash == hash && e.text == text {
				return e
			}
		}
		n = s.node
	}
	return nil
}

// with returns t with the entry in place of the one of its text.
func (t trie) with(e *trieEntry) trie {
	if t.get(e.hash, e.text) == nil {
		t.size++
	}
	t.root = t.root.with(e, 0)
	return t
}

// without returns t without the entry of the text.
func (t trie) without(hash uint64, text string) trie {
	if t.get(hash, text) == nil {
		return t
	}
	t.size--
	t.root = t.root.without(hash, text, 0).node
	return t
}

// all yields the entries in some order, until it returns false; it reports whether it
// never did.
func (t trie) all(yield func(*trieEntry) bool) bool { return t.root.all(yield) }

// slot returns where n has the hash, if it has it.
func (n *trieNode) slot(hash uint64, shift int) (bit uint16, at int) {
	bit = 1 << (hash >> shift & (1<<width - 1))
	return bit, bits.OnesCount16(n.bits & (bit - 1))
}

func (n *trieNode) with(e *trieEntry, shift int) *trieNode {
	if n == nil {
		bit, _ := (&trieNode{}).slot(e.hash, shift)
		return &trieNode{bits: bit, slots: []trieSlot{{entry: e}}}
	}
	bit, at := n.slot(e.hash, shift)
	if n.bits&bit == 0 {
		slots := make([]trieSlot, len(n.slots)+1)
		copy(slots, n.slots[:at])
		slots[at] = trieSlot{entry: e}
		copy(slots[at+1:], n.slots[at:])
		return &trieNode{bits: n.bits | bit, slots: slots}
	}
	var next trieSlot
	switch old := n.slots[at]; {
	case old.node != nil:
		next.node = old.node.with(e, shift+width)
	case old.entry.hash == e.hash:
		e.next = old.entry.without(e.text)
		next.entry = e
	default:
		var both *trieNode
		next.node = both.with(old.entry, shift+width).with(e, shift+width)
	}
	return n.replaced(at, next)
}

// replaced returns n with another slot there.
func (n *trieNode) replaced(at int, s trieSlot) *trieNode {
	c := &trieNode{bits: n.bits, slots: slices.Clone(n.slots)}
	c.slots[at] = s
	return c
}

// without returns what is left of n. If that is one entry in the end, the node above
// takes it: the shape of a trie depends on its entries alone.
func (n *trieNode) without(hash uint64, text string, shift int) trieSlot {
	bit, at := n.slot(hash, shift)
	var next trieSlot
	if old := n.slots[at]; old.node != nil {
		next = old.node.without(hash, text, shift+width)
	} else {
		next.entry = old.entry.without(text)
	}
	switch {
	case next != trieSlot{}:
		n = n.replaced(at, next)
	case len(n.slots) == 1:
		return trieSlot{}
	default:
		n = &trieNode{bits: n.bits &^ bit, slots: slices.Delete(slices.Clone(n.slots), at, at+1)}
	}
	if shift > 0 && len(n.slots) == 1 && n.slots[0].node == nil {
		return n.slots[0]
	}
	return trieSlot{node: n}
}

func (n *trieNode) all(yield func(*trieEntry) bool) bool {
	if n == nil {
		return true
	}
	for _, s := range n.slots {
		for e := s.entry; e != nil; e = e.next {
			if !yield(e) {
				return false
			}
		}
		if !s.node.all(yield) {
			return false
		}
	}
	return true
}

// without returns the entries of one hash but for that of the text.
func (e *trieEntry) without(text string) *trieEntry {
	if e == nil {
		return nil
	}
	rest := e.next.without(text)
	switch {
	case e.text == text:
		return rest
	case rest == e.next:
		return e
	default:
		c := *e
		c.next = rest
		return &c
	}
}
