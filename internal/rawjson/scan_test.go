package rawjson

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSkip(t *testing.T) {
	tests := []struct {
		doc  string
		i    int
		want int
	}{
		{`{"a":[1,{"b":"}"}]} `, 0, 19},
		{`{"a":[1,{"b":"}"}]}`, 5, 18},
		{`{"a":[1,{"b":"}"}]}`, 1, 4},
		{`"\""`, 0, 4},
		{`"\\"x"`, 0, 4},
		{`"a\`, 0, -1},
		{`"a\"`, 0, -1},
		{`"`, 0, -1},
		{`-1.5e+3,`, 0, 7},
		{`01`, 0, 1},
		{`-`, 0, -1},
		{`truex`, 0, 4},
		{`tru`, 0, -1},
		{`[}`, 0, -1},
		{`{]`, 0, -1},
		{`{"a":[}]`, 0, -1},
		{`[1`, 0, -1},
		{`["a`, 0, -1},
		{` 1`, 0, -1},
		{`]`, 0, -1},
		{`1`, 1, -1},
		{`1`, -1, -1},
		{``, 0, -1},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), 0, 2 * MaxDepth},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), 0, -1},
		{strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), 0, 601},
	}
	for _, tt := range tests {
		if got := Skip([]byte(tt.doc), tt.i); got != tt.want {
			t.Errorf("Skip(%.40q, %d) = %d, want %d", tt.doc, tt.i, got, tt.want)
		}
	}
}

// TestSkipString skips strings of all lengths around the sizes of words and blocks, with sequences
// of backslashes at all positions.
func TestSkipString(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		var b strings.Builder
		b.WriteByte('"')
		for range rng.IntN(12) {
			b.WriteString(strings.Repeat("x", rng.IntN(1<<rng.IntN(9))))
			b.WriteString(strings.Repeat(`\\`, rng.IntN(1<<rng.IntN(7))))
			if rng.IntN(3) > 0 {
				b.WriteString(`\"`)
			}
		}
		b.WriteByte('"')
		want := b.Len()
		lit := []byte(b.String() + strings.Repeat(`",x\`, rng.IntN(40)))
		if got := Skip(lit, 0); got != want {
			t.Fatalf("Skip(%q) = %d, want %d", lit, got, want)
		}
		if got := Skip(lit[:want-1], 0); got != -1 {
			t.Fatalf("Skip(%q) = %d, want -1", lit[:want-1], got)
		}
	}
}
