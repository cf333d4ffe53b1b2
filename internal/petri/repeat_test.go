package petri

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMaxFirings checks the formula against firing one by one.
func TestMaxFirings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	places := func() []int {
		out := make([]int, random.IntN(4))
		for i := range out {
			out[i] = random.IntN(3)
		}
		return out
	}
	const most = 12
	for range 2000 {
		tr := Transition{In: Arcs(places()), Out: Arcs(places())}
		m := Marking{random.IntN(10), random.IntN(10), random.IntN(10)}
		one, fits := slices.Clone(m), func(m Marking) bool { return slices.Max(m) <= most }
		fired := 0
		for ; fired < 50 && tr.Enabled(one); fired++ {
			next := slices.Clone(one)
			if tr.Fire(next); !fits(next) {
				break
			}
			one = next
		}
		times := tr.MaxFirings(m, most)
		if want := fired; times != want && (want < 50 || times < math.MaxInt) {
			t.Fatalf("%+v on %v: %d times, want %d", tr, m, times, want)
		}
		tr.FireTimes(m, min(times, 50))
		if !slices.Equal(m, one) {
			t.Fatalf("%+v: %v, want %v", tr, m, one)
		}
	}
}

func TestChangesInputOf(t *testing.T) {
	move := func(in, out []int) *Transition { return &Transition{In: Arcs(in), Out: Arcs(out)} }
	for _, c := range []struct {
		t, u *Transition
		want bool
	}{
		{move([]int{0}, []int{1}), move([]int{2}, []int{1}), false}, // both only add to 1
		{move([]int{0}, []int{1}), move([]int{1}, []int{2}), true},
		{move([]int{1}, []int{2}), move([]int{0}, []int{1}), false},       // the other way round
		{move([]int{0, 1}, []int{0, 1}), move([]int{1}, []int{1}), false}, // both return their input tokens
		{move([]int{0, 1}, []int{0, 2}), move([]int{0}, []int{0}), false},
		{move([]int{0}, []int{1}), move([]int{0}, []int{2}), true},
	} {
		if got := c.t.ChangesInputOf(c.u); got != c.want {
			t.Errorf("%v and %v: %v", c.t, c.u, got)
		}
	}
}
