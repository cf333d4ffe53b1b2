package audit

import "time"

// An Event is a value that is recorded as one JSON object: a [Decision], [Outcome], [Task],
// [Process], [Policy], [Session], [Switch], [Conflict], [Operator], [Answer], [Definition], [Left]
// or [Removed].
type Event interface{ event() }

func (Decision) event()   {}
func (Outcome) event()    {}
func (Task) event()       {}
func (Process) event()    {}
func (Policy) event()     {}
func (Session) event()    {}
func (Switch) event()     {}
func (Conflict) event()   {}
func (Operator) event()   {}
func (Answer) event()     {}
func (Definition) event() {}
func (Left) event()       {}
func (Removed) event()    {}
func (resumed) event()    {}

// A Task records that the upstream continues an admitted call as a task. When the task ends, its
// result is recorded as the call's outcome.
type Task struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // always "task"
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Task    string    `json:"task"` // task ID used by the client
}

// A Switch records that an operator activated or deactivated a net.
type Switch struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // "activate" or "deactivate"
	Net   string    `json:"net"`
	Actor string    `json:"actor"`
}

// A Conflict records that no tool is allowed by all nets of a session.
type Conflict struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // always "conflict"
	Session string    `json:"session"`
	Winner  string    `json:"winner,omitempty"` // most important conflicting net that still blocks calls; empty if Yields is empty or contains all of Nets
	Nets    []NetName `json:"nets"`             // conflicting nets, most important first
	Yields  []NetName `json:"yields"`           // advisory nets in Nets that no longer block calls
}

// A NetName identifies a net.
type NetName struct {
	Net string `json:"net"`
}

// An Operator event records what an operator did to one session, or to all sessions if Session is
// empty.
type Operator struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // "reset", "settle success", "settle failure", "stop", "start", "grant", "revoke", "accept" or "wrong pin"
	Session string    `json:"session"`
	Call    uint64    `json:"call,omitempty"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
}

// An Answer records the rejection of an answer to an approval request. The answer came too late,
// came from the caller itself, or had a wrong PIN. An accepted answer is recorded with the
// resulting decision.
type Answer struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"` // always "answer"
	Session  string    `json:"session"`
	Upstream string    `json:"upstream"`
	Tool     string    `json:"tool"`
	Approval string    `json:"approval"`
	Said     string    `json:"said"` // "approve" or "deny"
	Kind     string    `json:"kind"` // why the answer was rejected: "late", "own" or "pin"
	Channel  string    `json:"channel"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason,omitempty"` // reason given by the person
}

// A Definition records that a server has changed the definition of a tool since the definition was
// accepted.
type Definition struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"` // always "definition"
	Tool   string    `json:"tool"`
	Reason string    `json:"reason"` // why the definition counts as changed, the hashes of the current and the accepted definition, and whether calls to the tool are blocked
}

// A Left event records that an agent's hook reported a call to a tool of the proxy. The proxy
// decides on such a call only when the call itself arrives, not when the hook reports it. If the
// call ends without arriving at the proxy, another Left event ("missing") is recorded.
type Left struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // "left" or "missing"
	Principal string    `json:"principal,omitempty"`
	Upstream  string    `json:"upstream"` // name of the agent
	Tool      string    `json:"tool"`     // the agent's name for the tool
	Reason    string    `json:"reason,omitempty"`
}

// resumed records the end of a gap in the log. No call was admitted during the gap.
type resumed struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // always "resumed"
}
