package mining

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/rules"
)

// LeastSessions is how many sessions a rule needs if nothing else is said.
const LeastSessions = 20

// Options of a search.
type Options struct {
	Maps     []*rules.Map                    // that give calls the names that are on record, for rules about these too
	Sessions int                             // that a rule needs; 0: LeastSessions
	Deny     bool                            // the policy refuses what no rule names
	Progress func(stage string, records int) // may be nil
}

// A Miner searches one log.
type Miner struct {
	log      Log
	least    int
	deny     bool
	maps     []*rules.Map
	cut      bool
	whole    time.Time
	progress func(stage string, records int)

	survey *survey
	names  []string
	kinds  []toolkind.Kind
	seen   *seen
}

// A Report is what a log supports.
type Report struct {
	Log       string     `json:"log"`
	Sessions  int        `json:"sessions"`
	Calls     int        `json:"calls"` // that passed
	From      time.Time  `json:"from"`
	To        time.Time  `json:"to"`
	LeftOut   int        `json:"leftOut"` // sessions that began before the log
	More      bool       `json:"more"`    // there was more to try than is tried
	Proposals []Proposal `json:"proposals"`
	Dropped   []Dropped  `json:"dropped"`
	Notes     []Note     `json:"notes"`
	Allow     []Allowed  `json:"allow"` // for a policy that denies what no rule names; none, if it does

	least int // sessions that a rule needs
}

// A Dropped is a rule that is not proposed, and why.
type Dropped struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Mine searches a log. What it finds has held in all of it, and is not proved yet: see [Miner.Prove].
func Mine(ctx context.Context, log Log, o Options) (*Miner, *Report, error) {
	m := &Miner{log: log, least: o.Sessions, deny: o.Deny, maps: o.Maps, survey: newSurvey(), progress: o.Progress, seen: newSeen()}
	if m.least == 0 {
		m.least = LeastSessions
	}
	r := newReader(log)
	for _, of := range o.Maps {
		r.labels[of.As.Text] = true
	}
	allow := allowing{}
	r.other = func(e *trail.Entry) {
		m.seen.take(e)
		allow.take(e)
	}
	if err := r.walk(ctx, m.survey, m.stage("reading")); err != nil {
		return nil, nil, err
	}
	m.survey.finish()
	r.other = nil
	m.names, m.kinds, m.cut, m.whole = r.names, r.kinds, r.cut, r.whole
	f, err := m.find(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{
		Log: log.Name, Sessions: m.survey.sessions, Calls: m.survey.calls, From: m.survey.from, To: m.survey.to, LeftOut: m.survey.partial,
		Proposals: []Proposal{}, Dropped: []Dropped{}, Allow: []Allowed{}, Notes: m.seen.notes(m.least), least: m.least, More: f.more,
	}
	if !m.deny {
		report.Allow = allow.list()
	}
	report.Proposals = append(report.Proposals, m.order(f)...)
	report.Proposals = append(report.Proposals, m.limits()...)
	report.Proposals = append(report.Proposals, m.amounts()...)
	report.Proposals = append(report.Proposals, m.taint()...)
	report.Proposals = append(report.Proposals, m.row()...)
	rank(report.Proposals)
	report.Notes = append(report.Notes, m.opening()...)
	return m, report, nil
}

func (m *Miner) stage(name string) func(int) {
	return func(records int) {
		if m.progress != nil {
			m.progress(name, records)
		}
	}
}

// drop takes the proposals with these numbers out, each for its reason.
func (r *Report) drop(wrong map[int]string) {
	kept := []Proposal{}
	for i, p := range r.Proposals {
		if why := wrong[i]; why != "" {
			r.Dropped = append(r.Dropped, Dropped{p.Rule, why})
		} else {
			kept = append(kept, p)
		}
	}
	r.Proposals = kept
}
