package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/pipefail"
	"github.com/petrigate/petrigate/internal/text"
)

// Text returns the explanation as text.
func (e *Explanation) Text(k text.Ink) string {
	var b strings.Builder
	e.writeReading(&b)
	style := map[string]string{"allow": text.Green, "refuse": text.Red, "ask": text.Yellow}[e.Decision]
	fmt.Fprintf(&b, "%s: %s\n", k.In(style, e.Decision), strings.TrimSpace(cmp.Or(e.ReadAs, e.Tool)+" "+string(e.Args)))
	if e.Changed != nil {
		fmt.Fprintf(&b, "shell.pipefail: the agent runs `%s`, and this answer is for that script.\n", text.Escape(pipefail.Script(e.Changed)))
	}
	if e.Unknown {
		fmt.Fprintf(&b, "Unknown tool %q%s: %s known.\n",
			e.Tool, text.DidYouMean(e.Tool, "", e.of.tools.Names()), text.Subject(len(e.of.tools.Tools), "tool", "is", "are"))
	}
	if e.Would != "" {
		fmt.Fprintf(&b, "in shadow %s:\n", e.Would)
	}
	if e.refusal != nil {
		e.reasons(&b, k)
	}
	switch {
	case e.Decision == "ask":
		fmt.Fprintln(&b, k.In(text.Cyan, "It is allowed if "+text.People(e.people, "agrees", "agree")+"."))
	case e.Way != "":
		fmt.Fprintln(&b, k.In(text.Cyan, e.Way))
	case e.Why != "":
		fmt.Fprintln(&b, k.In(text.Cyan, "No way out is known: "+e.Why+"."+e.wantsArguments()))
	}
	fmt.Fprintf(&b, "names: %s\n", namesText(e.of.result.Policy, e.call, e.names))
	e.nets(&b)
	for _, c := range e.Success {
		fmt.Fprintf(&b, "%s: it succeeds only when %s\n", gate.Position(c.Rule), text.Escape(c.When))
	}
	return b.String()
}

// writeReading writes which unqualified names were read as agents' built-in tools. The name of the
// call might denote such a tool even if it was not read as one. writeReading then suggests the
// command that explains a call to that tool.
func (e *Explanation) writeReading(b *strings.Builder) {
	for _, c := range e.of.readAs {
		fmt.Fprintf(b, "%s is read as %s.\n", c.Asked, c.Tool)
	}
	if e.ReadAs != "" {
		return
	}
	if own := e.of.ownTools(e.Tool); len(own) > 0 {
		fmt.Fprintf(b, "For one of an agent's built-in tools: petrigate explain %s\n", strings.Join(own, ", or petrigate explain "))
	}
}

// wantsArguments returns a hint on how to give arguments, if the call has none and a refusing net
// reads them. Otherwise, it returns the empty string.
func (e *Explanation) wantsArguments() string {
	if len(e.Args) > 0 || e.refusal == nil {
		return ""
	}
	for _, block := range e.refusal.Blocks {
		for _, t := range e.of.net(block.Net).Transitions {
			if len(t.Key) > 0 && block.Key == nil && !t.Observe && t.Key[0].Reader == nil && !strings.HasPrefix(t.Key[0].Path, "$.") {
				return fmt.Sprintf(" Give the call its arguments: --args '{%q: ...}'", t.Key[0].Path)
			}
		}
	}
	return ""
}

// reasons writes the reasons for the refusal, each with its rule.
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
		for i := range block.Near {
			fmt.Fprintf(b, "    %s\n", text.Escape(block.Near[i].Sentence()))
		}
		e.waiting(b, block)
	}
}

// waiting explains how a hand-written net blocks the call. It writes the net's marking and, for
// each transition of the call, the missing tokens. It writes nothing for other nets, or if the
// refusal is not of kind [gate.KindBlocked].
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

// namesText lists the names of a call. It marks names that are uncertain and names that can only
// restrict the call.
func namesText(p *gate.Policy, c gate.Call, names []gate.Name) string {
	var parts []string
	for _, n := range names {
		name := text.Escape(n.Text)
		why, found := p.Why(c, n.Text)
		switch {
		case n.Weak && found == gate.Surely && why.What != "":
			name += text.Escape(" (its success does not count as evidence: " + strings.TrimSpace(why.String()+". "+why.Way()) + ")")
		case n.Weak && why.What != "":
			name += text.Escape(" (uncertain: " + why.String() + ")")
		case n.Weak:
			name += " (uncertain: it can restrict, but not count as evidence)"
		case !n.Certain:
			name += " (not certain: it exempts from no rule)"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// nets writes a table of the nets' verdicts. In verbose mode, the table also shows their states.
func (e *Explanation) nets(b *strings.Builder) {
	head := "NET|SAYS|RULE"
	if e.verbose {
		head += "|TRANSITION|MARKING"
	}
	var rows [][]string
	for _, n := range e.Nets {
		row := []string{n.Name, n.says(), gate.Position(n.Rule).String()}
		if e.verbose {
			row = append(row, n.Transition, n.Marking)
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		_ = text.Table(b, "", head, rows) // writing to a strings.Builder never fails
	}
	for _, x := range e.exempt {
		fmt.Fprintf(b, "%s\n    exempts this call: unless %s\n", policy.QuotedRule(x.rule, x.net), text.Escape(x.name))
	}
	if len(rows)+len(e.exempt) > 0 {
		return
	}
	near := ""
	if e.ReadAs == "" && !slices.Contains(e.of.names(), e.Tool) {
		near = text.DidYouMean(e.Tool, "", e.of.names())
	}
	fmt.Fprintf(b, "No rule and no net names this call%s.\n", near)
	if own := agenttool.Qualified(e.Tool); own != "" && e.ReadAs == "" && len(e.of.ownTools(e.Tool)) == 0 {
		fmt.Fprintf(b, "For one of an agent's built-in tools: petrigate explain %s\n", own)
	}
}

// says returns the net's verdict in plain words.
func (n *explainedNet) says() string {
	said := map[string]string{
		"abstain": "nothing", "free": "always passes", "gated": "passes now", "blocked": "refuses", "yields": "does not block now: it is advisory",
	}[n.Verdict]
	if n.Manual && n.Verdict == "gated" {
		said = "asks " + text.People(n.people, "", "")
	}
	if n.Shadow {
		said += " (in shadow)"
	}
	return said
}
