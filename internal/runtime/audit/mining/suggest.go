package mining

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
	"github.com/petrigate/petrigate/rules"
)

// Logs is a list of logs to be read in order.
type Logs []trail.Source

// Records implements [trail.Source]. It prefixes the Writer of each record with the log's index, so
// that no two logs share a writer.
func (l Logs) Records(ctx context.Context, f *trail.Filter) iter.Seq2[trail.Record, error] {
	return func(yield func(trail.Record, error) bool) {
		for i, source := range l {
			for r, err := range source.Records(ctx, f) {
				r.Writer = fmt.Sprint(i, " ", r.Writer)
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// Suggest returns the rules that a log supports. It replays the log under these rules, and weakens
// or drops rules that would have refused an admitted call or required approval for it
// ([Miner.Prove]). It then drops rules that are unnecessary or harmful under c's policy
// ([Report.DropRedundant]). c may be nil.
func Suggest(ctx context.Context, log Log, c *config.Config, o Options) (*Report, error) {
	var source policy.Source
	if c != nil {
		source = policy.FromConfig(c)
		o.Deny = o.Deny || c.Default == "deny"
		for _, t := range c.Rules {
			f, _ := rules.Parse("", []byte(t.Text)) // rules with syntax errors have no map statements
			for _, s := range f.Statements {
				if of, ok := s.(*rules.Map); ok {
					o.Maps = append(o.Maps, of)
				}
			}
		}
	}
	m, r, err := Mine(ctx, log, o)
	if err == nil {
		err = m.Prove(ctx, r)
	}
	if err == nil {
		err = r.DropRedundant(ctx, source)
	}
	return r, err
}

// Text returns the report as a rules file, with the evidence for each rule in a comment.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Suggested by petrigate suggest from %s: %s, %s that passed", text.Escape(r.Log), text.Count(r.Sessions, "session"), calls(r.Calls))
	if r.Calls > 0 {
		b.WriteString(", " + day(r.From))
		if day(r.To) != day(r.From) {
			b.WriteString(" to " + day(r.To))
		}
	}
	b.WriteString(".\n")
	if len(r.Proposals) > 0 {
		b.WriteString("# Replayed over all of it, these rules together refuse no call that passed, and require approval for none.\n")
	} else {
		fmt.Fprintf(&b, "# It supports no further rules. A rule needs evidence from %s that is unlikely to be due to chance.\n", text.Count(r.least, "session"))
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(&b, "# %s left out, because the log does not contain the beginning.\n", text.Subject(r.LeftOut, "session", "is", "are"))
	}
	if r.More {
		b.WriteString("# Not all combinations of calls were tried: rules with or and since may be missing.\n")
	}
	b.WriteString(r.rules())
	b.WriteString(r.allowed())
	for i, n := range r.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "# Note: %s.\n", n.Text)
	}
	return b.String()
}

// rules returns the proposed rules, each with its evidence in a comment.
func (r *Report) rules() string {
	return strings.Join(list.Map(r.Proposals, func(p Proposal) string {
		return fmt.Sprintf("\n# %s. No counterexample since %s%s\n%s\n", p.Evidence, day(p.Since), odds(p.Chance), p.Rule)
	}), "")
}

// odds returns the end of a rule's comment, which states how probable the observations would be
// without the rule. It returns "" for a limit that was not tested statistically.
func odds(chance float64) string {
	switch {
	case chance >= 1:
		return ""
	case chance > 1e-9:
		return fmt.Sprintf(". Chance without a rule: %.0g", chance)
	}
	return fmt.Sprintf(". Chance without a rule: below 1 in 10^%d", int(-math.Log10(max(chance, 1e-300))))
}

// ApplyOptions configures [Report.Apply].
type ApplyOptions struct {
	Out io.Writer
	Ask func(question string) (bool, error) // asks for confirmation; nil without a terminal
	Yes bool                                // whether to skip the confirmation
}

var (
	// ErrInline is returned by [Report.Apply] if the last rules of the configuration are written in
	// the configuration itself instead of a rules file.
	ErrInline = errors.New("the configuration contains its rules: add the lines there, or move the rules to a rules file")
	// ErrNoRules is returned by [Report.Apply] if the configuration has no rules.
	ErrNoRules = errors.New("the configuration has no rules to add these to; petrigate init writes some")
)

// Apply adds the proposals to the last rules file of the configuration. It first shows the change
// and, unless o.Yes is true, asks for confirmation.
func (r *Report) Apply(c *config.Config, o ApplyOptions) error {
	if len(r.Proposals) == 0 {
		_, err := io.WriteString(o.Out, r.Text())
		return err
	}
	if len(c.Rules) == 0 {
		return ErrNoRules
	}
	last := c.Rules[len(c.Rules)-1]
	if last.Inline() {
		return ErrInline
	}
	after := last.Text
	if after != "" && !strings.HasSuffix(after, "\n") {
		after += "\n"
	}
	after += r.rules()
	diff := textfile.Diff(last.File, []byte(last.Text), last.File+" (with the suggested rules)", []byte(after))
	if _, err := o.Out.Write(diff); err != nil {
		return err
	}
	write := o.Yes
	if !write && o.Ask != nil {
		var err error
		if write, err = o.Ask(fmt.Sprintf("Change %s?", last.File)); err != nil {
			return err
		}
	}
	if !write {
		_, err := fmt.Fprintf(o.Out, "\nNothing was written. petrigate suggest --apply --yes changes %s.\n", last.File)
		return err
	}
	if err := textfile.Replace(last.File, []byte(after)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.Out, "\nChanged: %s. A running proxy loads it by itself, or with petrigate reload.\n", last.File)
	return err
}

// allowed returns the allow list as a comment, because it would take effect only with "default:
// deny".
func (r *Report) allowed() string {
	if len(r.Allow) == 0 {
		return ""
	}
	var names, counts []string
	for _, a := range r.Allow {
		names = append(names, a.Tool)
		counts = append(counts, fmt.Sprintf("%s %s in %s", a.Tool, calls(a.Calls), text.Count(a.Sessions, "session")))
	}
	return "\n# An allow list for default: deny, with tools that ran often, without refusals or questions\n" +
		"# (" + text.Escape(strings.Join(counts, "; ")) + "):\n# allow " + text.Escape(strings.Join(names, ", ")) + "\n"
}
