// Package trie implements a persistent map from strings to values as a hash array mapped trie. An
// update returns a new map, which shares almost all its memory with the old one.
package trie

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A Trie maps strings to values. It is immutable: an update returns a new trie, which shares almost
// all its memory with the old one. The zero value is empty.
type Trie[V any] struct {
	root *node[V]
	size int
}

// node is an inner node of the trie. The hashes of all its entries agree in the bits that select
// the path from the root. The next four bits select a slot.
type node[V any] struct {
	bits  uint16 // bit set of the occupied slots
	slots []slot[V]
}

// slot contains either a child node or a list of entries with the same hash.
type slot[V any] struct {
	node  *node[V]
	entry *Entry[V]
}

// An Entry is a string and its value. [Trie.With] takes ownership of the entry.
type Entry[V any] struct {
	Hash  uint64 // hash of Text; see [Hash]
	Text  string
	Value V
	next  *Entry[V] // the next of several entries with the same hash
}

// width is the number of hash bits that select a slot in a node.
const width = 4

var seed = maphash.MakeSeed()

// Hash returns the hash of a string. The same string has different hashes in different processes.
func Hash(text string) uint64 { return maphash.String(seed, text) }

// Len returns the number of entries.
func (t Trie[V]) Len() int { return t.size }

// Get returns the entry with the given text, or nil.
func (t Trie[V]) Get(hash uint64, text string) *Entry[V] {
	shift := 0
	for n := t.root; n != nil; shift += width {
		bit, at := n.slot(hash, shift)
		if n.bits&bit == 0 {
			return nil
		}
		s := n.slots[at]
		for e := s.entry; e != nil; e = e.next {
			if e.Hash == hash && e.Text == text {
				return e
			}
		}
		n = s.node
	}
	return nil
}

// With returns t with e added. The new entry replaces any entry with the same Text.
func (t Trie[V]) With(e *Entry[V]) Trie[V] {
	if t.Get(e.Hash, e.Text) == nil {
		t.size++
	}
	t.root = t.root.with(e, 0)
	return t
}

// Without returns t without the entry for the given text. If t has no such entry, Without returns t
// unchanged.
func (t Trie[V]) Without(hash uint64, text string) Trie[V] {
	if t.Get(hash, text) == nil {
		return t
	}
	t.size--
	t.root = t.root.without(hash, text, 0).node
	return t
}

// All yields the entries in no particular order until yield returns false. It reports whether all
// entries were yielded.
func (t Trie[V]) All(yield func(*Entry[V]) bool) bool { return t.root.all(yield) }

// slot returns the bit and the index of the slot for the hash. The slot might not be occupied yet.
func (n *node[V]) slot(hash uint64, shift int) (bit uint16, at int) {
	bit = 1 << (hash >> shift & (1<<width - 1))
	return bit, bits.OnesCount16(n.bits & (bit - 1))
}

func (n *node[V]) with(e *Entry[V], shift int) *node[V] {
	if n == nil {
		n = &node[V]{}
	}
	bit, at := n.slot(e.Hash, shift)
	if n.bits&bit == 0 {
		return &node[V]{bits: n.bits | bit, slots: slices.Concat(n.slots[:at], []slot[V]{{entry: e}}, n.slots[at:])}
	}
	var next slot[V]
	switch old := n.slots[at]; {
	case old.node != nil:
		next.node = old.node.with(e, shift+width)
	case old.entry.Hash == e.Hash:
		e.next = old.entry.without(e.Text)
		next.entry = e
	default:
		var both *node[V]
		next.node = both.with(old.entry, shift+width).with(e, shift+width)
	}
	return n.replaced(at, next)
}

// replaced returns a copy of n with the slot at the given index replaced.
func (n *node[V]) replaced(at int, s slot[V]) *node[V] {
	c := &node[V]{bits: n.bits, slots: slices.Clone(n.slots)}
	c.slots[at] = s
	return c
}

// without removes an entry and returns the slot that replaces n. If all remaining entries have the
// same hash, the slot contains them directly, unless n is the root. The shape of a trie thus
// depends only on its entries.
func (n *node[V]) without(hash uint64, text string, shift int) slot[V] {
	bit, at := n.slot(hash, shift)
	var next slot[V]
	if old := n.slots[at]; old.node != nil {
		next = old.node.without(hash, text, shift+width)
	} else {
		next.entry = old.entry.without(text)
	}
	switch {
	case next != slot[V]{}:
		n = n.replaced(at, next)
	case len(n.slots) == 1:
		return slot[V]{}
	default:
		n = &node[V]{bits: n.bits &^ bit, slots: slices.Delete(slices.Clone(n.slots), at, at+1)}
	}
	if shift > 0 && len(n.slots) == 1 && n.slots[0].node == nil {
		return n.slots[0]
	}
	return slot[V]{node: n}
}

func (n *node[V]) all(yield func(*Entry[V]) bool) bool {
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

// without returns the list of entries that starts at e, without the entry for the given text. All
// entries in the list have the same hash.
func (e *Entry[V]) without(text string) *Entry[V] {
	if e == nil {
		return nil
	}
	rest := e.next.without(text)
	switch {
	case e.Text == text:
		return rest
	case rest == e.next:
		return e
	default:
		c := *e
		c.next = rest
		return &c
	}
}
