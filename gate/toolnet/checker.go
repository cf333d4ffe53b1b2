package toolnet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// A checker collects the errors in a net.
type checker struct {
	net    *Net
	places map[string]bool
	errs   ErrorList
}

func (c *checker) report(transition, msg, hint string) {
	c.errs = append(c.errs, &NetError{Net: c.net.Name, Transition: transition, Msg: msg, Hint: hint, Rule: c.net.Rule})
}

// minEvery is the minimum value of [Transition.Every].
const minEvery = time.Microsecond

// sortedKeys returns the keys of m in sorted order.
func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

func (c *checker) place(transition, name string) {
	if !c.places[name] {
		c.report(transition, fmt.Sprintf("unknown place %q", name), c.nearPlace(name))
	}
}

// nearPlace returns a hint for an unknown place: a place of the net with a similar name or, failing
// that, a list of the places.
func (c *checker) nearPlace(name string) string {
	if len(c.net.Places) == 0 {
		return "the net has no places"
	}
	return cmp.Or(text.Suggest(name, c.net.Places), "places: "+strings.Join(c.net.Places, ", "))
}

// plain reports an error if the tool is [Plain] but its name looks like a pattern. Such a name
// matches no tool, so a net that is meant to forbid something would never apply.
func (c *checker) plain(transition string, tool Tool) {
	if tool.Kind == Plain && strings.ContainsAny(tool.Name, "*?") {
		c.report(transition, fmt.Sprintf("the tool %q looks like a pattern but is read as a name", tool.Name),
			fmt.Sprintf("write Tool{Name: %q, Kind: Glob} for all tools that match, or Kind: Literal for a tool of this name", tool.Name))
	}
}
