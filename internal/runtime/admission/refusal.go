package admission

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
)

// Refused tells the caller why a call has no result: it was refused, a person has not decided about
// it yet, or the upstream returned no result. Text is meant for a model, and Facts contains the
// same information for programs.
type Refused struct {
	Text  string
	Facts Facts
	Err   error // error in the request that caused the refusal, or nil; see [Call].Invalid
	Over  bool  // whether the session has ended

	blocks []gate.Block // objections of the nets that refused the call
}

// Facts is the machine-readable part of a refusal. It is sent in the result's _meta.
type Facts struct {
	Decision string  `json:"decision"`          // "refuse", "allow" if the call was admitted, or "ask" while a person is being asked
	Outcome  string  `json:"outcome,omitempty"` // outcome of an allowed call: unknown or failure
	Kind     string  `json:"kind"`
	Cause    string  `json:"cause,omitempty"`
	Approval string  `json:"approval,omitempty"`
	Nets     []Block `json:"nets,omitempty"`

	// Retry is the time in seconds until the call can be admitted even if no other call is made. It
	// is absent if waiting does not help.
	Retry int64 `json:"retryAfterSeconds,omitempty"`

	// Remedy is the list of the calls that must succeed before this call is allowed. It is null if
	// no calls would help, and absent if it is unknown which calls would help.
	Remedy json.RawMessage `json:"remedy,omitempty"`
}

// Block is one net's objection to a call.
type Block struct {
	Net    string `json:"net"`
	Cause  string `json:"cause"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// Remedy describes what would make a refused call possible. The zero value means that nothing is
// known.
type Remedy struct {
	Text  string   // the remedy as a sentence for the model
	Steps []string // names of the calls that must succeed, in order
	None  bool     // whether the refused call stays impossible, whatever other calls the session makes
}

// raw returns the remedy as JSON for [Facts].Remedy.
func (r Remedy) raw() json.RawMessage {
	switch {
	case r.None:
		return json.RawMessage("null")
	case len(r.Steps) == 0:
		return nil
	}
	steps, err := json.Marshal(r.Steps)
	if err != nil {
		panic(err) // cannot happen, because strings can always be encoded
	}
	return steps
}

// Refuse returns a refusal by the proxy itself, not by a net.
func Refuse(kind, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "refuse", Kind: kind}}
}

// ReportUnanswered returns a report that an admitted call got no result from its upstream.
func ReportUnanswered(kind string, o gate.Outcome, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "allow", Outcome: o.String(), Kind: kind}}
}

func (*Refused) decision() {}
