package admission

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Call describes a call that an [Admission] decides on.
type Call struct {
	Key
	Gate    gate.Call   // call data that the nets use
	Offered []gate.Call // tools that the client can call now (see [gate.Session.Offer]); nil means unknown

	// Invalid is an error in the request, or nil. If Invalid is not nil, the call is refused and
	// takes no tokens, even if the nets would admit it, and [Refused].Err is set to Invalid.
	Invalid error

	// The following fields describe the call in records, logs and metrics.
	Client    string // name of the client, as reported by the client itself
	ID        []byte // JSON-RPC ID of the client's request
	Upstream  string
	Tool      string // the upstream's name for the tool
	Method    string // method of the request: tools/call, prompts/get or resources/read
	Canonical string // the tool's qualified name, including the upstream's name
	Digest    string // SHA-256 of the arguments; if empty, it is computed when needed
}

// Consent identifies a person's answer to an approval request, for the audit record.
type Consent struct{ ID, Channel, Actor string }

// Decision is an [*Admitted], a [*Refused] or an [*Asked].
type Decision interface{ decision() }

// Admitted is the decision that a call may run. The decision has been recorded.
type Admitted struct {
	Ticket Ticket
	Pass   Pass // permission to send the call to its upstream once
}

// Asked is the decision for a call that needs approval. The caller asks a person. If the person
// approves the call, the caller passes the [Consent] to [Admission.Redeem]. Whatever the answer,
// the caller must call [Admission.Withdraw] when it stops waiting.
type Asked struct {
	*gate.Ask
	Generation *Generation // generation in force when the decision was made
}

func (*Admitted) decision() {}

func (*Asked) decision() {}

// Ticket represents an admitted call. The caller must report the call's outcome with
// [Admission.Settle].
type Ticket struct {
	ticketFacts

	judge    *Generation  // generation whose conditions apply to the result; nil means the generation in force
	observed *observation // nil if the call is not observed
	settled  atomic.Bool  // set when the outcome has been stored or queued
}

// ticketFacts is the part of a ticket that is encoded as JSON.
type ticketFacts struct {
	Key
	Number   uint64      `json:"number"`            // number of the call in its session
	Awaited  bool        `json:"awaited,omitempty"` // whether the outcome can change a net's marking
	Tool     string      `json:"tool"`
	Called   string      `json:"called,omitempty"` // the policy's name for the tool; empty in a ticket stored by an older version of petrigate
	Also     []gate.Name `json:"also,omitempty"`   // further names that the policy gives the call; nil in a ticket stored by an older version of petrigate
	Upstream string      `json:"upstream"`
	Since    time.Time   `json:"since"`
	Policy   string      `json:"policy,omitempty"` // identity of the generation that admitted the call
}

// MarshalJSON encodes the ticket for use by another process that shares the ledger. This process
// must not use the ticket afterward.
func (t *Ticket) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.ticketFacts)
}

// UnmarshalJSON decodes a ticket from another process.
func (t *Ticket) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &t.ticketFacts)
}

// Info describes a call for an [Observer].
type Info struct {
	Key
	Upstream, Tool, Client string

	Method    string // method of the request: tools/call, prompts/get or resources/read
	ID        []byte // request ID as the client wrote it
	Protocol  string // the client's protocol revision
	Transport string // the client's transport: stdio or http

	// The trace context that the client sent. It is set only for [PhaseCall].
	TraceParent, TraceState string
}

// observation describes an admitted call for an [Observer] and holds the call's trace context.
type observation struct {
	ctx  context.Context //nolint:containedctx // carries only the trace; never canceled
	info Info
}

func (c *Call) info() Info {
	return Info{Key: c.Key, Upstream: c.Upstream, Tool: c.Tool, Client: c.Client, Method: c.Method, ID: c.ID}
}
