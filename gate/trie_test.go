package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTrie compares tries with a map, also where hashes are equal in part or whole.
func TestTrie(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tr trie
	want := make(map[string]*NetData)
	hash := func(k int) uint64 { return uint64(k%7) << 60 * uint64(k%3) / 2 }
	for step := range 20_000 {
		k := r.IntN(60)
		text := fmt.Sprint(k)
		before, size := tr, tr.size
		if r.IntN(2) == 0 {
			d := &NetData{}
			want[text] = d
			tr = tr.with(&trieEntry{hash: hash(k), text: text, data: d})
		} else {
			delete(want, text)
			tr = tr.without(hash(k), text)
		}
		if before.size != size || tr.size != len(want) {
			t.Fatalf("step %d: %d entries, want %d", step, tr.size, len(want))
		}
		for k := range 60 {
			text := fmt.Sprint(k)
			if e := tr.get(hash(k), text); (e == nil) != (want[text] == nil) || e != nil && e.data != want[text] {
				t.Fatalf("step %d: %s is %v", step, text, e)
			}
		}
		count := 0
		tr.all(func(*trieEntry) bool { count++; return true })
		if count != len(want) {
			t.Fatalf("step %d: all yields %d of %d", step, count, len(want))
		}
	}
	if len(want) > 0 && tr.all(func(*trieEntry) bool { return false }) {
		t.Error("all went on")
	}
}
