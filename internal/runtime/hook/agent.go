package hook

import (
	"time"
)

// Agent is a program whose hook events this package can read.
type Agent struct {
	Name string // also the upstream name of the agent's tools in rules

	// DenyExit is the exit code of a hook process that refuses a call, in addition to the JSON that
	// it prints. With exit code 2, agents show the model the text on stderr, so the refusal works
	// even if something else writes to stdout, such as a login shell. Cursor takes the reason only
	// from the JSON, and treats invalid JSON as a refusal.
	DenyExit int

	hold   time.Duration // how long a hook can wait for a person within the timeout in docs/hooks.md
	hasIDs bool          // the agent gives each call an ID
	ends   endReport     // how the agent's events report the end of a script
	events map[string]kind
	deny   func(event, reason string) []byte
	change func(e *Event, args []byte) []byte // answer that changes a call's arguments and leaves the call to the agent's own permissions; nil if the agent does not support this. A nil result means that this call cannot be changed
	read   func(*Event, []byte)               // reads agent-specific fields of an event; may be nil
}

// kind is an event's kind.
type kind int

const (
	ignored  kind = iota
	before        // the event comes before a call, which needs a decision
	after         // the event comes after a call, which was successful unless its result says otherwise
	failed        // the event comes after a failed call
	turnEnds      // none of the session's calls is in flight any more
	ends          // the session ends
)

// Limit is the maximum time that the gate takes to answer. It lets the hook end before the timeout
// in docs/hooks.md.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Pass is the answer that leaves a call to the agent's own permissions. It also answers all events
// other than those before a call.
var Pass = []byte("{}")

// Deny returns the answer that refuses a call and gives the model the reason.
func (a *Agent) Deny(event, reason string) []byte { return a.deny(event, reason) }

// endReport is how an agent's hooks report whether a shell script succeeded.
type endReport int

const (
	byEvent     endReport = iota // success and failure are different events
	byCode                       // the event has the exit code; without it the outcome is unknown
	byReport                     // the outcome is read from the text written for the model
	notReported                  // each script's outcome is unknown, so the call earns no tokens
)
