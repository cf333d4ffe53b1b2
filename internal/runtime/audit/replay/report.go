package replay

import (
	"time"
)

// A Report summarizes the decisions of a log under a policy.
type Report struct {
	Policy    string   `json:"policy"`    // fingerprint of the replayed policy
	Recorded  []string `json:"recorded"`  // fingerprints of the recorded policies
	Records   uint64   `json:"records"`   // number of records of all events
	Decisions int      `json:"decisions"` // number of decisions made by a policy
	Agreed    int      `json:"agreed"`    // number of decisions that equal the recorded ones
	Different int      `json:"different"` // number of decisions that differ under another policy
	Wrong     int      `json:"wrong"`     // number of decisions that differ although the recorded policy was used, so that the log was changed or is incomplete
	Unknown   int      `json:"unknown"`   // number of decisions that cannot be repeated
	Others    int      `json:"others"`    // number of refusals that no policy made, for example because a server was unavailable or a tool unknown

	First   *Divergence `json:"first"`   // first of the decisions that are counted in Different and Wrong; null: none
	Rules   []RuleCount `json:"rules"`   // differences by rule, most frequent first
	Reasons []Reason    `json:"reasons"` // reasons why decisions cannot be repeated
}

// A Divergence is a decision that differs from the record.
type Divergence struct {
	Writer   string    `json:"writer,omitempty"`
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Session  string    `json:"session"`
	Tool     string    `json:"tool"`
	Names    []string  `json:"names"`
	Recorded string    `json:"recorded"`
	Replayed string    `json:"replayed"`
	Reason   string    `json:"reason,omitempty"` // reason why the replay refuses the call
	Wrong    bool      `json:"wrong"`            // see [Report.Wrong]
	Was      string    `json:"-"`                // "refuse", "ask" or "allow"
	Now      string    `json:"-"`
}

// A RuleCount counts the decisions that differ because of one rule.
type RuleCount struct {
	Now   string `json:"now"` // "refuse", "ask" or "allow"
	Was   string `json:"was"`
	Net   string `json:"net,omitempty"`
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count"`
}

// A Reason counts decisions that cannot be repeated for the same reason.
type Reason struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Differs reports whether any decision differs.
func (r *Report) Differs() bool { return r.Different+r.Wrong > 0 }
