package mining

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/rules"
)

// DefaultSessions is the default minimum number of sessions for a rule.
const DefaultSessions = 20

// Options configures a search.
type Options struct {
	Maps     []*rules.Map                    // maps that assign the recorded names, to find rules about these names too
	Sessions int                             // minimum sessions for a rule; 0: DefaultSessions
	Deny     bool                            // the policy refuses calls that no rule names
	Progress func(stage string, records int) // may be nil
}

// A Miner searches one log. It must not be used concurrently.
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
	seen   *ruleActivity
}

// A Report holds the rules that a log supports.
type Report struct {
	Log       string     `json:"log"`
	Sessions  int        `json:"sessions"`
	Calls     int        `json:"calls"` // admitted calls
	From      time.Time  `json:"from"`
	To        time.Time  `json:"to"`
	LeftOut   int        `json:"leftOut"` // sessions that began before the log
	More      bool       `json:"more"`    // a limit was reached, so some combinations were not tried
	Proposals []Proposal `json:"proposals"`
	Dropped   []Dropped  `json:"dropped"`
	Notes     []Note     `json:"notes"`
	Allow     []Allowed  `json:"allow"` // candidates for an allow list; empty if the policy already denies by default

	least int // minimum sessions for a rule
}

// A Dropped is a rule that is not proposed, with the reason.
type Dropped struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Mine searches a log. The proposals of the report held in the whole log, but are not proved yet;
// see [Miner.Prove].
func Mine(ctx context.Context, log Log, o Options) (*Miner, *Report, error) {
	m := &Miner{log: log, least: o.Sessions, deny: o.Deny, maps: o.Maps, survey: newSurvey(), progress: o.Progress, seen: newSeen()}
	if m.least == 0 {
		m.least = DefaultSessions
	}
	r := newReader(log)
	for _, of := range o.Maps {
		r.labels[of.As.Text] = true
	}
	allow := allowCounter{}
	r.onDecision = func(e *trail.Entry) {
		m.seen.count(e)
		allow.count(e)
	}
	if err := r.walk(ctx, m.survey, m.stage("reading")); err != nil {
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
		Proposals: []Proposal{}, Dropped: []Dropped{}, Allow: []Allowed{}, Notes: m.seen.notes(m.least), least: m.least, More: f.more,
	}
	if !m.deny {
		report.Allow = allow.list()
	}
	report.Proposals = append(report.Proposals, m.sequences(f)...)
	report.Proposals = append(report.Proposals, m.limits()...)
	report.Proposals = append(report.Proposals, m.amounts()...)
	report.Proposals = append(report.Proposals, m.taint()...)
	report.Proposals = append(report.Proposals, m.row()...)
	rank(report.Proposals)
	report.Notes = append(report.Notes, m.openingNotes()...)
	return m, report, nil
}

func (m *Miner) stage(name string) func(int) {
	return func(records int) {
		if m.progress != nil {
			m.progress(name, records)
		}
	}
}

// drop removes the proposals whose indices are keys of wrong, each with its reason.
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
