package admission

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Call is a call to be decided.
type Call struct {
	Key
	Gate    gate.Call   // the nets' input
	Offered []gate.Call // tools that can be called now; see [gate.Session.Offer]; nil: unknown

	// Invalid is an error on the caller's side. If it is not nil, the call is refused even if the
	// nets would admit it. The call then takes no tokens, and [Refused].Err is this error.
	Invalid error

	// The following fields are used in records, logs and metrics.
	Client    string // name that the client gave itself
	ID        []byte // JSON-RPC ID from the client
	Upstream  string
	Tool      string // tool name at the upstream
	Method    string // tools/call, prompts/get or resources/read
	Canonical string // the tool's unique name, which includes the upstream's name
	Digest    string // SHA-256 of the arguments; empty: computed when needed
}

// Consent is a person's answer that is recorded with a decision.
type Consent struct{ ID, Channel, Actor string }

// Decision is an [*Admitted], a [*Refused] or an [*Asked].
type Decision interface{ decision() }

// Admitted is the decision that a call may run. The decision is on record.
type Admitted struct{ Ticket Ticket }

// Asked is the decision that a call needs approval. The caller asks a person and then calls
// [Admission.Redeem] with the consent. Whatever the answer is, the caller must finally call
// [Admission.Withdraw].
type Asked struct {
	*gate.Ask
	Generation *Generation // generation that the decision is based on
}

func (*Admitted) decision() {}

func (*Asked) decision() {}

// Ticket is an admitted call. The caller must report its outcome with [Admission.Settle].
type Ticket struct {
	ticketFacts

	judge    *gate.Policy // the policy that admitted the call and whose conditions judge its result; nil: the one in force
	observed *observed    // nil: no observer
	settled  atomic.Bool  // set once [Admission.Settle] has succeeded
}

// ticketFacts is the part of a ticket that its JSON form has.
type ticketFacts struct {
	Session   string      `json:"session"`
	Principal string      `json:"principal,omitempty"`
	Number    uint64      `json:"number"`            // call number in the session
	Awaited   bool        `json:"awaited,omitempty"` // the outcome changes some net's marking
	Tool      string      `json:"tool"`
	Called    string      `json:"called,omitempty"` // what the policy calls the tool; empty: Tool
	Also      []gate.Name `json:"also,omitempty"`   // the call's other names
	Upstream  string      `json:"upstream"`
	Since     time.Time   `json:"since"`
	Policy    string      `json:"policy,omitempty"` // identity of the generation that admitted the call; see [Generation.identity]
}

// MarshalJSON encodes the ticket for another process that uses the same ledger. Afterwards this
// process must not use the ticket.
func (t *Ticket) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.ticketFacts)
}

// UnmarshalJSON decodes a ticket from another process.
func (t *Ticket) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &t.ticketFacts)
}

// Key returns the key of the call's session.
func (t *Ticket) Key() Key { return Key{t.Session, t.Principal} }

// Info describes a call to an [Observer].
type Info struct {
	Key
	Upstream, Tool, Client string

	Method    string // tools/call, prompts/get or resources/read
	ID        []byte // request ID as the client wrote it
	Protocol  string // the client's protocol revision
	Transport string // the client's transport: stdio or http

	// Trace context from the client; set only for [PhaseCall].
	TraceParent, TraceState string
}

// observed holds a ticket's trace.
type observed struct {
	ctx  context.Context //nolint:containedctx // it carries the trace, and nothing that ends
	info Info
}

func (c *Call) info() Info {
	return Info{Key: c.Key, Upstream: c.Upstream, Tool: c.Tool, Client: c.Client, Method: c.Method, ID: c.ID}
}
