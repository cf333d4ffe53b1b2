package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// invariants returns the net's place invariants as text. A place invariant is a weighted sum of
// tokens that never changes.
func invariants(info gate.NetInfo) []string {
	texts := list.Map(invariantsOf(info), func(inv petri.Invariant) string { return inv.Text(info.Places) })
	return append([]string{}, texts...)
}

// keptTokens returns, for a hand-written net, one line per set of places with a constant total
// number of tokens. It omits weighted sums, which appear only in the JSON output.
func keptTokens(info gate.NetInfo) (lines []string) {
	if info.Labels != nil {
		return nil
	}
	for _, inv := range invariantsOf(info) {
		places := list.Map(inv.Weights, func(w petri.Arc) string { return info.Places[w.Place] })
		same := !slices.ContainsFunc(inv.Weights, func(w petri.Arc) bool { return w.Weight != 1 })
		switch {
		case inv.Constant == 0 || !same:
		case inv.Constant == 1:
			lines = append(lines, fmt.Sprintf("%s: exactly one token in {%s}", cited(info.Name, info.Rule), strings.Join(places, ", ")))
		default:
			lines = append(lines, fmt.Sprintf("%s: exactly %d tokens in {%s}", cited(info.Name, info.Rule), inv.Constant, strings.Join(places, ", ")))
		}
	}
	return lines
}

func invariantsOf(info gate.NetInfo) []petri.Invariant {
	net, start := info.Structure()
	found, _ := petri.Invariants(&net, start)
	return found
}
