package operator

import (
	"encoding/json"
	"time"
)

// A SessionInfo describes a session.
type SessionInfo struct {
	ID        string     `json:"id"`
	Principal string     `json:"principal"`
	By        string     `json:"by"`             // how the session was identified: "connection", "principal", "name", "header", "meta" or "agent"
	Name      string     `json:"name,omitempty"` // name of the session, if By is "name", "header", "meta" or "agent"
	Since     time.Time  `json:"since"`
	Clients   []string   `json:"clients"`
	Nets      []NetInfo  `json:"nets"`
	Calls     []CallInfo `json:"calls"`   // calls that are in flight or have an unknown outcome
	Waiting   int        `json:"waiting"` // number of calls waiting for approval

	// The following fields are set for a session of another process. For a session of this process,
	// only Used is set, by [Proxy.ListSessions] and, if session states are in a database, by
	// [Proxy.AllSessions].
	Used    time.Time `json:"used,omitzero"`     // when the session was last changed or used
	Process string    `json:"process,omitempty"` // another process that is using the session; empty if this process is using it
	Gone    bool      `json:"gone,omitempty"`    // whether Process has ended; if so, only an operator can set the outcomes of the session's calls
}

// A NetInfo describes a net in a session.
type NetInfo struct {
	Name     string         `json:"name"`
	Active   bool           `json:"active"`
	Moved    bool           `json:"moved"` // whether the net has left its initial marking or has calls in flight
	Marking  map[string]int `json:"marking"`
	InFlight int            `json:"inFlight"`
	Status   string         `json:"status"`
	Shadow   *NetShadow     `json:"shadow,omitempty"` // comparison with the state that the net would have if it were enforced; nil if the net is not in shadow mode
}

// A CallInfo describes an admitted call without a stored outcome.
type CallInfo struct {
	Number uint64    `json:"number"`
	Tool   string    `json:"tool"`
	Since  time.Time `json:"since"`

	Arguments json.RawMessage `json:"arguments,omitempty"` // arguments as recorded according to audit.arguments; set only if they are short and this process admitted the call

	Unknown bool   `json:"unknown,omitempty"` // whether the outcome is unknown; if so, an operator can set it
	More    uint64 `json:"more,omitempty"`    // number of further calls with unknown outcomes that this entry stands for, to save space; an outcome that an operator sets for this call also applies to them
	Outcome string `json:"outcome,omitempty"` // outcome that is known but has not been stored yet
}

// A PolicyNet describes a net in the current policy.
type PolicyNet struct {
	Name   string `json:"name"`
	Rule   string `json:"rule,omitempty"`
	Active bool   `json:"active"`
	Shadow bool   `json:"shadow"`
	Scope  string `json:"scope"` // scope of the net's marking: "session", "principal" or "global"
}

// A NetFate describes how a reload affects a net and its state.
type NetFate struct {
	Net   string   `json:"net"`
	Fate  string   `json:"fate"`            // "continued": the net is unchanged and keeps its state; "carried": the net's limit has changed, and earlier calls count toward the new limit; "begun": the net is new, changed or reset, and starts in its initial marking; "dropped": the new policy does not contain the net; "held": the net prevents the reload
	From  string   `json:"from,omitempty"`  // previous name of the net, if the net was renamed and keeps its state; otherwise empty
	Lost  int      `json:"lost"`            // number of sessions that lose the state of this net
	Where []string `json:"where,omitempty"` // up to ten descriptions of the sessions where the net prevents the reload, such as "session ci" or "all sessions of ann"
}
