package policydiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// A Report is a comparison in its JSON form.
type Report struct {
	Version  int              `json:"version"`
	Result   string           `json:"result"`        // "stricter", "looser", "both" or "equal"; if the comparison is not complete, "stricter-or-both", "looser-or-both" or "unknown"
	Complete bool             `json:"complete"`      // whether the comparison covers everything
	Why      string           `json:"why,omitempty"` // why the comparison is incomplete; empty if it is complete
	States   int              `json:"states"`
	Stricter *reportedWitness `json:"stricter"` // null if the new policy was not found to be stricter
	Looser   *reportedWitness `json:"looser"`

	More []*reportedWitness `json:"more"` // further differences, which involve nets or tools other than those of Stricter and Looser
}

type reportedWitness struct {
	Calls  []string        `json:"calls"`
	Events []sandbox.Event `json:"events"` // a sequence of events that ends with a call; the policies decide differently on this call
	Old    string          `json:"old"`    // the decision of the old policy: "allow", "ask" or "refuse"
	New    string          `json:"new"`
}

// Report returns the comparison in its JSON form.
func (d *Comparison) Report() Report {
	return Report{
		Version: 1, Result: d.result(), Complete: d.Complete, Why: d.why, States: d.states,
		Stricter: d.Stricter.report(), Looser: d.Looser.report(), More: append([]*reportedWitness{}, list.Map(d.more, (*Witness).report)...),
	}
}

// result returns the result of the comparison as a word. If the comparison is incomplete, the word
// also shows that a difference of the other kind is possible.
func (d *Comparison) result() string {
	direction := "equal"
	switch {
	case d.Stricter != nil && d.Looser != nil:
		return "both"
	case d.Stricter != nil:
		direction = "stricter"
	case d.Looser != nil:
		direction = "looser"
	case !d.Complete:
		return "unknown"
	}
	if !d.Complete {
		direction += "-or-both"
	}
	return direction
}

func (w *Witness) report() *reportedWitness {
	if w == nil {
		return nil
	}
	return &reportedWitness{Calls: w.trace.Calls(), Events: check.ToolSet{}.Events(w.trace), Old: w.verdicts[0].String(), New: w.verdicts[1].String()}
}

// Undecided reports whether the comparison is incomplete and found no difference.
func (d *Comparison) Undecided() bool { return d.result() == "unknown" }

// directions holds the ways the new policy can differ from the old one, in the same order as
// [Comparison.none].
var directions = [...]string{"stricter", "looser"}

// Text returns a readable description of the comparison. from and to are the names of the two
// policies.
func (d *Comparison) Text(from, to string) string {
	var b strings.Builder
	switch d.result() {
	case "both":
		fmt.Fprintf(&b, "%s is stricter than %s in some calls and looser in others\n", to, from)
	case "equal":
		fmt.Fprintf(&b, "%s and %s make the same decisions\n", from, to)
	case "unknown":
		b.WriteString("not decided: no difference was found, but not everything was explored\n")
		if i := slices.Index(d.none[:], true); i >= 0 {
			fmt.Fprintf(&b, "%s is not %s than %s\n", to, directions[i], from)
		}
	case "stricter-or-both":
		fmt.Fprintf(&b, "%s is stricter than %s in some calls, and may be looser in others\n", to, from)
	case "looser-or-both":
		fmt.Fprintf(&b, "%s is looser than %s in some calls, and may be stricter in others\n", to, from)
	default:
		fmt.Fprintf(&b, "%s is %s than %s\n", to, d.result(), from)
	}
	for i, name := range []string{from, to} {
		if d.sides[i].shadow {
			fmt.Fprintf(&b, "%s is in shadow: every call passes, and what would be refused is recorded\n", name)
		}
	}
	for i, first := range []*Witness{d.Stricter, d.Looser} {
		if first == nil {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", directions[i])
		first.write(&b)
		for _, w := range d.more {
			if d.direction(w.verdicts) == d.direction(first.verdicts) {
				fmt.Fprintf(&b, "\nalso %s:\n", directions[i])
				w.write(&b)
			}
		}
	}
	if !d.Complete {
		fmt.Fprintf(&b, "not everything was explored (%s): %s\n", text.Count(d.states, "state"), d.why+d.raiseHint())
	}
	return b.String()
}

// raiseHint returns a hint on how to raise the limit that ended the comparison, or "" if no limit
// ended it.
func (d *Comparison) raiseHint() string {
	switch d.why {
	case verify.WhyStates:
		return "; raise --max-states to explore more"
	case verify.WhyTime:
		return "; raise --timeout to search longer"
	}
	return ""
}

func (w *Witness) write(b *strings.Builder) {
	last := len(w.trace) - 1
	lines := check.TraceLines(w.trace[:last])
	for i, line := range append(lines, fmt.Sprintf("%s: %s before, %s now", check.Called(w.trace[last]), w.verdicts[0], w.verdicts[1])) {
		fmt.Fprintf(b, "  %2d. %s\n", i+1, line)
	}
}
