package petri

import (
	"math"
	"math/bits"
	"slices"
)

// States is a set of keys of the same length, numbered in the order in which
// they came. It is what a search has seen and, as an arena in that order, also
// the queue of a breadth-first one. Keys are compared exactly: two that differ
// are never taken for one.
//
// It allocates for thousands of keys at once and never for one. It is not safe
// for concurrent use.
type States struct {
	MaxBytes int64 // the most memory that it takes; 0 is no bound

	words  int
	shift  uint       // a chunk holds 1<<shift keys
	chunks [][]uint64 // the keys; all chunks but the last are full
	count  int
	table  []uint32 // open addressing; the number of a key plus one, 0 is free
	bytes  int64
}

// chunkWords is about how many words a chunk of the arena holds.
const chunkWords = 1 << 15

// NewStates makes an empty set of keys of so many words; 0 is allowed, and
// such a set holds one key at most.
func NewStates(words int) *States {
	return &States{words: words, shift: uint(bits.Len(uint(chunkWords / max(words, 1)))), table: make([]uint32, 16), bytes: 64}
}

// Add finds the number of key, which it copies if it is new. Where there is no
// room for a new key, the index is -1.
func (s *States) Add(key []uint64) (index int, added bool) {
	slot := s.slot(key)
	if entry := s.table[slot]; entry != 0 {
		return int(entry) - 1, false
	}
	return s.insert(key, slot)
}

// Find is the number of key, if the set has it.
func (s *States) Find(key []uint64) (index int, ok bool) {
	entry := s.table[s.slot(key)]
	return int(entry) - 1, entry != 0
}

// At is the key with number i. It stays as it is, whatever is added; it must
// not be changed.
func (s *States) At(i int) []uint64 {
	at := (i & (1<<s.shift - 1)) * s.words
	return s.chunks[i>>s.shift][at : at+s.words : at+s.words]
}

// Len is how many keys there are.
func (s *States) Len() int { return s.count }

// Bytes is the memory that the set has taken, with what is kept for growth.
func (s *States) Bytes() int64 { return s.bytes }

// BytesPerState is [States.Bytes] over [States.Len].
func (s *States) BytesPerState() float64 { return float64(s.bytes) / float64(max(s.count, 1)) }

// slot is where key stands in the table, or where it would.
func (s *States) slot(key []uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	slot := hashKey(key) & mask
	for {
		entry := s.table[slot]
		if entry == 0 || slices.Equal(s.At(int(entry)-1), key) {
			return slot
		}
		slot = (slot + 1) & mask
	}
}

// slotOf is slot for a key of one word.
func (s *States) slotOf(key uint64) uint64 {
	mask := uint64(len(s.table) - 1)
	slot := hashWord(key) & mask
	for {
		entry := int(s.table[slot])
		if entry == 0 || s.chunks[(entry-1)>>s.shift][(entry-1)&(1<<s.shift-1)] == key {
			return slot
		}
		slot = (slot + 1) & mask
	}
}

// insert appends a key that is not there and belongs into slot.
func (s *States) insert(key []uint64, slot uint64) (index int, added bool) {
	if 4*(s.count+1) > 3*len(s.table) {
		if !s.grow() {
			return -1, false
		}
		slot = s.slot(key)
	}
	if !s.room() {
		return -1, false
	}
	last := len(s.chunks) - 1
	s.chunks[last] = append(s.chunks[last], key...)
	s.count++
	s.table[slot] = uint32(s.count)
	return s.count - 1, true
}

// room makes sure that the last chunk takes one more key. The first chunk
// grows by doubling, so that small sets are small; the others come whole.
func (s *States) room() bool {
	full := s.words << s.shift
	if s.count&(1<<s.shift-1) == 0 {
		size := full
		if s.count == 0 {
			size = min(full, 16*s.words)
		}
		if !s.take(int64(size) * 8) {
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
	if !s.take(int64(size-cap(last)) * 8) {
		return false
	}
	s.chunks[len(s.chunks)-1] = append(make([]uint64, 0, size), last...)
	return true
}

// grow doubles the table and enters all keys again.
func (s *States) grow() bool {
	size := 2 * len(s.table)
	if s.count >= math.MaxUint32-1 || !s.take(int64(size-len(s.table))*4) {
		return false
	}
	s.table = nil // so that the old table can go before the new one comes
	s.table = make([]uint32, size)
	mask := uint64(size - 1)
	for i := range s.count {
		slot := hashKey(s.At(i)) & mask
		for s.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s.table[slot] = uint32(i + 1)
	}
	return true
}

// take accounts for more memory, if the bound allows it.
func (s *States) take(more int64) bool {
	if s.MaxBytes > 0 && s.bytes+more > s.MaxBytes {
		return false
	}
	s.bytes += more
	return true
}

// hashKey mixes each word by a multiplication of full width. It is good at
// spreading markings, and no defense against keys made to collide: those only
// make the search slow.
func hashKey(key []uint64) uint64 {
	h := uint64(hashSeed)
	for _, w := range key {
		hi, lo := bits.Mul64(h^w, hashFactor)
		h = hi ^ lo
	}
	return h
}

// hashWord is hashKey for a key of one word.
func hashWord(w uint64) uint64 {
	hi, lo := bits.Mul64(hashSeed^w, hashFactor)
	return hi ^ lo
}

// Two odd numbers without a pattern.
const (
	hashSeed   = 0x9e3779b97f4a7c15
	hashFactor = 0xa0761d6478bd642f
)
