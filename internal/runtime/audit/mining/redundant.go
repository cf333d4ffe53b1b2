package mining

import (
	"context"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/rules"
)

const (
	whyThere = "the policy already has it"
	whyCheck = "check would complain about it: "
	whyOpens = "the policy refuses the call by default: deny, and a rule about it would let it pass"
)

// proofTime is the time limit for each check of the policy together with the proposals.
const proofTime = 5 * time.Second

// DropRedundant drops proposals that are unnecessary or harmful under the given policy. A statement
// is unnecessary if the policy already contains it. A rule is unnecessary if the policy already
// enforces it. A rule is harmful if it would admit calls refused by "default: deny". DropRedundant
// also drops rules that package check complains about, for example because they have no effect.
func (r *Report) DropRedundant(ctx context.Context, source policy.Source) error {
	r.dropRepeated(source)
	if err := r.dropOpening(source); err != nil {
		return err
	}
	if err := r.dropProved(ctx, source); err != nil {
		return err
	}
	alone, err := checkWith(ctx, source, "")
	if err != nil {
		return err
	}
	before := len(errorsElsewhere(alone))
	for len(r.Proposals) > 0 {
		wrong, err := r.complaints(ctx, source, before)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			break
		}
		r.drop(wrong)
	}
	return nil
}

// dropRepeated drops statements that the policy already contains.
func (r *Report) dropRepeated(source policy.Source) {
	have := map[string]bool{}
	for _, t := range source.Rules {
		f, _ := rules.Parse("", []byte(t.Text)) // rules with syntax errors have no statements
		for _, s := range f.Statements {
			have[s.String()] = true
		}
	}
	wrong := map[int]string{}
	for i, p := range r.Proposals {
		if have[p.Rule] {
			wrong[i] = whyThere
		}
	}
	r.drop(wrong)
}

// dropOpening drops rules about calls that the policy refuses only by default. Such a rule would
// admit the call, because the default does not apply to calls named in a rule.
func (r *Report) dropOpening(source policy.Source) error {
	if source.Default != "deny" {
		return nil
	}
	source.Mode = "enforce"
	result, err := policy.Build(source)
	if err != nil {
		return err
	}
	named := check.CallsUnder(source.Config)
	wrong := map[int]string{}
	for i, p := range r.Proposals {
		if p.tool == "" {
			continue
		}
		d := sandbox.New(result.Policy, result.Active).Session("").Call(named(p.tool), sandbox.Nobody)
		if refusal, ok := d.(*gate.Refusal); ok && refusal.Kind == gate.KindDefault {
			wrong[i] = whyOpens
		}
	}
	r.drop(wrong)
	return nil
}

// dropProved drops rules that the policy provably enforces without them.
func (r *Report) dropProved(ctx context.Context, source policy.Source) error {
	text, at := "", []int{-1} // at[n] is the index of the proposal whose "prove" statement is on line n, counting from 1
	for i, p := range r.Proposals {
		for _, c := range p.claims {
			text += c + "\n"
			at = append(at, i)
		}
	}
	if len(source.Rules)+len(source.Nets) == 0 || text == "" {
		return nil
	}
	report, err := checkWith(ctx, source, text)
	if err != nil {
		return err
	}
	wrong := map[int]string{}
	for _, c := range report.Claims() {
		if c.Rule.File == suggestedFile && c.Result == "proved" {
			wrong[at[c.Rule.Line]] = whyThere
		}
	}
	r.drop(wrong)
	return nil
}

// checkWith checks the policy together with the additional rules in text.
func checkWith(ctx context.Context, source policy.Source, text string) (check.Report, error) {
	if source.Rules = slices.Clone(source.Rules); text != "" {
		source.Rules = append(source.Rules, config.RuleText{File: suggestedFile, Text: text})
	}
	report, _, err := check.Look(ctx, source, nil, check.ToolSet{}, check.Effort{Time: proofTime})
	return report, err
}

// errorsElsewhere returns the errors in the existing rules, not in the proposals.
func errorsElsewhere(report check.Report) diag.List {
	return list.Filter(report.Problems.Of(diag.Error), func(p diag.Problem) bool { return p.File != suggestedFile })
}

// complaints returns the first complaint of package check about each proposal, keyed by the
// proposal's index. The argument before is the number of errors that the existing rules have
// without the proposals. If they have more errors with the proposals, but no proposal has a
// complaint, complaints blames the last proposal. It then quotes the first error in the existing
// rules, which might be an old one.
func (r *Report) complaints(ctx context.Context, source policy.Source, before int) (map[int]string, error) {
	report, err := checkWith(ctx, source, r.lines())
	if err != nil {
		return nil, err
	}
	wrong := map[int]string{}
	for _, p := range report.Problems {
		if p.File == suggestedFile && p.Line > 0 && p.Severity != diag.Note && wrong[p.Line-1] == "" {
			wrong[p.Line-1] = whyCheck + p.Msg
		}
	}
	if others := errorsElsewhere(report); len(wrong) == 0 && len(others) > before {
		wrong[len(r.Proposals)-1] = whyCheck + others[0].Msg
	}
	return wrong, nil
}
