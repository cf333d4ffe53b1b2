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
	Gate    gate.Call   // input of the nets
	Offered []gate.Call // tools that can be called now, see [gate.Session.Offer]; nil: unknown

	// Invalid is an error of the caller. If it is not nil, the call is refused even if the nets
	// would admit it; it spends nothing, and [Refused].Err is this error.
	Invalid error

	// Facts for records, logs and metrics.
	Client    string // name that the client has given itself
	ID        []byte // JSON-RPC id from the client
	Upstream  string
	Tool      string // name of the tool at the upstream
	Method    string // tools/call, prompts/get or resources/read
	Canonical string // name of the tool with its upstream, unique
	Digest    string // SHA-256 of the arguments; empty: computed when needed
}

// Consent is a person's answer, to be recorded with a decision.
type Consent struct{ ID, Channel, Actor string }

// Decision is an [*Admitted], a [*Refused] or an [*Asked].
type Decision interface{ decision() }

// Admitted is the decision that a call may run. It is on record.
type Admitted struct{ Ticket Ticket }

// Asked is the decision that a call needs approval. The caller asks a person and then calls
// [Admission.Redeem] with the consent. In any case it must call [Admission.Withdraw] at the end.
type Asked struct {
	*gate.Ask
	Generation *Generation // generation of the decision
}

func (*Admitted) decision() {}

func (*Asked) decision() {}

// Ticket is an admitted call. The caller must report its outcome with [Admission.Settle].
type Ticket struct {
	Number  uint64 // number of the call in its session
	Awaited bool   // the outcome moves some net

	key      Key
	tool     string
	names    gate.Call // the call without arguments, for conditions on its result
	upstream string
	since    time.Time
	policy   string    // generation that admitted the call, see [Generation.identity]
	observed *observed // nil: no observer

	settled atomic.Bool // set by a successful [Admission.Settle]
}

// ticketJSON is the JSON form of a ticket.
type ticketJSON struct {
	Session   string    `json:"session"`
	Principal string    `json:"principal,omitempty"`
	Number    uint64    `json:"number"`
	Awaited   bool      `json:"awaited,omitempty"`
	Tool      string    `json:"tool"`
	Upstream  string    `json:"upstream"`
	Since     time.Time `json:"since"`
	Policy    string    `json:"policy,omitempty"`
}

// MarshalJSON encodes the ticket for another process with the same ledger. This process must not
// use the ticket afterwards.
func (t *Ticket) MarshalJSON() ([]byte, error) {
	return json.Marshal(ticketJSON{t.key.Session, t.key.Principal, t.Number, t.Awaited, t.tool, t.upstream, t.since, t.policy})
}

// UnmarshalJSON decodes a ticket of another process.
func (t *Ticket) UnmarshalJSON(data []byte) error {
	var p ticketJSON
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	t.Number, t.Awaited = p.Number, p.Awaited
	t.key, t.tool, t.upstream = Key{p.Session, p.Principal}, p.Tool, p.Upstream
	t.since, t.policy = p.Since, p.Policy
	return nil
}

// Key returns the session of the call.
func (t *Ticket) Key() Key { return t.key }

// Info describes the call of a phase.
type Info struct {
	Key
	Upstream, Tool, Client string

	Method    string // tools/call, prompts/get or resources/read
	ID        []byte // id of the request, as the client wrote it
	Protocol  string // protocol revision of the client
	Transport string // transport of the client: stdio or http

	// Trace of the client that the call belongs to; only for PhaseCall.
	TraceParent, TraceState string
}

// observed is the trace of a ticket.
type observed struct {
	ctx  context.Context //nolint:containedctx // it carries the trace, and nothing that ends
	info Info
}

func (c *Call) info() Info {
	return Info{Key: c.Key, Upstream: c.Upstream, Tool: c.Tool, Client: c.Client, Method: c.Method, ID: c.ID}
}
