package mining

import (
	"cmp"
	"context"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Mine searches a log for rules. The rules in its report held throughout the log but have not been
// proved; see [Miner.Prove].
func Mine(ctx context.Context, log Log, o Options) (*Miner, *Report, error) {
	m := &Miner{log: log, least: cmp.Or(o.Sessions, DefaultSessions), deny: o.Deny, maps: o.Maps, survey: newSurvey(), progress: o.Progress, seen: newSeen()}
	r := &reader{log: log, numbers: map[string]int{}, labels: map[string]bool{}}
	for _, of := range o.Maps {
		r.labels[of.As.Text] = true
	}
	allow := allowCounter{}
	r.onDecision = func(e *trail.Entry) {
		m.seen.count(e)
		allow.count(e)
	}
	if err := r.walk(ctx, m.stage("reading"), m.survey); err != nil {
		return nil, nil, err
	}
	m.survey.finish()
	r.onDecision = nil
	m.names, m.kinds, m.cut, m.whole = r.names, r.kinds, r.cut, r.whole
	f, err := m.find(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{
		Log: log.Name, Sessions: m.survey.sessions, Calls: m.survey.calls, From: m.survey.from, To: m.survey.to, LeftOut: m.survey.partial,
		Dropped: []Dropped{}, Allow: []Allowed{}, Notes: append(m.seen.notes(m.least), m.openingNotes()...), least: m.least, More: f.more,
	}
	if !m.deny {
		report.Allow = allow.list()
	}
	report.Proposals = append([]Proposal{}, slices.Concat(m.sequences(f), m.limits(), m.amounts(), m.taint(), m.row())...)
	rank(report.Proposals)
	return m, report, nil
}

// find looks for the rules that the first pass over the log, the survey, cannot establish. It reads
// the log again only if the survey has left candidates for such rules.
func (m *Miner) find(ctx context.Context, r *reader) (*findings, error) {
	v, n := m.survey, len(m.survey.tools)
	candidates := v.candidates(m.least)
	f := &findings{tried: 2*n*n + n*n*n/2 + len(candidates)}
	alone := m.heldPairs(f.tried, nil)
	eithers, more := v.eithers(m.least, f.tried)
	spoilers, also := v.invalidators(alone, f.tried, m.least)
	f.more = more || also
	for _, e := range eithers {
		for _, field := range v.shared(e.a, e.alt, e.b) {
			c := &candidate{pair: pair{e.a, e.b}, alt: e.alt, first: field, then: field}
			e.same, candidates = append(e.same, c), append(candidates, c)
		}
	}
	f.tried += len(spoilers)
	if len(candidates)+len(eithers)+len(spoilers) > 0 {
		if err := r.walk(ctx, m.stage("comparing values"), newMatchVisitor(candidates), newEitherVisitor(eithers), newInvalidatorVisitor(spoilers)); err != nil {
			return nil, err
		}
	}
	joint := m.jointCandidates(candidates, f.tried)
	if f.tried += len(joint); len(joint) > 0 {
		if err := r.walk(ctx, m.stage("comparing several values"), newMatchVisitor(joint)); err != nil {
			return nil, err
		}
	}
	f.best = m.bestKeys(candidates, joint, f.tried)
	f.held = m.heldPairs(f.tried, f.best)
	f.eithers = strongest(slices.DeleteFunc(eithers, func(e *either) bool { return !e.supported(m, f.tried) }))
	f.invalidators = supportedInvalidators(spoilers, m.least, f.tried)
	return f, nil
}
