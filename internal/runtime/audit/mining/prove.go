package mining

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/rules"
)

// suggestedFile is the name of the rules file that contains the proposals.
const suggestedFile = "suggested.rules"

// Reasons for dropping proposals.
const (
	whyRefuses = "it would have refused, or required approval for, a call that passed"
	whyUnknown = "the records do not describe the calls in enough detail to prove it"
)

// Prove replays the log under all proposals together. It weakens or drops each proposal that would
// have refused a call that passed, or would have required approval for it. It also weakens or drops
// a proposal if the log lacks the details needed to check it. It repeats the replay until no such
// proposal is left. Proposals need not be tested one by one, because a call that passes under all
// of them passes under each.
func (m *Miner) Prove(ctx context.Context, r *Report) error {
	for len(r.Proposals) > 0 {
		wrong, err := m.replay(ctx, r)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			return nil
		}
		if r.loosen(wrong) {
			continue
		}
		r.drop(wrong)
	}
	return nil
}

// replay replays the log under the proposals. The result maps the index of each wrong proposal to
// the reason.
func (m *Miner) replay(ctx context.Context, r *Report) (wrong map[int]string, err error) {
	lines := r.lines() + strings.Join(list.Map(m.maps, func(of *rules.Map) string { return of.String() + "\n" }), "")
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: suggestedFile, Text: lines}}})
	if err != nil {
		return nil, fmt.Errorf("building the proposal: %w", err)
	}
	wrong = map[int]string{}
	at := map[string]int{} // maps each net to the index of the proposal that it was built from
	for _, n := range result.Policy.Nets() {
		at[n.Name] = n.Rule.Line - 1
	}
	run, err := replay.New(replay.Options{Policy: result.Policy, Active: result.Active, Durable: m.log.Durable, Partial: m.cut, Whole: m.whole, Differs: func(d *replay.Divergence) {
		if d.Was != "allow" || d.Now == "allow" || len(wrong) > 0 {
			return // once a call is refused, later differences may just be consequences of the refusal
		}
		blame(wrong, at, whyRefuses, func(net string) bool {
			return strings.Contains(d.Replayed, net+" blocked") || strings.Contains(d.Replayed, net+" asks")
		})
	}})
	if err != nil {
		return nil, err
	}
	if err := each(ctx, m.log, m.stage("proving"), func(record *trail.Record, e *trail.Entry) { run.Add(record, e) }); err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	report := run.Report()
	for _, reason := range report.Reasons {
		if !slices.Contains(ignoredReasons, reason.Text) {
			blame(wrong, at, whyUnknown, func(net string) bool {
				return strings.Contains(reason.Text, "net "+net+" ") || strings.HasSuffix(reason.Text, "net "+net)
			})
		}
	}
	return wrong, nil
}

// ignoredReasons lists reasons why a decision cannot be compared with the record. They do not count
// against a proposal, because they concern sessions that began before the log, or calls that waited
// for approval.
var ignoredReasons = []string{replay.BeforeFirst, replay.MovedMeanwhile}

// blame records the given reason for each proposal that has a net selected by the callback. If the
// callback selects no net, blame records the reason for every proposal.
func blame(wrong map[int]string, at map[string]int, reason string, selected func(net string) bool) {
	found := false
	for net, i := range at {
		if selected(net) {
			wrong[i], found = reason, true
		}
	}
	if found {
		return
	}
	for _, i := range at {
		wrong[i] = reason
	}
}

// loosen replaces each wrong proposal with the next weaker one, if any. It reports whether it
// replaced any proposal.
func (r *Report) loosen(wrong map[int]string) (loosened bool) {
	for i := range wrong {
		p := &r.Proposals[i]
		if len(p.looser) > 0 {
			rest := p.looser[1:]
			*p, loosened = p.looser[0], true
			p.looser = rest
		}
	}
	return loosened
}
