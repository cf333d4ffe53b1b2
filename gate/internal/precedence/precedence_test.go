package precedence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/internal/precedence"
)

// net parses a net: "advisory m 2 bc" blocks the tools b and c; "!" means that it is in recovery.
func net(t *testing.T, text string) (n precedence.Net, blocks string, recovers bool) {
	t.Helper()
	text, n.Advisory = strings.CutPrefix(text, "advisory ")
	text, recovers = strings.CutSuffix(text, " !")
	if _, err := fmt.Sscan(text, &n.Name, &n.Priority, &blocks); err != nil {
		t.Fatal(err)
	}
	return n, strings.Trim(blocks, "-"), recovers
}

// settle describes the result for nets that block some of the tools abcd.
func settle(t *testing.T, texts ...string) string {
	t.Helper()
	var nets []precedence.Net
	for _, text := range texts {
		n, _, _ := net(t, text)
		nets = append(nets, n)
	}
	c := precedence.New(nets, 4)
	for i, text := range texts {
		_, blocks, recovers := net(t, text)
		for _, tool := range blocks {
			c.Block(i, int(tool-'a'))
		}
		if recovers {
			c.Recover(i)
		}
	}
	s := c.Settle()
	var words []string
	for tool := range 4 {
		if by := s.Hides(tool); by >= 0 {
			words = append(words, fmt.Sprintf("%c by %s", 'a'+tool, nets[by].Name))
		}
	}
	for i, yields := range s.Yields {
		if yields {
			words = append(words, nets[i].Name+" yields")
		}
	}
	for _, name := range s.Ignored {
		words = append(words, name+" ignored")
	}
	if s.Conflict != nil {
		words = append(words, fmt.Sprintf("%v: %q over %v", s.Conflict.Nets, s.Conflict.Winner, s.Conflict.Yields))
	}
	return strings.Join(words, ", ")
}

func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name string
		nets []string
		want string
	}{
		{"none blocks", []string{"n 0 -", "advisory m 0 -"}, ""},
		{"they agree", []string{"n 0 ab", "advisory m 0 bc"}, "a by n, b by m, c by m"},
		{"required first", []string{"n 0 ab", "advisory m 9 cd"}, `a by n, b by n, m yields, m ignored, [m n]: "n" over [m]`},
		{"the higher priority", []string{"advisory n 0 ab", "advisory m 1 cd"}, `c by m, d by m, n yields, n ignored, [m n]: "m" over [n]`},
		{"the shorter list", []string{"advisory n 0 a", "advisory m 0 bcd"}, `b by m, c by m, d by m, n yields, n ignored, [m n]: "m" over [n]`},
		{"the name", []string{"advisory n 0 ab", "advisory m 0 cd"}, `c by m, d by m, n yields, n ignored, [m n]: "m" over [n]`},
		{"only what leaves none", []string{"advisory n 3 a", "advisory m 2 bcd", "advisory o 1 b"}, `a by n, b by o, m yields, m ignored, [n m o]: "n" over [m]`},
		{"nobody wins", []string{"advisory n 0 abcd"}, `n yields, n ignored, [n]: "" over [n]`},
		{"required ones", []string{"n 0 ab", "m 1 cd", "advisory o 2 a"}, `a by o, b by n, c by m, d by m, [m n]: "" over []`},
		{"a required one blocks all", []string{"n 0 abcd", "m 1 cd"}, "a by n, b by n, c by m, d by m"},
		{"recovery", []string{"r 1 - !", "advisory n 0 a", "advisory m 1 b", "s 0 c", "advisory o 0 -"}, "b by m, c by s, n yields, o yields, n ignored"},
		{"the highest recovery", []string{"r 1 - !", "q 3 - !", "p 2 - !", "advisory n 2 a"}, "n yields, n ignored"},
		{"recovery below 0", []string{"r -1 - !", "advisory n -2 a", "advisory m -1 b"}, "b by m, n yields, n ignored"},
	} {
		if got := settle(t, c.nets...); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		reversed := slices.Clone(c.nets)
		slices.Reverse(reversed)
		if got, want := strings.Count(settle(t, reversed...), " by "), strings.Count(c.want, " by "); got != want {
			t.Errorf("%s: in another order %d tools are hidden, want %d", c.name, got, want)
		}
	}
}

func TestNoTools(t *testing.T) {
	s := precedence.New([]precedence.Net{{Name: "n", Advisory: true}}, 0).Settle()
	if s.Yields[0] || s.Ignored != nil || s.Conflict != nil {
		t.Errorf("%+v", s)
	}
}
