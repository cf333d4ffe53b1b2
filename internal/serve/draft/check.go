package draft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// A Policy describes the policy in force.
type Policy struct {
	Fingerprint string
	Shadow      bool
	Nets        int
	Files       []audit.File
	Texts       []Text
	Tools       int    // number of tools offered by the servers; 0 if unknown
	Record      string // name of the audit log that contains the decisions; empty if they are not recorded

	Report *check.Report // results of checking the policy; nil if they are not available
	Why    string        // why Report is nil
}

// Policy returns a description of the policy in force, including the results of checking its
// claims.
func (d *Evaluator) Policy(ctx context.Context, who string) (*Policy, error) {
	c, result := d.options.InForce()
	p := &Policy{Texts: texts(c)}
	if result.Policy != nil {
		p.Fingerprint, p.Shadow, p.Nets = result.Policy.Fingerprint(), result.Policy.Shadow(), len(result.Policy.Nets())
	}
	if d.options.Files != nil {
		p.Files = d.options.Files(c)
	}
	if d.options.Tools != nil {
		p.Tools = len(d.options.Tools())
	}
	if log := d.log(); log != nil {
		p.Record = log.Name
	}
	known := d.currentPolicy(c, result)
	if known.report == nil {
		err := d.run(ctx, d.slotFor(who), checkTime, func(ctx context.Context) error {
			e := check.Effort{Time: check.AtStart(1).Time, Narrower: policydiff.Narrower}
			report, _, err := check.Look(ctx, policy.FromConfig(c), known.problems, check.ToolSet{}, e)
			if err == nil && ctx.Err() == nil {
				known.report = &report
				d.cache(known)
			}
			return err
		})
		if err != nil {
			p.Why = err.Error()
			return p, ctx.Err()
		}
	}
	if p.Report = known.report; p.Report == nil {
		p.Why = ErrSlow.Error()
	}
	return p, ctx.Err()
}

// A Problem is a problem found in a draft.
type Problem struct {
	diag.Problem
	Message      string // text of the problem, including the name of the affected net
	Place        string
	Excerpt      string
	Line, Column int // position in the text of the draft; 0 if the problem is elsewhere
}

// Checked is the result of checking a draft.
type Checked struct {
	Report   check.Report
	Problems []Problem // problems to list, at most maxShown, with errors first
	Known    int       // number of tools used for the check; if 0, the tool names were inferred from the rules
	Took     time.Duration
}

// More returns the number of problems that Problems does not list.
func (c *Checked) More() int { return len(c.Report.Problems) - len(c.Problems) }

// Check checks the policy that would result from the draft, as the command petrigate check does.
func (d *Evaluator) Check(ctx context.Context, who string, draft Draft) (*Checked, error) {
	x, err := d.applyDraft(draft)
	if err != nil {
		return nil, err
	}
	began := d.options.Now()
	var checked Checked
	if x.config == nil {
		checked.Report = check.NewReport(x.problems, &policy.Result{}, check.ToolSet{}, nil)
	} else {
		err = d.run(ctx, d.slotFor(who), checkTime, func(ctx context.Context) error {
			known := d.knownTools(x.config, draft.Known)
			report, _, err := check.Look(ctx, policy.FromConfig(x.config), x.problems, known, check.Effort{Time: proofTime, Narrower: narrower(x.inForce), Widened: policydiff.Widened})
			checked.Report, checked.Known = report, len(known.Tools)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	checked.Report.Judge(false, false)
	checked.Problems, checked.Took = x.display(checked.Report.Problems), d.options.Now().Sub(began)
	return &checked, nil
}

// display returns the first problems to show on a page, with their positions in the draft. Errors
// come first.
func (x *candidate) display(list diag.List) (all []Problem) {
	mask := text.Masker(x.current.Secrets(), "***")
	for i, p := range list {
		s := Problem{Problem: p, Message: p.Msg, Place: p.Place(), Excerpt: p.Excerpt}
		if p.Net != "" {
			s.Message = fmt.Sprintf("net %q: %s", p.Net, p.Msg)
		}
		if i >= x.outside {
			s.Line, s.Column = x.position(p)
		}
		if s.Excerpt == "" {
			s.Excerpt = x.excerpt(s)
		}
		s.Hint, s.Message, s.Excerpt, s.Detail = mask.Replace(p.Hint), mask.Replace(s.Message), mask.Replace(s.Excerpt), mask.Replace(p.Detail)
		s.Excerpt = strings.TrimRight(strings.TrimPrefix(strings.ReplaceAll(s.Excerpt, "\n    ", "\n"), "    "), "\n")
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(rank(a), rank(b)) })
	return all[:min(len(all), maxShown)]
}

// rank returns a sort key for problems. Errors come first. Among problems of the same severity,
// those in the draft come first.
func rank(p Problem) (n int) {
	if p.Severity != diag.Error {
		n += 2
	}
	if p.Line == 0 {
		n++
	}
	return n
}

// isConfigurationCode reports whether the given problem code occurs only in problems with the
// configuration. The line numbers of such problems never refer to a rules file.
func isConfigurationCode(code string) bool {
	return len(code) == 4 && code[1] == '2' && code != "W203" && code != "E201"
}

// position returns the position of a problem in the draft. It returns zero values if the problem is
// not in the draft.
func (x *candidate) position(p diag.Problem) (line, column int) {
	if p.File != x.text.Name || p.Line == 0 || isConfigurationCode(p.Code) {
		return 0, 0
	}
	if x.text.Kind != InlineRules {
		return p.Line, p.Column
	}
	first := x.current.Rules[x.text.index].Position(1, 1)
	line, column = p.Line-first.Line+1, max(p.Column-first.Column+1, 1)
	if line < 1 || line > strings.Count(x.text.Text, "\n")+1 {
		return 0, 0
	}
	return line, column
}

// excerpt returns an excerpt of the line that contains the problem. The line must be in the rules
// of the draft or in another rules file; otherwise, excerpt returns "".
func (x *candidate) excerpt(p Problem) string {
	src, line, column := "", p.Problem.Line, p.Problem.Column
	switch {
	case p.Line > 0 && x.text.Kind != Nets:
		src, line, column = x.text.Text, p.Line, p.Column
	default:
		i := slices.IndexFunc(x.current.Rules, func(r config.RuleText) bool { return r.File == p.File && !r.Inline() })
		if i < 0 || p.File == x.text.Name {
			return ""
		}
		src = x.current.Rules[i].Text
	}
	lines := strings.Split(src, "\n")
	if line < 1 || line > len(lines) || column < 1 {
		return ""
	}
	text := strings.TrimRight(strings.TrimPrefix(lines[line-1], "\ufeff"), "\r")
	if column > len([]rune(text)) {
		return ""
	}
	return diag.Excerpt(text, column, 1)
}

// Compared is the result of comparing a draft with the policy in force.
type Compared struct {
	Result string // result of the comparison; see [policydiff.Report]
	Text   string // explanation, with calls that show the difference
}

// Compare determines whether the draft makes the policy stricter or looser.
func (d *Evaluator) Compare(ctx context.Context, who string, draft Draft) (*Compared, error) {
	x, err := d.applyDraft(draft)
	if err != nil {
		return nil, err
	}
	var compared Compared
	err = d.run(ctx, d.slotFor(who), compareTime, func(ctx context.Context) error {
		after, before, err := x.build()
		if err != nil {
			return err
		}
		found, err := policydiff.CompareResults(ctx, before, x.source(x.current), after, x.source(x.config), compareWork)
		if err != nil {
			return err
		}
		compared.Result, compared.Text = found.Report().Result, found.Text("the policy in force", "the draft")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &compared, nil
}

// compareWork limits the processor time of a comparison.
const compareWork = 3 * time.Second
