package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Report says how the decisions of a log come out under a policy.
type Report struct {
	Policy    string   `json:"policy"`    // the fingerprint of the one given
	Recorded  []string `json:"recorded"`  // those of the policies that the log was decided under
	Records   uint64   `json:"records"`   // of any event
	Decisions int      `json:"decisions"` // that a policy made
	Agreed    int      `json:"agreed"`    // come out as they are on record
	Different int      `json:"different"` // do not, under another policy than the one on record
	Wrong     int      `json:"wrong"`     // do not, under the very policy on record: the log was changed, or it is not complete
	Unknown   int      `json:"unknown"`   // cannot be made again
	Others    int      `json:"others"`    // refusals that no policy made: a server that was down, no tool of that name

	First   *Divergence `json:"first"`   // of Different and Wrong; null: none
	Rules   []RuleCount `json:"rules"`   // what they come to, the most frequent first
	Reasons []Reason    `json:"reasons"` // why some cannot be made again
}

// A Divergence is a decision that comes out otherwise.
type Divergence struct {
	Writer   string    `json:"writer,omitempty"`
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Session  string    `json:"session"`
	Tool     string    `json:"tool"`
	Names    []string  `json:"names"`
	Recorded string    `json:"recorded"`
	Replayed string    `json:"replayed"`
	Reason   string    `json:"reason,omitempty"` // of a refusal now
	Wrong    bool      `json:"wrong"`            // see [Report.Wrong]
	Was      string    `json:"-"`                // refuse, ask or allow
	Now      string    `json:"-"`
}

// A RuleCount counts decisions that come out otherwise, by the rule that is behind that.
type RuleCount struct {
	Now   string `json:"now"` // refuse, ask or allow
	Was   string `json:"was"`
	Net   string `json:"net,omitempty"`
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count"`
}

// A Reason counts why decisions cannot be made again.
type Reason struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Report says what has come of the records so far.
func (r *Replay) Report() Report {
	report := r.report
	report.Recorded, report.Rules, report.Reasons = []string{}, []RuleCount{}, []Reason{}
	for p := range r.fingerprints {
		report.Recorded = append(report.Recorded, p)
	}
	slices.Sort(report.Recorded)
	for c, n := range r.rules {
		c.Count = n
		report.Rules = append(report.Rules, c)
	}
	slices.SortFunc(report.Rules, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Net, b.Net), strings.Compare(a.Now, b.Now), strings.Compare(a.Was, b.Was), strings.Compare(a.Rule, b.Rule))
	})
	for text, n := range r.reasons {
		report.Reasons = append(report.Reasons, Reason{text, n})
	}
	slices.SortFunc(report.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
	})
	return report
}

// Differs reports whether a decision comes out otherwise.
func (r *Report) Differs() bool { return r.Different+r.Wrong > 0 }
