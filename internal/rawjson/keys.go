package rawjson

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// manyKeys is the number of keys above which an object gets a hash table.
const manyKeys = 16

// object finds duplicates among the keys of one object: by comparing, and by
// a table once there are many, so that a hostile object costs linear time.
type object struct {
	base  int // where its keys begin among those of all open objects
	seed  maphash.Seed
	slots []uint32 // number of a key plus one; open addressing; nil: few keys
}

// duplicate reports whether the last of the keys was there before. It must be
// called for each key in turn.
func (o *object) duplicate(keys [][]byte) bool {
	last := len(keys) - 1
	if last < manyKeys {
		return slices.ContainsFunc(keys[:last], func(k []byte) bool { return bytes.Equal(k, keys[last]) })
	}
	if 2*len(keys) > len(o.slots) {
		o.grow(keys[:last])
	}
	return o.insert(keys, last)
}

// grow doubles the space for keys.
func (o *object) grow(keys [][]byte) {
	if o.slots == nil {
		o.seed = maphash.MakeSeed() // nobody can aim at one slot
		o.slots = make([]uint32, 4*manyKeys)
	}
	o.slots = make([]uint32, 2*len(o.slots))
	for n := range keys {
		o.insert(keys, n)
	}
}

// insert puts keys[n] into the table and reports whether an equal key is there.
func (o *object) insert(keys [][]byte, n int) bool {
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

// keyStack holds the decoded keys of all objects that are open, innermost
// last. The usual few need no allocation.
type keyStack struct {
	n    int
	few  [24][]byte
	many [][]byte // nil: all are in few
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

// from returns the keys behind the first base ones.
func (s *keyStack) from(base int) [][]byte {
	if s.many == nil {
		return s.few[base:s.n]
	}
	return s.many[base:s.n]
}
