package rawjson

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// manyKeys is the number of keys above which an object gets a hash table.
const manyKeys = 16

// keySet detects duplicate keys of one object. It compares keys directly, and uses a hash table for
// many keys, so that a hostile object takes only linear time.
type keySet struct {
	base  int // index of its first key in the stack of all open objects
	seed  maphash.Seed
	slots []uint32 // hash table with open addressing: index of a key plus one; nil: few keys
}

// duplicate reports whether the last key equals an earlier one. It must be called once for each
// key, in order.
func (o *keySet) duplicate(keys [][]byte) bool {
	last := len(keys) - 1
	if last < manyKeys {
		return slices.ContainsFunc(keys[:last], func(k []byte) bool { return bytes.Equal(k, keys[last]) })
	}
	if 2*len(keys) > len(o.slots) {
		o.grow(keys[:last])
	}
	return o.insert(keys, last)
}

// grow allocates the table or doubles its size.
func (o *keySet) grow(keys [][]byte) {
	if o.slots == nil {
		o.seed = maphash.MakeSeed() // a random seed prevents deliberate collisions
		o.slots = make([]uint32, 4*manyKeys)
	}
	o.slots = make([]uint32, 2*len(o.slots))
	for n := range keys {
		o.insert(keys, n)
	}
}

// insert adds keys[n] to the table and reports whether the table already has an equal key.
func (o *keySet) insert(keys [][]byte, n int) bool {
	mask := uint64(len(o.slots) - 1)
	for h := maphash.Bytes(o.seed, keys[n]); ; h++ {
		slot := &o.slots[h&mask]
		if *slot == 0 {
			*slot = uint32(n + 1)
			return false
		}
		if string(keys[*slot-1]) == string(keys[n]) {
			return true
		}
	}
}

// keyStack holds the decoded keys of all open objects, innermost last. A small number of keys needs
// no allocation.
type keyStack struct {
	n    int
	few  [24][]byte
	many [][]byte // nil: all keys are in few
}

func (s *keyStack) push(key []byte) {
	if s.many == nil && s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return
	}
	if s.many == nil {
		s.many = append(make([][]byte, 0, 4*len(s.few)), s.few[:]...)
	}
	s.many = append(s.many[:s.n], key)
	s.n++
}

// from returns all keys except the first base ones.
func (s *keyStack) from(base int) [][]byte {
	if s.many == nil {
		return s.few[base:s.n]
	}
	return s.many[base:s.n]
}
