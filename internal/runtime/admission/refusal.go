package admission

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
)

// Refused is the decision that a call must not run, or the answer to an admitted call that has no
// result. The text is written for a model; the facts give programs the same information.
type Refused struct {
	Text  string
	Facts Facts
	Err   error // the value of [Call].Invalid, if it caused the refusal
	Over  bool  // the session has ended

	blocks []gate.Block // blocks by the nets that refused the call
}

// Facts is the part of a refusal that is meant for programs. It is sent in the result's _meta.
type Facts struct {
	Decision string  `json:"decision"`          // "refuse" or "allow", or "ask" while a person is being asked
	Outcome  string  `json:"outcome,omitempty"` // an allowed call's outcome: unknown or failure
	Kind     string  `json:"kind"`
	Cause    string  `json:"cause,omitempty"`
	Approval string  `json:"approval,omitempty"`
	Nets     []Block `json:"nets,omitempty"`

	// Retry is the delay in seconds until the call becomes possible merely because time passes;
	// absent: never.
	Retry int64 `json:"retryAfterSeconds,omitempty"`

	// Remedy is the list of calls that must succeed before this call is allowed; null if no calls
	// would help; absent if unknown.
	Remedy json.RawMessage `json:"remedy,omitempty"`
}

// Block is one net's objection to a call.
type Block struct {
	Net    string `json:"net"`
	Cause  string `json:"cause"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason"`
}

// Remedy describes how a refused call becomes allowed. The zero value means that this is unknown.
type Remedy struct {
	Text  string   // sentence for a model
	Steps []string // names of calls that must succeed, in this order
	None  bool     // no calls in this session would help
}

// raw returns the remedy as JSON for [Facts].
func (r Remedy) raw() json.RawMessage {
	switch {
	case r.None:
		return json.RawMessage("null")
	case len(r.Steps) == 0:
		return nil
	}
	steps, err := json.Marshal(r.Steps)
	if err != nil {
		panic(err) // strings can always be encoded as JSON
	}
	return steps
}

// Refuse returns a refusal that is not caused by a net.
func Refuse(kind, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "refuse", Kind: kind}}
}

// Unanswered returns the answer to an admitted call that got no result from the upstream.
func Unanswered(kind string, o gate.Outcome, text string) *Refused {
	return &Refused{Text: text, Facts: Facts{Decision: "allow", Outcome: o.String(), Kind: kind}}
}

func (*Refused) decision() {}
