package operator

import (
	"encoding/json"
	"time"
)

// A SessionInfo describes a session.
type SessionInfo struct {
	ID        string     `json:"id"`
	Principal string     `json:"principal"`
	By        string     `json:"by"`             // origin of the session: connection, principal, name, header, meta or agent
	Name      string     `json:"name,omitempty"` // name of a session by name, header, meta or agent
	Since     time.Time  `json:"since"`
	Clients   []string   `json:"clients"`
	Nets      []NetInfo  `json:"nets"`
	Calls     []CallInfo `json:"calls"`   // calls in flight or of unknown outcome
	Waiting   int        `json:"waiting"` // number of calls that wait for an approval

	// Set only for sessions in a database.
	Used    time.Time `json:"used,omitzero"`     // time of the last change or use
	Process string    `json:"process,omitempty"` // another process that owns the session
	Gone    bool      `json:"gone,omitempty"`    // that process has ended: only an operator can settle its calls
}

// A NetInfo describes a net in a session.
type NetInfo struct {
	Name     string         `json:"name"`
	Active   bool           `json:"active"`
	Moved    bool           `json:"moved"` // the net has left its initial marking or waits for a call
	Marking  map[string]int `json:"marking"`
	InFlight int            `json:"inFlight"`
	Status   string         `json:"status"`
	Shadow   *NetShadow     `json:"shadow,omitempty"` // set for a net in shadow; Marking then follows the calls that passed
}

// A CallInfo describes an admitted call that has not been settled.
type CallInfo struct {
	Number uint64    `json:"number"`
	Tool   string    `json:"tool"`
	Since  time.Time `json:"since"`

	Arguments json.RawMessage `json:"arguments,omitempty"` // short arguments of a call of this process, in the form of audit.arguments

	Unknown bool   `json:"unknown,omitempty"` // the outcome is not on record; an operator can settle the call
	More    uint64 `json:"more,omitempty"`    // number of further calls of the tool with unknown outcome, listed and settled with this one
	Outcome string `json:"outcome,omitempty"` // outcome that this process knows and will put on record as soon as the store takes it
}

// A PolicyNet describes a net in the policy in force.
type PolicyNet struct {
	Name   string `json:"name"`
	Rule   string `json:"rule,omitempty"`
	Active bool   `json:"active"`
	Shadow bool   `json:"shadow"`
	Scope  string `json:"scope"` // session, principal or global
}

// A NetFate describes what a reload does to a net's state.
type NetFate struct {
	Net   string   `json:"net"`
	Fate  string   `json:"fate"`            // continued, carried, begun, dropped or held
	From  string   `json:"from,omitempty"`  // former name of the net whose state it takes over, if that name was different
	Lost  int      `json:"lost"`            // number of sessions where the net loses its state
	Where []string `json:"where,omitempty"` // at most ten sessions that hold the net
}
