package mining

import (
	"context"
	"slices"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/rules"
)

const (
	whyThere = "the policy has it already"
	whyCheck = "check would complain about it: "
	whyOpens = "the policy refuses the call by default: deny, and a rule about it would let it pass"
)

// proofTime bounds the work of each look at the policy with the proposals.
const proofTime = 5 * time.Second

// Against drops what the policy of a source has already: the same statement, a rule that it proves
// without it, what would let a call pass that the default refuses, and what check says changes nothing or makes a tool impossible.
func (r *Report) Against(ctx context.Context, source policy.Source) error {
	r.repeated(source)
	if err := r.opening(source); err != nil {
		return err
	}
	if err := r.proved(ctx, source); err != nil {
		return err
	}
	alone, err := look(ctx, source, "")
	if err != nil {
		return err
	}
	before := len(elsewhere(alone))
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

// repeated drops statements that are there.
func (r *Report) repeated(source policy.Source) {
	have := map[string]bool{}
	for _, t := range source.Rules {
		f, _ := rules.Parse("", []byte(t.Text)) // what cannot be read is not there
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

// opening drops rules about calls that only the default refuses: a call that a rule restricts passes
// the default.
func (r *Report) opening(source policy.Source) error {
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

// proved drops what is proved of the policy as it is.
func (r *Report) proved(ctx context.Context, source policy.Source) error {
	text, at := "", map[int]int{}
	line := 0
	for i, p := range r.Proposals {
		for _, c := range p.claims {
			line++
			text += c + "\n"
			at[line] = i
		}
	}
	if len(source.Rules)+len(source.Nets) == 0 || line == 0 {
		return nil
	}
	report, err := look(ctx, source, text)
	if err != nil {
		return err
	}
	wrong := map[int]string{}
	for _, c := range report.Claims() {
		if c.Rule.File == file && c.Result == "proved" {
			wrong[at[c.Rule.Line]] = whyThere
		}
	}
	r.drop(wrong)
	return nil
}

// look checks the policy with more rules.
func look(ctx context.Context, source policy.Source, text string) (check.Report, error) {
	if source.Rules = slices.Clone(source.Rules); text != "" {
		source.Rules = append(source.Rules, config.RuleText{File: file, Text: text})
	}
	report, _, err := check.Look(ctx, source, nil, check.ToolSet{}, check.Effort{Time: proofTime})
	return report, err
}

// elsewhere are the errors in rules that are there.
func elsewhere(report check.Report) (all diag.List) {
	for _, p := range report.Problems.Of(diag.Error) {
		if p.File != file {
			all = append(all, p)
		}
	}
	return all
}

// complaints are the problems that check has with proposals, beside the rules that are there, and
// of those rules if they had fewer before: then the last proposal is in doubt.
func (r *Report) complaints(ctx context.Context, source policy.Source, before int) (map[int]string, error) {
	report, err := look(ctx, source, r.lines())
	if err != nil {
		return nil, err
	}
	wrong := map[int]string{}
	for _, p := range report.Problems {
		if p.File == file && p.Line > 0 && p.Severity != diag.Note && wrong[p.Line-1] == "" {
			wrong[p.Line-1] = whyCheck + p.Msg
		}
	}
	if others := elsewhere(report); len(wrong) == 0 && len(others) > before {
		wrong[len(r.Proposals)-1] = whyCheck + others[0].Msg
	}
	return wrong, nil
}
