package mining

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
)

// A Report holds the rules supported by a log.
type Report struct {
	Log       string     `json:"log"`
	Sessions  int        `json:"sessions"`
	Calls     int        `json:"calls"` // number of admitted calls
	From      time.Time  `json:"from"`
	To        time.Time  `json:"to"`
	LeftOut   int        `json:"leftOut"` // number of sessions ignored because they began before the log
	More      bool       `json:"more"`    // whether a limit was reached, so that some combinations were not tried
	Proposals []Proposal `json:"proposals"`
	Dropped   []Dropped  `json:"dropped"`
	Notes     []Note     `json:"notes"`
	Allow     []Allowed  `json:"allow"` // candidates for an allow list; empty if the policy denies by default

	least int // minimum number of sessions that must support a rule
}

// Dropped describes a rule that was considered but not proposed, and why.
type Dropped struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// drop moves proposals from r.Proposals to r.Dropped. Its argument maps the index of each proposal
// to move to the reason.
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

// A Proposal is a rule supported by the log. After [Miner.Prove], it would not have refused any
// admitted call in the log, or required approval for it.
type Proposal struct {
	Rule     string    `json:"rule"`     // the rule as a line of a rules file
	Kind     string    `json:"kind"`     // "order", "value", "budget", "row" or "taint"
	Evidence string    `json:"evidence"` // why the log supports the rule, in one sentence
	Sessions int       `json:"sessions"` // number of sessions with the restricted call
	Calls    int       `json:"calls"`
	Chance   float64   `json:"chance"` // probability of the observations if there were no rule, at least 1e-300; 1 for a limit above the observed maximum that was not tested statistically
	Since    time.Time `json:"since"`

	tool   string     // the restricted tool, or empty for all tools
	claims []string   // "prove" statements about the policy; if one of them is proved, the policy already enforces the rule
	looser []Proposal // weaker rules to try, in order, if this rule refuses a call
}

// ranks maps each kind of proposal to its rank. The report lists lower ranks first.
var ranks = map[string]int{"value": 0, "order": 0, "taint": 1, "budget": 2, "row": 3}

// rank returns the rank of the proposal's kind, plus one for a limit above the observed maximum.
func (p *Proposal) rank() int {
	if p.Chance >= 1 {
		return ranks[p.Kind] + 1
	}
	return ranks[p.Kind]
}

func rank(all []Proposal) {
	slices.SortFunc(all, func(a, b Proposal) int {
		return cmp.Or(a.rank()-b.rank(), cmp.Compare(a.Chance, b.Chance), b.Sessions-a.Sessions, strings.Compare(a.Rule, b.Rule))
	})
}

// lines returns the proposed rules, one per line.
func (r *Report) lines() string {
	return strings.Join(list.Map(r.Proposals, func(p Proposal) string { return p.Rule + "\n" }), "")
}
