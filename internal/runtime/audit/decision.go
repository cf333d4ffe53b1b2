package audit

import (
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// A Decision records the verdict on one call and what the verdict depended on.
type Decision struct {
	Time      time.Time       `json:"time"`
	Called    time.Time       `json:"called,omitzero"` // arrival time of the call, used to advance the nets' clocks; zero if equal to Time
	Event     string          `json:"event"`           // always "decision"
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Client    string          `json:"client,omitempty"`
	Call      uint64          `json:"call,omitempty"` // call number in the session; only for admitted calls
	ID        string          `json:"id,omitempty"`   // JSON-RPC request ID
	Upstream  string          `json:"upstream,omitempty"`
	Tool      string          `json:"tool"`
	Names     []string        `json:"names,omitempty"`
	Own       int             `json:"own,omitempty"`       // number of leading elements of Names that do not depend on the arguments; recorded only if greater than one
	Uncertain []string        `json:"uncertain,omitempty"` // elements of Names that might not apply to the call
	Weak      []string        `json:"weak,omitempty"`      // elements of Names that can cause a refusal but cannot fulfill a requirement
	Omitted   int             `json:"omittedNames,omitempty"`
	Arguments string          `json:"arguments,omitempty"` // SHA-256 of the arguments
	Args      json.RawMessage `json:"args,omitempty"`      // the call's arguments; recorded only if configured
	Values    []Value         `json:"values,omitempty"`    // argument values that nets read
	Row       string          `json:"row,omitempty"`       // hash of the call, which is the same for identical calls; recorded only if a net counts consecutive identical calls
	Reads     []string        `json:"reads,omitempty"`     // nets that depend on unrecorded data of the call or its result, except nets that abstained
	Decision  string          `json:"decision"`            // "allow", "refuse" or "ask"
	Kind      string          `json:"kind,omitempty"`
	Nets      []NetVerdict    `json:"nets,omitempty"` // verdicts of the nets that did not abstain
	Approval  string          `json:"approval,omitempty"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Shadow    bool            `json:"shadow,omitempty"` // whether the policy is in shadow mode, where every call passes
	Would     *Would          `json:"would,omitempty"`
	Policy    string          `json:"policy"`
}

// fields returns pointers to d's fields, in the order that a [table] requires.
func (d *Decision) fields() [30]any {
	return [...]any{
		&d.Time, &d.Called, &d.Event, &d.Session, &d.Principal, &d.Client, &d.Call, &d.ID, &d.Upstream, &d.Tool,
		&d.Names, &d.Own, &d.Uncertain, &d.Weak, &d.Omitted, &d.Arguments, &d.Args, &d.Values, &d.Row, &d.Reads,
		&d.Decision, &d.Kind, &d.Nets, &d.Approval, &d.Channel, &d.Actor, &d.Reason, &d.Shadow, &d.Would, &d.Policy,
	}
}

// NetVerdict is the verdict of one net on a call.
type NetVerdict struct {
	Net        string `json:"net"`
	Verdict    string `json:"verdict"`
	Transition string `json:"transition,omitempty"`
	Rule       string `json:"rule,omitempty"`
	Shadow     bool   `json:"shadow,omitempty"`
}

func (n *NetVerdict) fields() [5]any {
	return [...]any{&n.Net, &n.Verdict, &n.Transition, &n.Rule, &n.Shadow}
}

// VerdictName returns the name of the verdict in records and displays.
func VerdictName(k gate.VerdictKind) string {
	return [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}[k]
}

// Would holds the decision that nets in shadow mode would have made about a call that passed.
type Would struct {
	Decision string       `json:"decision"` // "refuse" or "ask"
	Kind     string       `json:"kind"`
	Nets     []NetVerdict `json:"nets,omitempty"`
	Reason   string       `json:"reason"`
}

func (w *Would) fields() [4]any { return [...]any{&w.Decision, &w.Kind, &w.Nets, &w.Reason} }

// An Outcome records how an admitted call ended.
type Outcome struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // always "outcome"
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Outcome string    `json:"outcome"`
	Values  []Value   `json:"values,omitempty"` // values that nets read from the result
	Millis  float64   `json:"ms"`
	By      string    `json:"by,omitempty"` // who or what determined the outcome; empty if it follows from the upstream's result
}

func (o *Outcome) fields() [9]any {
	return [...]any{&o.Time, &o.Event, &o.Session, &o.Call, &o.Tool, &o.Outcome, &o.Values, &o.Millis, &o.By}
}

// A Value holds the values that the nets read from one field of a call or its result.
type Value struct {
	Field  string            `json:"field"`
	Hashes []string          `json:"sha256,omitempty"` // hash of each value, computed over its JSON encoding
	Values []json.RawMessage `json:"values,omitempty"` // the same values unhashed; recorded only if configured
	Amount json.Number       `json:"amount,omitempty"` // number in the field; recorded only if a net adds up these numbers
	Lacks  string            `json:"lacks,omitempty"`  // why values are missing: "masked" or "too many"
}

func (v *Value) fields() [5]any {
	return [...]any{&v.Field, &v.Hashes, &v.Values, &v.Amount, &v.Lacks}
}

// MaxText is the maximum length in bytes of a caller-supplied string in a record. Such a string can
// come from an argument of any length.
const MaxText = 256

// Bounded returns a caller-supplied string shortened to at most MaxText bytes.
func Bounded(name string) string { return text.Excerpt(name, MaxText) }
