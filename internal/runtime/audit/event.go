package audit

import (
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// An Event is one of the types of this package that go on record, each as one JSON
// object: [Decision], [Outcome], [Task], [Process], [Policy], [Session], [Switch],
// [Conflict], [Operator], [Answer], [Definition], [Left], [Removed].
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

// A Task records that the upstream continues an admitted call as a task. Its end
// is the outcome of the call.
type Task struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // task
	Session string    `json:"session"`
	Call    uint64    `json:"call"`
	Tool    string    `json:"tool"`
	Task    string    `json:"task"` // as its client calls it
}

// A Switch records that an operator switched a net on or off.
type Switch struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // activate, deactivate
	Net   string    `json:"net"`
	Actor string    `json:"actor"`
}

// A Conflict records that the nets of a session left no tool that all of them
// would let pass.
type Conflict struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // conflict
	Session string    `json:"session"`
	Winner  string    `json:"winner,omitempty"` // the most important net that is heeded; empty where none yields
	Nets    []NetName `json:"nets"`             // those in conflict, the most important first
	Yields  []NetName `json:"yields"`           // the advisory ones among them that are not heeded
}

// NetName names a net as the other events do.
type NetName struct {
	Net string `json:"net"`
}

// An Operator event records what an operator did to a session, or, where it names none, to
// all of them.
type Operator struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"` // reset, settle success, settle failure, stop, start, grant, revoke, accept, wrong pin
	Session string    `json:"session"`
	Call    uint64    `json:"call,omitempty"`
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
}

// An Answer records what a person said to an approval where it does not count: they were too
// late, approve their own call, or have typed a wrong PIN. An answer that counts is on record with the decision that
// it leads to.
type Answer struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"` // answer
	Session  string    `json:"session"`
	Upstream string    `json:"upstream"`
	Tool     string    `json:"tool"`
	Approval string    `json:"approval"`
	Said     string    `json:"said"` // approve, deny
	Kind     string    `json:"kind"` // why it does not count: late, own, pin
	Channel  string    `json:"channel"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason,omitempty"` // what the person said to it
}

// A Definition records that a server says something else of a tool than what was accepted.
type Definition struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"` // definition
	Tool   string    `json:"tool"`
	Reason string    `json:"reason"` // what it is now and what is accepted, by their hashes, and what becomes of calls
}

// A Left records a call that an agent reported by its hook, and that is left to the proxy, which
// offers the tool; and one that has ended without coming there.
type Left struct {
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // left, missing
	Principal string    `json:"principal,omitempty"`
	Upstream  string    `json:"upstream"` // the agent
	Tool      string    `json:"tool"`     // as the agent calls it
	Reason    string    `json:"reason,omitempty"`
}

// resumed marks the end of a gap in which every call was refused.
type resumed struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"` // resumed
}

// VerdictName names a verdict in events and for operators.
func VerdictName(k gate.VerdictKind) string {
	return [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}[k]
}

// MaxText bounds a text of a caller's choice in a record: a name may come from an
// argument of any length.
const MaxText = 256

// Bounded is such a text as it stands on record.
func Bounded(name string) string { return text.Excerpt(name, MaxText) }
