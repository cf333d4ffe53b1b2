package rules

import (
	"fmt"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/text"
)

// TestSpansHaveDifferentNets checks that no span compiles to the net of another one, such as the
// budget of a session.
func TestSpansHaveDifferentNets(t *testing.T) {
	nets := map[string]Span{}
	for i := range spans {
		over := Span(i)
		f, err := Parse("p.rules", fmt.Appendf(nil, "limit push to 3 %s\n", over))
		if err != nil {
			t.Fatal(err)
		}
		c, errs := Compile(f)
		if errs != nil {
			t.Fatal(errs)
		}
		n := c.Nets[0]
		n.Name, n.Reason = "", ""
		shape := fmt.Sprintf("%+v", n)
		if other, ok := nets[shape]; ok {
			t.Errorf("limits %s and %s have the same net: add the span to limitNet", other, over)
		}
		nets[shape] = over
	}
}

// TestTimeSpansAreNamedPeriods checks that the gate, which does not know package rules, names each
// time span by its keyword.
func TestTimeSpansAreNamedPeriods(t *testing.T) {
	for _, word := range TimeSpans() {
		over, _ := spanOf(word)
		if got := text.Period(over.Window()); got != word {
			t.Errorf("a limit per %s is displayed as per %s: add the period to internal/text", word, got)
		}
	}
}

// TestTimeSpansAreSorted checks that the time spans are listed by length.
func TestTimeSpansAreSorted(t *testing.T) {
	if words := TimeSpans(); !slices.IsSortedFunc(words, func(a, b string) int { return seconds(a) - seconds(b) }) {
		t.Errorf("%q are not sorted by length", words)
	}
}
