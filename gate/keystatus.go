package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
)

// values returns the states for the values that differ from the default state, those with the
// largest difference first, and the number of values omitted.
func (n *net) values(s *State, base *NetData) ([]ValueState, int) {
	type ranked struct {
		text     string
		data     *NetData
		distance int
	}
	var all []ranked
	start := n.withInFlight(base.Deciding())
	for text, d := range base.Values.All() {
		r := ranked{text: text, data: d}
		for i, tokens := range n.withInFlight(d.Deciding()) {
			r.distance += max(tokens-start[i], start[i]-tokens)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.distance, a.distance), strings.Compare(a.text, b.text))
	})
	shown := all[:min(len(all), shownValues)]
	var values []ValueState
	for _, r := range shown {
		v := ValueState{Key: n.written.ParseText(r.text), Marking: n.show(r.data), Spent: n.spending(r.data.Deciding()), InFlight: n.inFlight(s, r.data.Flights), Spoilers: n.inFlight(s, r.data.Spoilers())}
		if n.Shadow {
			v.Enforced = n.show(r.data.Shadow.Enforced)
		}
		_, v.Next = n.nextTick(r.data.Deciding())
		values = append(values, v)
	}
	return values, len(all) - len(shown)
}

// state describes the value, its markings and the next tick.
func (v *ValueState) state() string {
	text := fmt.Sprintf("%s: %s", keyvalue.Format(v.Key), cmp.Or(v.Marking.String(), "no tokens"))
	if v.Enforced != nil {
		text += "; enforced: " + v.Enforced.String()
	}
	if v.Spent != "" {
		text += "; spent: " + v.Spent
	}
	if !v.Next.IsZero() {
		text += "; next at " + v.Next.UTC().Format(time.RFC3339)
	}
	return text
}
