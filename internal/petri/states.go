package petri

import (
	"math"
	"math/bits"
	"slices"
)

// stateSet is a set of keys of equal length, numbered in insertion order. A search uses it both as
// its visited set and, because the keys are stored in that order, as the queue of its breadth-first
// traversal. Keys are compared exactly, so two different keys are never mixed up.
//
// It allocates memory for thousands of keys at once and never for a single key. It is not safe for
// concurrent use.
type stateSet struct {
	maxBytes int64 // maximum memory; 0 means unlimited

	words     int
	shift     uint       // each chunk holds 1<<shift keys
	chunks    [][]uint64 // keys; all chunks but the last are full
	count     int
	bytes     int64
	size      int  // number of slots in the tables, a power of 2
	hashShift uint // 64 minus the number of bits in a slot index

	// Hash table with open addressing. A slot holds the number of a key plus one; 0 means free. For
	// one-word keys, only find needs this table and builds it on demand; insert then discards it,
	// because it is out of date.
	table []uint32

	// Tags: a few bits of each key's hash, so that a lookup rarely compares two different keys. 0
	// marks a free slot. Not used for one-word keys.
	tags []uint8

	// Slots for one-word keys. They hold the complements of the keys, because 0 marks a free slot.
	inline []uint64
}

// chunkWords is the approximate number of words in a chunk of keys.
const chunkWords = 1 << 15

// newStateSet returns an empty set of keys that consist of the given number of words. With 0 words,
// the set can contain only a single key. With 1 word, each key must have at least one 0 bit.
func newStateSet(words int) *stateSet {
	s := &stateSet{words: words, shift: uint(bits.Len(uint(chunkWords / max(words, 1)))), size: firstSlots, hashShift: 64 - firstBits}
	if words == 1 {
		s.inline, s.bytes = make([]uint64, firstSlots), 8*firstSlots
	} else {
		s.table, s.tags, s.bytes = make([]uint32, firstSlots), make([]uint8, firstSlots), taggedSlotBytes*firstSlots
	}
	return s
}

// taggedSlotBytes is the size of a slot in table and tags together.
const taggedSlotBytes = 5

const (
	firstBits  = 4
	firstSlots = 1 << firstBits
)

// add adds a copy of key, which must not already be in the set. It returns false if that would
// exceed the memory limit.
func (s *stateSet) add(key []uint64) bool { return s.insert(key, s.slot(key)) }

// find returns the index of key in insertion order. ok is false if key is not in the set.
func (s *stateSet) find(key []uint64) (index int, ok bool) {
	if s.table == nil {
		s.bytes += 4 * int64(s.size) // this may exceed the memory limit, so that a search that has reached the limit can still report its path
		s.buildNumbers()
	}
	entry := s.table[s.slot(key)]
	return int(entry) - 1, entry != 0
}

// at returns the key with index i. The slice remains valid after later insertions. The caller must
// not modify it.
func (s *stateSet) at(i int) []uint64 {
	at := (i & (1<<s.shift - 1)) * s.words
	return s.chunks[i>>s.shift][at : at+s.words : at+s.words]
}

func (s *stateSet) len() int { return s.count }

// bytesPerState returns the memory that the set uses per state (that is, per key), including the
// memory reserved for growth.
func (s *stateSet) bytesPerState() float64 { return float64(s.bytes) / float64(max(s.count, 1)) }

// firstSlot returns the first slot in a hash's probe sequence. It uses the high bits of the hash,
// so that growing the table preserves the order of its entries.
func (s *stateSet) firstSlot(hash uint64) int { return int(hash >> s.hashShift) }

// slot returns the slot that contains key, or the free slot where it belongs.
func (s *stateSet) slot(key []uint64) int {
	if s.words == 1 {
		return s.wordSlot(key[0], hashWord(key[0]))
	}
	return s.keySlot(key, hashKey(key))
}

// keySlot is like slot, but only for keys that are not one word long.
func (s *stateSet) keySlot(key []uint64, hash uint64) int {
	tag := tagOf(hash)
	for slot := s.firstSlot(hash); ; slot = (slot + 1) & (s.size - 1) {
		if found := s.tags[slot]; found == 0 || found == tag && slices.Equal(s.at(int(s.table[slot])-1), key) {
			return slot
		}
	}
}

// tagOf returns the tag for a hash. It uses bits of the hash that firstSlot does not use.
func tagOf(hash uint64) uint8 { return uint8(hash) | 1 }

// wordSlot returns the slot that contains a one-word key, or the free slot where it belongs.
func (s *stateSet) wordSlot(key, hash uint64) int {
	for slot := s.firstSlot(hash); ; slot = (slot + 1) & (s.size - 1) {
		if found := s.inline[slot]; found == 0 || found == ^key {
			return slot
		}
	}
}

// insert adds a key that is not in the set and belongs in slot. It returns false if that would
// exceed the memory limit.
func (s *stateSet) insert(key []uint64, slot int) bool {
	if s.full() {
		if !s.grow() {
			return false
		}
		slot = s.slot(key)
	}
	if !s.ensureRoom() {
		return false
	}
	last := len(s.chunks) - 1
	s.chunks[last] = append(s.chunks[last], key...)
	s.count++
	switch {
	case s.words != 1:
		s.table[slot], s.tags[slot] = uint32(s.count), tagOf(hashKey(key))
		return true
	case s.table != nil:
		s.table, s.bytes = nil, s.bytes-4*int64(s.size)
	}
	s.inline[slot] = ^key[0]
	return true
}

// full reports whether the table must grow before another key can be added.
func (s *stateSet) full() bool { return 4*(s.count+1) > 3*s.size }

// ensureRoom ensures that the last chunk has room for another key. The first chunk grows by
// doubling, so that small sets stay small. Later chunks are allocated at full size.
func (s *stateSet) ensureRoom() bool {
	full := s.words << s.shift
	if s.count&(1<<s.shift-1) == 0 {
		size := full
		if s.count == 0 {
			size = min(full, 16*s.words)
		}
		if !s.reserveBytes(int64(size) * 8) {
			return false
		}
		s.chunks = append(s.chunks, make([]uint64, 0, size))
		return true
	}
	last := s.chunks[len(s.chunks)-1]
	if len(last) < cap(last) || s.words == 0 {
		return true
	}
	size := min(full, 2*cap(last))
	if !s.reserveBytes(int64(size-cap(last)) * 8) {
		return false
	}
	s.chunks[len(s.chunks)-1] = append(make([]uint64, 0, size), last...)
	return true
}

// grow doubles the table. It returns false if the set has reached its maximum size, or if the
// larger table would exceed the memory limit.
func (s *stateSet) grow() bool {
	slotBytes := int64(taggedSlotBytes)
	if s.words == 1 {
		slotBytes = 8
	}
	if s.count >= math.MaxUint32-1 || !s.reserveBytes(slotBytes*int64(s.size)) {
		return false
	}
	s.size, s.hashShift = 2*s.size, s.hashShift-1
	if s.words != 1 {
		s.table, s.tags = nil, nil // let the garbage collector free the old tables first
		s.rebuildTags()
		return true
	}
	old := s.inline
	s.inline = make([]uint64, s.size)
	for _, entry := range old {
		if entry != 0 {
			s.inline[s.wordSlot(^entry, hashWord(^entry))] = entry
		}
	}
	return true
}

// rebuildTags refills table and tags.
func (s *stateSet) rebuildTags() {
	s.table, s.tags = make([]uint32, s.size), make([]uint8, s.size)
	for i := range s.count {
		hash := hashKey(s.at(i))
		slot := s.firstSlot(hash)
		for s.tags[slot] != 0 {
			slot = (slot + 1) & (s.size - 1)
		}
		s.table[slot], s.tags[slot] = uint32(i+1), tagOf(hash)
	}
}

// buildNumbers builds the table of key numbers for one-word keys.
func (s *stateSet) buildNumbers() {
	s.table = make([]uint32, s.size)
	for i := range s.count {
		s.table[s.slot(s.at(i))] = uint32(i + 1)
	}
}

// reserveBytes adds n to the number of bytes in use. It returns false if that would exceed the
// memory limit.
func (s *stateSet) reserveBytes(n int64) bool {
	if s.maxBytes > 0 && s.bytes+n > s.maxBytes {
		return false
	}
	s.bytes += n
	return true
}

// hashKey mixes in each word with a full-width multiplication. It spreads markings well. It does
// not resist keys crafted to collide, but such keys would only slow down the search.
func hashKey(key []uint64) uint64 {
	h := uint64(hashSeed)
	for _, w := range key {
		hi, lo := bits.Mul64(h^w, hashFactor)
		h = hi ^ lo
	}
	return h
}

// hashWord returns the hash of a one-word key; see hashKey.
func hashWord(w uint64) uint64 {
	hi, lo := bits.Mul64(hashSeed^w, hashFactor)
	return hi ^ lo
}

// Constants of the hash functions: odd numbers without a regular bit pattern.
const (
	hashSeed   = 0x9e3779b97f4a7c15
	hashFactor = 0xa0761d6478bd642f
)
