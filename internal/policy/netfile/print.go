package netfile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/text"
)

// Print writes the report as text.
func (r *Report) Print(w io.Writer) error {
	n, a := r.net, r.result
	_, _ = fmt.Fprintf(w, "%s: %s, %s\n\n", n.Name, text.Count(len(n.Places), "place"), text.Count(len(n.Transitions), "transition"))
	rows := [][]string{
		{"states", r.count(r.States)}, {"edges", r.count(r.Edges)}, {"deadlocks", r.deadlocks()}, {"bounded", r.bounded()},
	}
	if r.Pump != nil {
		rows = append(rows, []string{"grows by", r.pump()})
	}
	rows = append(rows, []string{"dead transitions", r.listOr("none", r.DeadTransitions)}, []string{"live", r.live()},
		[]string{"took", fmt.Sprintf("%.3g s, %.0f bytes a state", r.Seconds, r.BytesPerState)})
	for _, row := range rows {
		_, _ = fmt.Fprintf(w, "%-17s %s\n", row[0], row[1])
	}
	if !r.Incomplete {
		if err := r.printBounds(w); err != nil {
			return err
		}
	}
	r.printInvariants(w)
	if !r.Incomplete {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nstopped %s after %s: results marked ? are unknown\n", stopText(a), text.Count(a.States, "state"))
	return err
}

func (r *Report) count(n *int) string {
	switch {
	case n != nil:
		return text.Grouped(*n)
	case r.result.Bounded == petri.No:
		return "without end"
	default:
		return "?"
	}
}

func stopText(a *petri.Analysis) string {
	switch a.Stop {
	case petri.StopStates:
		return "at --max-states"
	case petri.StopMemory:
		return "for lack of memory"
	default:
		return "at --timeout"
	}
}

func (r *Report) deadlocks() string {
	if r.Deadlocks == nil {
		return "?"
	}
	if *r.Deadlocks == 0 {
		return "none"
	}
	told := text.Grouped(*r.Deadlocks)
	if r.Trapped != nil {
		told += fmt.Sprintf(", %s of them outside the terminal places", text.Grouped(*r.Trapped))
	}
	if r.result.Trap != nil {
		told += ", the nearest " + formatPath(r.Trap)
	}
	return told
}

// formatPath formats a sequence of transitions.
func formatPath(path []string) string {
	if len(path) == 0 {
		return "at the start"
	}
	const most = 12
	return "after " + text.First(most, path)
}

func (r *Report) bounded() string {
	switch {
	case r.result.Bounded == petri.No:
		return "no: " + strings.Join(r.UnboundedPlaces, ", ") + " can grow without end"
	case r.result.Bounded == petri.Unknown:
		return "?"
	case r.Incomplete:
		return "yes"
	}
	most := slices.Max(append(r.result.Bounds, 0))
	return fmt.Sprintf("yes, at most %s in a place", strings.Replace(text.Count(most, "token"), strconv.Itoa(most), text.Grouped(most), 1))
}

func (r *Report) pump() string {
	text := strings.Join(r.Pump.Cycle, ", ") + ", over and over"
	if len(r.Pump.Prefix) > 0 {
		text += ", " + formatPath(r.Pump.Prefix)
	}
	return text
}

// listOr formats a list. If the list is empty, it returns its first argument instead. If the
// analysis is incomplete, it returns "?".
func (r *Report) listOr(none string, list []string) string {
	const most = 8
	switch {
	case r.Incomplete:
		return "?"
	case len(list) == 0:
		return none
	case len(list) > most:
		return fmt.Sprintf("%d: %s ...", len(list), strings.Join(list[:most], ", "))
	}
	return strings.Join(list, ", ")
}

func (r *Report) live() string {
	switch {
	case r.Live == nil && (r.Incomplete || r.result.Bounded == petri.No):
		return "?"
	case r.Live == nil && !r.liveness:
		return "? (use --live)"
	case r.Live == nil:
		return "? (this took too long; the other answers are complete)"
	case *r.Live:
		return "yes: each transition can always happen again"
	default:
		return "no: there is a state after which these cannot happen: " + r.listOr("", r.NotLive)
	}
}

// printBounds lists the places, grouped by bound.
func (r *Report) printBounds(w io.Writer) error {
	places := make(map[int][]string)
	for place, bound := range r.result.Bounds {
		places[bound] = append(places[bound], r.net.Places[place])
	}
	var rows [][]string
	for _, bound := range slices.Sorted(maps.Keys(places)) {
		text := text.Grouped(bound)
		if bound == petri.Omega {
			text = "none"
		}
		rows = append(rows, []string{text, r.listOr("", places[bound])})
	}
	if len(rows) == 0 {
		return nil
	}
	return text.TableBelow(w, "", "BOUND|PLACES", rows)
}

func (r *Report) printInvariants(w io.Writer) {
	const most = 20
	if len(r.result.Invariants) == 0 {
		return
	}
	_, _ = fmt.Fprintln(w, "\nINVARIANTS")
	for i, inv := range r.result.Invariants {
		if i == most {
			_, _ = fmt.Fprintf(w, "and %d more; --json has them all\n", len(r.result.Invariants)-most)
			return
		}
		_, _ = fmt.Fprintln(w, inv.Text(r.net.Places))
	}
}
