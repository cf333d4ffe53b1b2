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

// proofTime limits the work of each check of the policy with the proposals.
const proofTime = 5 * time.Second

// DropRedundant drops proposals that source's policy makes unnecessary or harmful: statements that
// the policy already has, rules that it proves on its own, rules that would admit a call that
// "default: deny" refuses, and rules that check reports as having no effect or as making a tool
// impossible.
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

// dropRepeated drops statements that the policy already has.
func (r *Report) dropRepeated(source policy.Source) {
	have := map[string]bool{}
	for _, t := range source.Rules {
		f, _ := rules.Parse("", []byte(t.Text)) // rules that cannot be read have no statements
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

// dropOpening drops rules about calls that only the default refuses. A rule that names a call would
// exempt the call from the default.
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

// dropProved drops proposals that the policy provably guarantees already.
func (r *Report) dropProved(ctx context.Context, source policy.Source) error {
	text, at := "", []int{-1} // at holds the index of the proposal that each line belongs to
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

// checkWith checks the policy with additional rules.
func checkWith(ctx context.Context, source policy.Source, text string) (check.Report, error) {
	if source.Rules = slices.Clone(source.Rules); text != "" {
		source.Rules = append(source.Rules, config.RuleText{File: suggestedFile, Text: text})
	}
	report, _, err := check.Look(ctx, source, nil, check.ToolSet{}, check.Effort{Time: proofTime})
	return report, err
}

// errorsElsewhere returns the errors in the existing rules.
func errorsElsewhere(report check.Report) diag.List {
	return list.Filter(report.Problems.Of(diag.Error), func(p diag.Problem) bool { return p.File != suggestedFile })
}

// complaints returns the problems that check finds in each proposal. If the proposals cause new
// errors only in the existing rules, complaints blames the last proposal.
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
