package rules

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/text"
)

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
