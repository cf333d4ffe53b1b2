package trie

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTrie compares tries with a map, including texts whose hashes are partly or completely equal.
func TestTrie(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tr Trie[*int]
	want := make(map[string]*int)
	hash := func(k int) uint64 { return uint64(k%7) << 60 * uint64(k%3) / 2 }
	for step := range 20_000 {
		k := r.IntN(60)
		text := fmt.Sprint(k)
		before, size := tr, tr.Len()
		if r.IntN(2) == 0 {
			d := new(step)
			want[text] = d
			tr = tr.With(&Entry[*int]{Hash: hash(k), Text: text, Value: d})
		} else {
			delete(want, text)
			tr = tr.Without(hash(k), text)
		}
		if before.Len() != size || tr.Len() != len(want) {
			t.Fatalf("step %d: %d entries, want %d", step, tr.Len(), len(want))
		}
		for k := range 60 {
			text := fmt.Sprint(k)
			if e := tr.Get(hash(k), text); (e == nil) != (want[text] == nil) || e != nil && e.Value != want[text] {
				t.Fatalf("step %d: %s is %v", step, text, e)
			}
		}
		count := 0
		tr.All(func(*Entry[*int]) bool { count++; return true })
		if count != len(want) {
			t.Fatalf("step %d: all yields %d of %d", step, count, len(want))
		}
	}
	if len(want) > 0 && tr.All(func(*Entry[*int]) bool { return false }) {
		t.Error("all went on")
	}
}

func TestHash(t *testing.T) {
	if a, again := Hash("a"), Hash(strings.Clone("a")); a != again || a == Hash("b") {
		t.Error("a hash does not tell texts apart")
	}
}

func TestLastEntry(t *testing.T) {
	var empty Trie[int]
	one := empty.With(&Entry[int]{Hash: Hash("a"), Text: "a", Value: 1})
	if none := one.Without(Hash("a"), "a"); none != empty || one.Len() != 1 || one.Get(Hash("a"), "a").Value != 1 {
		t.Errorf("without its only entry a trie is %v", none)
	}
}
