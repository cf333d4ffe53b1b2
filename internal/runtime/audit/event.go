package audit

import (
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// An Event is a type that is recorded as one JSON object: [Decision], [Outcome], [Task], [Process],
// [Policy], [Session], [Switch], [Conflict], [Operator], [Answer], [Definition], [Left] or
// [Removed].
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

// A Task records that the upstream continues an admitted call as a task. The end of the task is
// recorded as the call's outcome.
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

// A Conflict records that the nets of a session do not leave any tool that all of them allow.
type Conflict struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // always "conflict"
	Session string    `json:"session"`
	Winner  string    `json:"winner,omitempty"` // most important net in force; empty if no net has to give way
	Nets    []NetName `json:"nets"`             // nets in conflict, most important first
	Yields  []NetName `json:"yields"`           // those of the nets that are advisory and not in force
}

// A NetName identifies a net.
type NetName struct {
	Net string `json:"net"`
}

// An Operator event records an operator's action on one session, or on all sessions if Session is
// empty.
type Operator struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // "reset", "settle success", "settle failure", "stop", "start", "grant", "revoke", "accept", "wrong pin"
	Session string    `json:"session"`
	Call    uint64    `json:"call,omitempty"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
}

// An Answer records an answer to an approval that does not count: it came too late, came from the
// caller itself, or had a wrong PIN. An answer that counts is recorded with the decision that it
// leads to.
type Answer struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"` // always "answer"
	Session  string    `json:"session"`
	Upstream string    `json:"upstream"`
	Tool     string    `json:"tool"`
	Approval string    `json:"approval"`
	Said     string    `json:"said"` // "approve" or "deny"
	Kind     string    `json:"kind"` // why the answer does not count: "late", "own" or "pin"
	Channel  string    `json:"channel"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason,omitempty"` // reason that the person gave
}

// A Definition records that a server changed a tool's definition after the definition was accepted.
type Definition struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"` // always "definition"
	Tool   string    `json:"tool"`
	Reason string    `json:"reason"` // hashes of the current and the accepted definition, and the effect on calls
}

// A Left event records that an agent reported a call through its hook and that the call was left to
// the proxy, because the proxy offers the tool. It also records that such a call ended without
// reaching the proxy.
type Left struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // "left" or "missing"
	Principal string    `json:"principal,omitempty"`
	Upstream  string    `json:"upstream"` // name of the agent
	Tool      string    `json:"tool"`     // tool name used by the agent
	Reason    string    `json:"reason,omitempty"`
}

// resumed records the end of a gap in the log, during which every call was refused.
type resumed struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // always "resumed"
}

// VerdictName returns the verdict's name in events and displays.
func VerdictName(k gate.VerdictKind) string {
	return [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}[k]
}

// MaxText is the maximum length in bytes of a caller-chosen string in a record. Such a string may
// come from an argument of any length.
const MaxText = 256

// Bounded returns the recorded form of a caller-chosen string.
func Bounded(name string) string { return text.Excerpt(name, MaxText) }
