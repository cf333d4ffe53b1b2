package admission

import (
	"encoding/json"
	"time"
)

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
