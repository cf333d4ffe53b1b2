package petri

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestStatesKeepWhatTheyAreGiven(t *testing.T) {
	for _, words := range []int{1, 2, 3, 70} {
		const n = 50_000 / 7
		s := newStateSet(words)
		key := make([]uint64, words)
		fill := func(i int) {
			for w := range key {
				key[w] = uint64(i) << (w % 40) // most words have few bits that differ
			}
		}
		var early []uint64
		for i := range n {
			fill(i)
			if !s.add(key) || s.len() != i+1 {
				t.Fatalf("%d words: key %d got number %d", words, i, s.len()-1)
			}
			if i == 3 {
				early = s.at(3)
			}
		}
		for i := range n {
			fill(i)
			if index, ok := s.find(key); index != i || !ok || !slices.Equal(s.at(i), key) {
				t.Fatalf("%d words: key %d is number %d, found %v", words, i, index, ok)
			}
		}
		fill(3)
		if !slices.Equal(early, key) || s.len() != n {
			t.Errorf("%d words: %v, want %v; %d keys", words, early, key, s.len())
		}
		fill(n)
		if _, ok := s.find(key); ok {
			t.Errorf("%d words: found what is not there", words)
		}
	}
}

func TestStatesWithoutWords(t *testing.T) {
	s := newStateSet(0)
	if _, ok := s.find(nil); ok || !s.add(nil) {
		t.Error("the empty key is not new")
	}
	if index, ok := s.find([]uint64{}); index != 0 || !ok || len(s.at(0)) != 0 {
		t.Error("there are two empty keys")
	}
}

func TestStatesStayWithinTheirMemory(t *testing.T) {
	for _, most := range []int64{200, 1_000, 100_000, 1_000_000} {
		s := newStateSet(1)
		s.maxBytes = most
		n := 0
		for s.add([]uint64{uint64(n)}) {
			n++
		}
		if s.bytes > most || s.len() != n {
			t.Errorf("%d keys in %d bytes of %d", s.len(), s.bytes, most)
		}
		if n > 0 {
			if index, ok := s.find([]uint64{0}); index != 0 || !ok {
				t.Error("a full set does not know its keys")
			}
		}
	}
}

func TestStatesAreSmallAndAllocateRarely(t *testing.T) {
	s := newStateSet(1)
	key := []uint64{0}
	allocs := testing.AllocsPerRun(1, func() {
		for range 1_000_000 {
			key[0] += 0x10001
			s.add(key)
		}
	})
	if s.bytesPerState() > 36 || allocs > 200 {
		t.Errorf("%.1f bytes a state, %.0f allocations", s.bytesPerState(), allocs)
	}
	if few := newStateSet(2); few.bytes > 80 {
		t.Errorf("an empty set takes %d bytes", few.bytes)
	}
}

// FuzzStates compares the set with a map.
func FuzzStates(f *testing.F) {
	f.Add([]byte("abcdabceabcd"), uint8(0))
	f.Add([]byte("abcdabceabcd"), uint8(1))
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, uint8(2))
	f.Fuzz(func(t *testing.T, doc []byte, words uint8) {
		size := int(words%4) + 1
		s, want := newStateSet(size), map[string]int{}
		key := make([]uint64, size)
		for ; len(doc) >= size; doc = doc[size:] {
			var text []byte
			for w := range key {
				key[w] = uint64(doc[w])
				text = binary.AppendUvarint(text, key[w])
			}
			known, ok := want[string(text)]
			if !ok {
				known = len(want)
				want[string(text)] = known
			}
			if index, found := s.find(key); found != ok || ok && index != known {
				t.Fatalf("%v is %d, found %v; want %d", key, index, found, known)
			}
			if !ok && !s.add(key) {
				t.Fatalf("there is no room for %v", key)
			}
		}
	})
}
