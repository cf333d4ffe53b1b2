package audit

import (
	"encoding/json"
	"time"
)

// A Decision records what was decided of one call, and what of the call decided it.
type Decision struct {
	Time      time.Time       `json:"time"`
	Called    time.Time       `json:"called,omitzero"` // when the call came, which the clocks of nets go by, if that is not Time
	Event     string          `json:"event"`           // decision
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Client    string          `json:"client,omitempty"`
	Call      uint64          `json:"call,omitempty"` // of the session; only admitted calls have one
	ID        string          `json:"id,omitempty"`   // on the wire
	Upstream  string          `json:"upstream,omitempty"`
	Tool      string          `json:"tool"`
	Names     []string        `json:"names,omitempty"`
	Own       int             `json:"own,omitempty"`       // so many of the names, the first, are those of the tool whatever its arguments, if more than one
	Uncertain []string        `json:"uncertain,omitempty"` // of the names: perhaps the call is not of them
	Weak      []string        `json:"weak,omitempty"`      // of the names: they restrict and are no evidence
	Omitted   int             `json:"omittedNames,omitempty"`
	Arguments string          `json:"arguments,omitempty"` // SHA-256
	Args      json.RawMessage `json:"args,omitempty"`      // if the configuration asks for them
	Values    []Value         `json:"values,omitempty"`    // that nets read
	Row       string          `json:"row,omitempty"`       // SHA-256, the same for equal calls, where a net counts those
	Reads     []string        `json:"reads,omitempty"`     // nets that say something and read more of the call or of its result than is in the names and values
	Decision  string          `json:"decision"`            // allow, refuse, ask
	Kind      string          `json:"kind,omitempty"`
	Nets      []NetSays       `json:"nets,omitempty"` // that do not abstain
	Approval  string          `json:"approval,omitempty"`
	Channel   string          `json:"channel,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Shadow    bool            `json:"shadow,omitempty"` // of a policy that is in shadow: it lets every call pass
	Would     *Would          `json:"would,omitempty"`
	Policy    string          `json:"policy"`
}

// fields returns the addresses of the fields of d, in their order.
func (d *Decision) fields() [30]any {
	return [...]any{
		&d.Time, &d.Called, &d.Event, &d.Session, &d.Principal, &d.Client, &d.Call, &d.ID, &d.Upstream, &d.Tool,
		&d.Names, &d.Own, &d.Uncertain, &d.Weak, &d.Omitted, &d.Arguments, &d.Args, &d.Values, &d.Row, &d.Reads,
		&d.Decision, &d.Kind, &d.Nets, &d.Approval, &d.Channel, &d.Actor, &d.Reason, &d.Shadow, &d.Would, &d.Policy,
	}
}

// NetSays is the verdict of one net on a call.
type NetSays struct {
	Net        string `json:"net"`
	Verdict    string `json:"verdict"`
	Transition string `json:"transition,omitempty"`
	Rule       string `json:"rule,omitempty"`
	Shadow     bool   `json:"shadow,omitempty"`
}

func (n *NetSays) fields() [5]any {
	return [...]any{&n.Net, &n.Verdict, &n.Transition, &n.Rule, &n.Shadow}
}

// Would is how the nets in shadow mode would have answered a call that passed.
type Would struct {
	Decision string    `json:"decision"` // refuse, or ask
	Kind     string    `json:"kind"`
	Nets     []NetSays `json:"nets,omitempty"`
	Reason   string    `json:"reason"`
}

func (w *Would) fields() [4]any { return [...]any{&w.Decision, &w.Kind, &w.Nets, &w.Reason} }

// An Outcome records how an admitted call ended.
type Outcome struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // outcome
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Outcome string    `json:"outcome"`
	Values  []Value   `json:"values,omitempty"` // of the result, that nets read
	Millis  float64   `json:"ms"`
	By      string    `json:"by,omitempty"` // who settled it, where it was not the upstream's result
}

func (o *Outcome) fields() [9]any {
	return [...]any{&o.Time, &o.Event, &o.Session, &o.Call, &o.Tool, &o.Outcome, &o.Values, &o.Millis, &o.By}
}

// A Value is what the nets read in one field of a call or of its result.
type Value struct {
	Field  string            `json:"field"`
	Hashes []string          `json:"sha256,omitempty"` // of the values of a key, each as JSON
	Values []json.RawMessage `json:"values,omitempty"` // the same in plain, if the configuration asks for that
	Amount json.Number       `json:"amount,omitempty"` // of a sum
	Lacks  string            `json:"lacks,omitempty"`  // why this is not all: masked, or too many
}

func (v *Value) fields() [5]any {
	return [...]any{&v.Field, &v.Hashes, &v.Values, &v.Amount, &v.Lacks}
}
