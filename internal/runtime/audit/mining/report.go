package mining

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/list"
)

// A Report holds the rules that a log supports.
type Report struct {
	Log       string     `json:"log"`
	Sessions  int        `json:"sessions"`
	Calls     int        `json:"calls"` // number of admitted calls
	From      time.Time  `json:"from"`
	To        time.Time  `json:"to"`
	LeftOut   int        `json:"leftOut"` // number of sessions that began before the log
	More      bool       `json:"more"`    // a limit was reached, so some combinations were not tried
	Proposals []Proposal `json:"proposals"`
	Dropped   []Dropped  `json:"dropped"`
	Notes     []Note     `json:"notes"`
	Allow     []Allowed  `json:"allow"` // candidates for an allow list; empty if the policy denies by default

	least int // minimum number of sessions that a rule needed
}

// A Dropped is a rule that is not proposed, and the reason.
type Dropped struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// drop removes the proposals whose indices are keys of wrong, and records the reason for each.
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

// A Proposal is a rule that the log supports. It refuses no call that passed.
type Proposal struct {
	Rule     string    `json:"rule"`     // the rule in the form of a line in a rules file
	Kind     string    `json:"kind"`     // the kind of rule: "order", "value", "budget", "row" or "taint"
	Evidence string    `json:"evidence"` // the evidence, in one sentence
	Sessions int       `json:"sessions"` // number of sessions that have the restricted call
	Calls    int       `json:"calls"`
	Chance   float64   `json:"chance"` // probability of the observation if there were no rule, at least 1e-300; 1 for a limit with headroom, which is not a statistical finding
	Since    time.Time `json:"since"`

	tool   string     // tool that the rule restricts; empty: all
	claims []string   // claims whose proof shows that a policy already has the rule
	looser []Proposal // weaker forms of the rule, to use if the rule refuses a call
}

// ranks determines the order of the kinds of proposals.
var ranks = map[string]int{"value": 0, "order": 0, "taint": 1, "budget": 2, "row": 3}

// rank returns the place of a proposal's kind. Limits with headroom come one place later.
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

// lines returns the rules of all proposals, one per line.
func (r *Report) lines() string {
	return strings.Join(list.Map(r.Proposals, func(p Proposal) string { return p.Rule + "\n" }), "")
}
