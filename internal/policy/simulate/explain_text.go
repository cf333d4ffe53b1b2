package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/text"
)

// Text is the explanation for people.
func (e *Explanation) Text(k text.Ink, verbose bool) string {
	var b strings.Builder
	style := map[string]string{"allow": text.Green, "refuse": text.Red, "ask": text.Yellow}[e.Decision]
	fmt.Fprintf(&b, "%s: %s\n", k.In(style, e.Decision), strings.TrimSpace(e.call.Tool+" "+string(e.call.Args)))
	if e.of.unknown(e.call.Tool) {
		fmt.Fprintf(&b, "There is no tool %q%s: %s known, and none has this name.\n",
			e.call.Tool, text.DidYouMean(e.call.Tool, "", e.of.tools.Names()), text.Subject(len(e.of.tools.Tools), "tool", "is", "are"))
	}
	if e.Decision == "allow" && e.refusal != nil {
		fmt.Fprintf(&b, "in shadow %s:\n", sandbox.VerdictOf(e.refusal))
	}
	if e.refusal != nil {
		e.reasons(&b, k)
	}
	switch {
	case e.Decision == "ask":
		fmt.Fprintln(&b, k.In(text.Cyan, "It is allowed if a person agrees."))
	case e.Decision == "refuse" && e.way() != "":
		fmt.Fprintln(&b, k.In(text.Cyan, e.way()))
	case e.Decision == "refuse" && e.remedy.Why != "":
		fmt.Fprintln(&b, k.In(text.Cyan, "The way out is not known: "+e.remedy.Why+"."))
	}
	fmt.Fprintf(&b, "names: %s\n", namesText(e.names))
	e.nets(&b, verbose)
	return b.String()
}

// reasons are the sentences of the nets, each with its rule.
func (e *Explanation) reasons(b *strings.Builder, k text.Ink) {
	if len(e.refusal.Blocks) == 0 {
		fmt.Fprintln(b, e.refusal.Text)
	}
	for _, block := range e.refusal.Blocks {
		p := diag.At(diag.Position(block.Rule), "", "")
		fmt.Fprintf(b, "%s: %s\n", k.In(text.Bold, p.Place()), block.Reason)
		if excerpt := p.SourceLine(); excerpt != "" {
			fmt.Fprintln(b, excerpt)
		}
		e.waiting(b, block)
	}
}

// waiting says of a hand-written net what the call waits for.
func (e *Explanation) waiting(b *strings.Builder, block gate.Block) {
	net := e.of.net(block.Net)
	if net.Labels != nil || e.refusal.Kind != gate.KindBlocked {
		return
	}
	state := e.states[block.Net]
	fmt.Fprintf(b, "    %s: %s\n", block.Net, policy.MarkingText(state.Marking))
	for _, t := range net.Transitions {
		if missing := check.Lacking(t, state); check.Lists(t, block.Name) && missing != "" {
			fmt.Fprintf(b, "    %s waits for %s\n", t.Name, missing)
		}
	}
}

// namesText is the names of a call, with what is special about each.
func namesText(names []gate.Name) string {
	var parts []string
	for _, n := range names {
		name := text.Escape(n.Text)
		switch {
		case n.Weak:
			name += " (in doubt: rules forbid by it, and it proves nothing)"
		case !n.Certain:
			name += " (not for certain: it exempts from no rule)"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// nets is a table of what the nets say, with their inner state for those who
// want to know.
func (e *Explanation) nets(b *strings.Builder, verbose bool) {
	head := "NET|SAYS|RULE"
	if verbose {
		head += "|TRANSITION|MARKING"
	}
	var rows [][]string
	for _, v := range e.verdicts {
		if v.Kind == gate.Abstain && !verbose {
			continue
		}
		row := []string{v.Net, says(v), v.Rule.String()}
		if verbose {
			row = append(row, v.Transition, e.states[v.Net].Marking.String())
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		_ = text.Table(b, "", head, rows) // a string takes everything
		return
	}
	near := ""
	if !slices.Contains(e.of.names(), e.call.Tool) {
		near = text.DidYouMean(e.call.Tool, "", e.of.names())
	}
	fmt.Fprintf(b, "No rule and no net speaks of this call%s.\n", near)
}

// says is the verdict of one net in plain words.
func says(v gate.Verdict) string {
	text := map[gate.VerdictKind]string{
		gate.Abstain: "nothing", gate.Free: "always passes", gate.Gated: "passes now", gate.Blocked: "refuses", gate.Yields: "does not block now: it is advisory",
	}[v.Kind]
	if v.Manual && v.Kind == gate.Gated {
		text = "asks a person"
	}
	if v.Shadow {
		text += " (in shadow)"
	}
	return text
}
