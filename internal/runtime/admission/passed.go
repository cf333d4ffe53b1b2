package admission

import (
	"encoding/json"
	"time"
)

// passed is a ticket as it is passed to another process.
type passed struct {
	Session   string    `json:"session"`
	Principal string    `json:"principal,omitempty"`
	Number    uint64    `json:"number"`
	Awaited   bool      `json:"awaited,omitempty"`
	Tool      string    `json:"tool"`
	Upstream  string    `json:"upstream"`
	Since     time.Time `json:"since"`
	Policy    string    `json:"policy,omitempty"`
}

// MarshalJSON writes the ticket for another process that has the same ledger. Whoever
// passes it on does not use it any more.
func (t *Ticket) MarshalJSON() ([]byte, error) {
	return json.Marshal(passed{t.key.Session, t.key.Principal, t.Number, t.Awaited, t.tool, t.upstream, t.since, t.policy})
}

// UnmarshalJSON reads a ticket that another process has passed on.
func (t *Ticket) UnmarshalJSON(data []byte) error {
	var p passed
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
