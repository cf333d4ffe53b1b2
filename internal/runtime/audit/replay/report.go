package replay

import (
	"time"
)

// A Report summarizes the decisions made when a log is replayed under a policy.
type Report struct {
	Policy    string   `json:"policy"`    // the replayed policy's fingerprint
	Recorded  []string `json:"recorded"`  // fingerprints of the policies in the log
	Records   uint64   `json:"records"`   // number of records of all kinds
	Decisions int      `json:"decisions"` // number of recorded decisions that were made by a policy
	Agreed    int      `json:"agreed"`    // number of decisions that agree with the record
	Different int      `json:"different"` // number of decisions that differ from a record made under another policy
	Wrong     int      `json:"wrong"`     // number of decisions that differ from a record made under the same policy; any such decision shows that the log was changed or is incomplete
	Unknown   int      `json:"unknown"`   // number of decisions that cannot be repeated
	Others    int      `json:"others"`    // number of refusals not made by a policy, for example because a server was down or a tool unknown

	First   *Divergence `json:"first"`   // first decision counted in Different or Wrong, or nil
	Rules   []RuleCount `json:"rules"`   // counts of differing decisions, by rule, largest first
	Reasons []Reason    `json:"reasons"` // reasons why decisions cannot be repeated, most frequent first
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
	Reason   string    `json:"reason,omitempty"` // why the replay refuses the call
	Wrong    bool      `json:"wrong"`            // whether the decision is counted in [Report.Wrong]
	Was      string    `json:"-"`                // "refuse", "ask" or "allow"
	Now      string    `json:"-"`
}

// A RuleCount is the number of differing decisions that are due to one rule.
type RuleCount struct {
	Now   string `json:"now"` // "refuse", "ask" or "allow"
	Was   string `json:"was"`
	Net   string `json:"net,omitempty"`
	Rule  string `json:"rule,omitempty"`
	Count int    `json:"count"`
}

// A Reason explains why some decisions cannot be repeated. Count is the number of these decisions.
type Reason struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Differs reports whether any decision differs from the record.
func (r *Report) Differs() bool { return r.Different+r.Wrong > 0 }
