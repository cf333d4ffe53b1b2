package listing_test

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
)

// nets lists a set's elements.
func nets(s listing.Set) (all []int) {
	for word, nets := range s {
		for ; nets != 0; nets &= nets - 1 {
			all = append(all, word*64+bits.TrailingZeros64(nets))
		}
	}
	return all
}

func TestIndex(t *testing.T) {
	l := listing.New(checks())
	for _, count := range []int{64, 65, 200} {
		last := count - 1
		x := listing.NewIndex(count, 3)
		x.Always(1)
		x.Add(0, &l, nil)
		x.Add(last, &l, []string{"mapped"})
		for _, c := range []struct {
			names []naming.Label
			want  []int
		}{
			{nil, []int{1}},
			{[]naming.Label{{Text: "unheard-of"}, {Text: "mapped"}}, []int{1, last}},
			{[]naming.Label{{Text: "git.push"}, {Text: "help"}}, []int{0, 1, last}},
			{[]naming.Label{{Text: "db_*", Glob: 1}}, []int{0, 1, last}},
			{[]naming.Label{{Text: "read", Glob: 3}}, []int{0, 1, last}},
		} {
			var room [2]uint64
			got := x.Find(c.names, room[:])
			if !slices.Equal(nets(got), c.want) {
				t.Errorf("%d nets, %v: %v, want %v", count, c.names, nets(got), c.want)
			}
			if made := &got[0] != &room[0]; made != (count == 200) {
				t.Errorf("%d nets: a set of its own %v", count, made)
			}
		}
	}
}

func TestSet(t *testing.T) {
	s := listing.NewSet(129)
	for _, net := range []int{0, 63, 64, 128, 64} {
		s.Add(net)
	}
	if got := nets(s); !slices.Equal(got, []int{0, 63, 64, 128}) {
		t.Error(got)
	}
}
