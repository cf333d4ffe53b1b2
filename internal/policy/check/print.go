package check

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// Print writes the problems, the summary, a table that shows how each tool can be called, and the
// results of the claims.
func (r Report) Print(w io.Writer, ink text.Ink, verbose bool) error {
	r.Problems.Print(w, ink)
	if _, err := fmt.Fprintln(w, r.Summary()); err != nil {
		return err
	}
	if verbose && len(r.Nets) > 0 {
		rows := list.Map(r.Nets, func(n policy.Net) []string {
			return []string{n.Name, count(n.States), bounded(n.Bounded), count(n.Deadlocks), gate.Position(n.Rule).String()}
		})
		if err := tableBelow(w, "NET|STATES|BOUNDED|DEADLOCKS|FROM", rows); err != nil {
			return err
		}
	}
	if r.verified == nil {
		return nil
	}
	return r.printVerified(w, verbose)
}

// tableBelow writes an empty line and then a table, or nothing if the table has no rows.
func tableBelow(w io.Writer, head string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	return text.TableBelow(w, "", head, rows)
}

// printVerified writes a table that shows which tools can be called, the results of the claims, and
// the notes.
func (r Report) printVerified(w io.Writer, verbose bool) error {
	if err := tableBelow(w, "TOOL|CAN BE CALLED|NETS", r.ToolRows()); err != nil {
		return err
	}
	rows := list.Map(r.verified.proofs, func(p claimProof) []string { return []string{shortened(p.Text), p.Result.String(), p.Rule.String()} })
	if err := tableBelow(w, "CLAIM|RESULT|FROM", rows); err != nil {
		return err
	}
	notes := append(r.Notes(), r.openNotes(verbose)...)
	if verbose {
		notes = append(notes, r.verified.details()...)
	}
	if len(notes) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	for _, note := range notes {
		_, _ = fmt.Fprintln(w, "note:", note)
	}
	return nil
}

// ToolRows returns a table row for each tool name. The row shows whether and how calls with the
// name are possible, and which nets list the name.
func (r Report) ToolRows() [][]string {
	if r.verified == nil {
		return nil
	}
	nets, asks := make(map[string][]string), make(map[string]int)
	for _, net := range r.verified.policy.Nets() {
		for _, t := range net.Transitions {
			for _, tool := range t.Tools {
				if t.Manual && !net.Shadow {
					asks[tool.Name] = max(asks[tool.Name], t.Approvals, 1)
				}
			}
		}
		said := short(net)
		if net.Shadow {
			said += " (in shadow)"
		}
		for _, name := range listed(net) {
			nets[name] = list.Add(nets[name], said)
		}
	}
	return list.Map(r.Tools, func(t reportedTool) []string {
		return []string{t.Name, r.callable(t, asks[t.Name]), cmp.Or(strings.Join(nets[t.Name], ", "), "none")}
	})
}

// Widths of columns. If the name of a net is too long for its column, the table shows the line of
// the net's rule instead.
const (
	maxClaimWidth = 80
	maxNetWidth   = 40
)

// shortened returns the claim, cut to the width of its column.
func shortened(claim string) string {
	if runes := []rune(claim); len(runes) > maxClaimWidth {
		return string(runes[:maxClaimWidth-3]) + "..."
	}
	return claim
}

// short returns the net's name. If the name is too long and the position of the rule is known,
// short returns the base name of the file and the line number instead.
func short(n gate.NetInfo) string {
	if len(n.Name) <= maxNetWidth || n.Rule.Line == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s:%d", filepath.Base(n.Rule.File), n.Rule.Line)
}

// maxBefore is the maximum number of preceding calls that are named in a table row.
const maxBefore = 12

// callable describes whether and how calls with the tool's name are possible. asks is the number of
// people who must approve some of these calls, or 0.
func (r Report) callable(t reportedTool, asks int) string {
	switch n := t.known; n.Callable {
	case verify.Possible:
		said := r.verified.tools.yes(n.Shortest)
		if before := t.Shortest[:max(0, len(t.Shortest)-1)]; len(before) > 0 {
			said = "after " + text.First(maxBefore, before) + strings.TrimPrefix(", "+said, ", yes")
		}
		switch asked := r.verified.asked(n.Shortest); {
		case asked > 0:
			said += ", with the approval of " + text.People(asked, "", "")
		case asks > 0:
			said += ", in some cases with the approval of " + text.People(asks, "", "")
		}
		return said
	case verify.AfterFailure:
		return "after a failure: " + strings.Join(n.Failing.Calls(), ", ")
	case verify.Impossible:
		return "never, by " + byWhat(n)
	default:
		return "not known: " + n.Why
	}
}

// yes returns the table entry for a name that can be called, as the given trace shows. The entry is
// "yes" or, if the trace uses a tool that is not in the tool list, a condition that names this
// tool.
func (s ToolSet) yes(t verify.Trace) string {
	for _, step := range t {
		if s.Known && !step.Ends && step.Wait == 0 && !hasTool(s.Tools, step.Tool) {
			return "if there is a tool " + step.Tool
		}
	}
	return "yes"
}

func byWhat(n verify.Name) string {
	if len(n.Because) == 0 {
		return "the default"
	}
	return citedAll(n.Because)
}

// maxOverlaps is the maximum number of overlaps listed with --verbose. An overlap is a pair of map
// statements or entries that match the same string.
const maxOverlaps = 10

// details returns the additional notes for --verbose, such as the number of states and the calls
// that lead to a deadlock.
func (v *Analysis) details() []string {
	var lines []string
	for _, g := range v.report.Groups {
		of := citedNet(g.Nets[0])
		if len(g.Nets) > 1 {
			of = fmt.Sprintf("%d nets that share calls, from %s", len(g.Nets), of)
		}
		switch {
		case !g.Complete:
			lines = append(lines, of+": not all states were explored")
		case len(g.Nets) > 1: // the number of states of a single net is already in the table
			lines = append(lines, fmt.Sprintf("%s: %s together", of, text.Count(g.States, "state")))
		}
		if g.Deadlock.Result == verify.Refuted && len(g.Deadlock.Trace) > 0 {
			lines = append(lines, fmt.Sprintf("%s: no further call is possible after these calls: %s", of, strings.Join(TraceLines(g.Deadlock.Trace), "; ")))
		}
	}
	lines = append(lines, list.FlatMap(v.policy.Nets(), keptTokens)...)
	overlaps := v.report.Overlaps
	for _, o := range overlaps[:min(len(overlaps), maxOverlaps)] {
		lines = append(lines, fmt.Sprintf("the maps at %s and %s both match %q", o.First.Rule, o.Second.Rule, o.Text))
	}
	switch more := len(overlaps) - maxOverlaps; {
	case more <= 0 && v.report.MoreOverlaps:
		lines = append(lines, "not all pairs of maps were compared: more of them may match one text")
	case more > 0:
		least := ""
		if v.report.MoreOverlaps {
			least = "at least "
		}
		lines = append(lines, "the same applies to "+least+text.Count(more, "more pair")+" of maps")
	}
	return append(lines, "claims cover one session with these nets active; a reset or new rules start over")
}

// Summary returns a line with the verdict and the counts.
func (r Report) Summary() string {
	errs, warnings := len(r.Problems.Of(diag.Error)), len(r.Problems.Of(diag.Warning))
	verdict, of := "ok", ""
	if len(r.Nets) > 0 {
		of = " in " + text.Count(len(r.Nets), "net")
	}
	if len(r.Proofs) > 0 {
		of += r.proved()
	}
	switch {
	case !r.OK && errs == 0 && r.open > 0:
		verdict = "not ok with unproved claims (--allow-unknown accepts them)"
	case !r.OK && errs == 0:
		verdict = "not ok under --strict"
	case !r.OK:
		verdict = "not ok"
	}
	if r.cut() {
		of += ", and not everything was explored"
	}
	if errs+warnings == 0 {
		return verdict + ": no problems" + of
	}
	return fmt.Sprintf("%s: %s and %s%s", verdict, text.Count(errs, "error"), text.Count(warnings, "warning"), of)
}

func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

func bounded(b *bool) string {
	switch {
	case b == nil:
		return "?"
	case *b:
		return "yes"
	default:
		return "no"
	}
}

// proved returns a phrase with the number of proved claims.
func (r Report) proved() string {
	proved := list.Filter(r.Proofs, func(p reportedProof) bool { return p.Result == verify.Proved.String() })
	return fmt.Sprintf(", %d of %s proved", len(proved), text.Count(len(r.Proofs), "claim"))
}

// cut reports whether a limit ended the search before all questions were answered.
func (r Report) cut() bool {
	return slices.ContainsFunc(r.Open, func(q openQuestion) bool { return q.Hint != "" }) ||
		slices.ContainsFunc(r.Tools, func(t reportedTool) bool { return t.Hint != "" }) ||
		slices.ContainsFunc(r.Proofs, func(p reportedProof) bool { return p.Hint != "" })
}

// openNotes describes the questions that the verification could not answer. If verbose is false, it
// omits most of the questions that would remain open even with a higher limit.
func (r Report) openNotes(verbose bool) (notes []string) {
	said := slices.ContainsFunc(r.Tools, func(t reportedTool) bool { return t.Why != "" }) || len(r.Proofs) > 0
	told := list.Filter(r.Open, func(q openQuestion) bool { return q.Hint != "" || verbose || q.Question == "calls" && !said })
	for i, q := range told {
		alike := func(o openQuestion) bool { return o.Question == q.Question && o.Why == q.Why }
		switch {
		case q.group == "":
			notes = append(notes, q.text+": "+q.Why)
		case !slices.ContainsFunc(told[:i], alike):
			groups := list.Map(list.Filter(told[i:], alike), func(o openQuestion) string { return o.group })
			notes = append(notes, "not known whether calls can get stuck at "+many(groups)+": "+q.Why)
		}
	}
	if hidden := len(r.Open) - len(told); hidden > 0 {
		notes = append(notes, text.Count(hidden, "further question")+" about the policy could not be answered: --verbose lists what was not explored")
	}
	return append(notes, r.hints(told)...)
}

// hints returns the hints of the open questions and of the tools, without duplicates.
func (r Report) hints(open []openQuestion) []string {
	hints := append(list.Map(open, func(q openQuestion) string { return q.Hint }), list.Map(r.Tools, func(t reportedTool) string { return t.Hint })...)
	slices.Sort(hints)
	return slices.DeleteFunc(slices.Compact(hints), func(h string) bool { return h == "" })
}
