package petri

import (
	"math"
	"math/bits"
	"slices"
)

// States is a set of keys of the same length, numbered in the order of insertion. It
// is the visited set of a search and, as an arena in that order, also the queue of a
// breadth-first search. Keys are compared exactly: two that differ
// are never taken for one.
//
// It allocates for thousands of keys at once and never for one. It is not safe
// for concurrent use.
type States struct {
	MaxBytes int64 // the maximum memory; 0: no bound

	words  int
	shift  uint       // a chunk holds 1<<shift keys
	chunks [][]uint64 // the keys; all chunks but the last are full
	count  int
	bytes  int64
	size   int  // of the tables, a power of 2
	top    uint // 64 less the bits of a slot

	// Open addressing: the number of a key plus one, 0 is free. For keys of
	// one word it is nil until somebody asks for a number.
	table []uint32

	// For keys of one word: the keys once more, so that most questions cost
	// one access to memory. Here 0 is free, so the key 0 is kept aside.
	inline []uint64
	zero   uint32 // its number plus one
}

// chunkWords is about how many words a chunk of the arena holds.
const chunkWords = 1 << 15

// NewStates returns an empty set of keys with this number of words; a set of keys
// with 0 words has at most one key.
func NewStates(words int) *States {
	s := &States{words: words, shift: uint(bits.Len(uint(chunkWords / max(words, 1)))), size: firstSlots, top: 64 - firstBits}
	if words == 1 {
		s.inline, s.bytes = make([]uint64, firstSlots), 8*firstSlots
	} else {
		s.table, s.bytes = make([]uint32, firstSlots), 4*firstSlots
	}
	return s
}

// The first table.
const (
	firstBits  = 4
	firstSlots = 1 << firstBits
)

// Add finds the number of key, which it copies if it is new. Where there is no
// room for a new key, the index is -1.
func (s *States) Add(key []uint64) (index int, added bool) {
	if index, ok := s.Find(key); ok {
		return index, false
	}
	return s.addNew(key)
}

// addNew is Add for a key that is not in the set.
func (s *States) addNew(key []uint64) (index int, added bool) {
	if s.words == 1 {
		return s.insertWord(key[0], s.wordSlot(key[0], hashWord(key[0])))
	}
	return s.insert(key, s.slot(key))
}

// Find returns the number of key, if the set has it.
func (s *States) Find(key []uint64) (index int, ok bool) {
	var entry uint32
	switch {
	case s.words != 1:
		entry = s.table[s.slot(key)]
	case key[0] == 0:
		entry = s.zero
	default:
		if s.table == nil {
			s.number()
		}
		entry = s.table[s.wordSlot(key[0], hashWord(key[0]))]
	}
	return int(entry) - 1, entry != 0
}

// At returns the key with number i. Later insertions do not change it; the caller
// must not change it.
func (s *States) At(i int) []uint64 {
	at := (i & (1<<s.shift - 1)) * s.words
	return s.chunks[i>>s.shift][at : at+s.words : at+s.words]
}

// Len returns the number of keys.
func (s *States) Len() int { return s.count }

// BytesPerState returns the memory of the set, with its reserve for growth, divided
// by [States.Len].
func (s *States) BytesPerState() float64 { return float64(s.bytes) / float64(max(s.count, 1)) }

// home returns the slot in which the search for a hash begins. It comes from the
// high bits, so that a table that grows keeps its order.
func (s *States) home(hash uint64) int { return int(hash >> s.top) }

// slot returns the slot of key in the table, or the one for it.
func (s *States) slot(key []uint64) int {
	for slot := s.home(hashKey(key)); ; slot = (slot + 1) & (s.size - 1) {
		if entry := s.table[slot]; entry == 0 || slices.Equal(s.At(int(entry)-1), key) {
			return slot
		}
	}
}

// wordSlot is slot for a key of one word that is not 0.
func (s *States) wordSlot(key, hash uint64) int {
	for slot := s.home(hash); ; slot = (slot + 1) & (s.size - 1) {
		if found := s.inline[slot]; found == 0 || found == key {
			return slot
		}
	}
}

// insert appends a key that is not there and belongs into slot.
func (s *States) insert(key []uint64, slot int) (index int, added bool) {
	if s.full() {
		if !s.grow() {
			return -1, false
		}
		slot = s.slot(key)
	}
	if !s.room() {
		return -1, false
	}
	s.push(key)
	s.table[slot] = uint32(s.count)
	return s.count - 1, true
}

// insertWord is insert for a key of one word. The slot of 0 does not matter.
func (s *States) insertWord(key uint64, slot int) (index int, added bool) {
	if s.full() {
		if !s.growWords() {
			return -1, false
		}
		slot = s.wordSlot(key, hashWord(key))
	}
	if !s.room() {
		return -1, false
	}
	s.push([]uint64{key})
	switch {
	case key == 0:
		s.zero = uint32(s.count)
		return s.count - 1, true
	case s.table != nil:
		s.table[slot] = uint32(s.count)
	}
	s.inline[slot] = key
	return s.count - 1, true
}

func (s *States) push(key []uint64) {
	last := len(s.chunks) - 1
	s.chunks[last] = append(s.chunks[last], key...)
	s.count++
}

// full reports whether the next key needs a larger table.
func (s *States) full() bool { return 4*(s.count+1) > 3*s.size }

// room ensures space for one more key in the last chunk. The first chunk
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
	if s.count >= math.MaxUint32-1 || !s.take(4*int64(s.size)) {
		return false
	}
	s.size, s.top = 2*s.size, s.top-1
	s.table = nil // so that the old table can go before the new one comes
	s.table = make([]uint32, s.size)
	for i := range s.count {
		slot := s.home(hashKey(s.At(i)))
		for s.table[slot] != 0 {
			slot = (slot + 1) & (s.size - 1)
		}
		s.table[slot] = uint32(i + 1)
	}
	return true
}

// growWords is grow for keys of one word. It goes through the old tables in
// order, and so, but for collisions, through the new ones.
func (s *States) growWords() bool {
	numbered := s.table != nil
	more := 8 * int64(s.size)
	if numbered {
		more += 4 * int64(s.size)
	}
	if s.count >= math.MaxUint32-1 || !s.take(more) {
		return false
	}
	inline, table := s.inline, s.table
	s.size, s.top = 2*s.size, s.top-1
	s.inline = make([]uint64, s.size)
	if numbered {
		s.table = make([]uint32, s.size)
	}
	for i, key := range inline {
		if key == 0 {
			continue
		}
		slot := s.wordSlot(key, hashWord(key))
		s.inline[slot] = key
		if numbered {
			s.table[slot] = table[i]
		}
	}
	return true
}

// number makes the table of numbers. It may go beyond the bound of memory, by
// half at most: a search that ended there must still report its path.
func (s *States) number() {
	s.bytes += 4 * int64(s.size)
	s.table = make([]uint32, s.size)
	for i := range s.count {
		if key := s.At(i)[0]; key != 0 {
			s.table[s.wordSlot(key, hashWord(key))] = uint32(i + 1)
		}
	}
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
