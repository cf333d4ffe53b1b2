package policytest

import (
	"fmt"
	"io"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
)

// Print writes the report as text.
func (r *Report) Print(w io.Writer, k text.Ink, verbose bool) error {
	var b strings.Builder
	for _, f := range r.Files {
		if len(f.Tests) == 0 {
			continue
		}
		fmt.Fprintln(&b, f.File)
		for _, t := range f.Tests {
			t.print(&b, k, f.File, verbose)
		}
	}
	if r.Coverage != nil {
		r.Coverage.print(&b)
	}
	if n := r.Passed + r.Failed; n+r.Nothing > 0 {
		fmt.Fprintf(&b, "%s: %d passed, %d failed", text.Count(n, "test"), r.Passed, r.Failed)
		if r.Nothing > 0 {
			fmt.Fprintf(&b, "; %s with no expectation", text.Count(r.Nothing, "case"))
		}
		b.WriteByte('\n')
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}

func (t *TestResult) print(b *strings.Builder, k text.Ink, file string, verbose bool) {
	words := map[string]string{"pass": k.In(text.Green, "PASS"), "fail": k.In(text.Red, "FAIL"), "unchecked": "----"}
	fmt.Fprintf(b, "  %s  %s\n", words[t.Result], t.Name)
	if verbose {
		for _, s := range t.Steps {
			fmt.Fprintf(b, "        %d. %s\n", s.Step, s.describe())
		}
	}
	if t.Failure == nil {
		return
	}
	if len(t.Steps) == 0 { // result of a case, not of a test
		fmt.Fprintf(b, "        %s:%d: %s\n", file, t.Line, t.Failure.Got)
		return
	}
	t.printFailure(b, k, file)
}

func (t *TestResult) printFailure(b *strings.Builder, k text.Ink, file string) {
	s := t.Steps[len(t.Steps)-1]
	row := func(what, text string) { fmt.Fprintf(b, "            %-9s %s\n", what, text) }
	fmt.Fprintf(b, "        %s: step %d: %s\n", k.In(text.Bold, fmt.Sprintf("%s:%d:%d", file, s.Line, s.Column)), s.Step, s.Text)
	row("expected", t.Failure.Expected)
	row("got", t.Failure.Got)
	if len(s.Names) > 1 || len(s.Names) == 1 && s.Names[0] != s.Call {
		row("names", strings.Join(text.EscapeAll(s.Names), ", "))
	}
	if s.Reason != "" {
		row("reason", s.Reason)
	}
	for _, n := range s.Nets {
		row("rule", policy.QuotedRule(gate.Position(n.Rule), n.Name))
	}
	for _, n := range t.Failure.nets {
		row("marking", fmt.Sprintf("%s: %s", n.Name, policy.MarkingText(n.Marking)))
	}
	if s.Verdict == "ask" && t.Failure.Expected == "allow" {
		row("help", `approval is required: write "approve: true", or "expect: ask"`)
	}
	if t.left > 0 {
		fmt.Fprintf(b, "            the test ends here; %s not played\n", text.Count(t.left, "step"))
	}
}

// describe returns a one-line description of a completed step.
func (s *StepResult) describe() string {
	switch s.Verdict {
	case "":
		return s.Text
	case "allow":
		text := fmt.Sprintf("%s: allow, %s", s.Text, s.Result)
		if s.Would != "" {
			text += fmt.Sprintf("; in shadow %s: %s", s.Would, s.Reason)
		}
		return text
	default:
		return fmt.Sprintf("%s: %s: %s", s.Text, s.Verdict, s.Reason)
	}
}

func (c *Coverage) print(b *strings.Builder) {
	fmt.Fprintf(b, "coverage: %d%%, %d of %s\n", c.Percent, c.Done, text.Count(c.Total, "item"))
	for _, m := range c.Missing {
		fmt.Fprintf(b, "  %s  %s\n", gate.Position(m.Rule), m.describe())
	}
}

func (m *Item) describe() string {
	switch {
	case m.Kind == KindMap:
		return fmt.Sprintf("no call got the name %s", m.Name)
	case m.Kind == KindTransition:
		return fmt.Sprintf("%s of %s never fired", m.Name, m.Net)
	case m.passive:
		return fmt.Sprintf("no call involved %s", m.Net)
	default:
		return fmt.Sprintf("%s never refused a call and never required approval", m.Net)
	}
}
