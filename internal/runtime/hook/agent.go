package hook

import (
	"time"
)

// Agent is a program whose hook events this package can read.
type Agent struct {
	Name string // also the upstream of its tools in rules

	// DenyExit is the exit code of a hook process that refuses a call, in addition to the JSON that
	// it prints. With 2, agents show the model the text on stderr, so the refusal also works if
	// something else writes to stdout, such as a login shell. Cursor takes the reason only from the
	// JSON, and treats invalid JSON as a refusal.
	DenyExit int

	hold   time.Duration // how long a hook can wait for a person, within the timeout of docs/hooks.md
	hasIDs bool          // the agent gives each call an id
	ends   endReport     // how its events report the end of a script
	events map[string]kind
	deny   func(event, reason string) []byte
	change func(e *Event, args []byte) []byte // answer that changes the arguments of a call and leaves it to the agent's own permissions; nil: the agent does not support this. A nil result: not for this call
	read   func(*Event, []byte)               // reads agent-specific fields of an event; may be nil
}

// kind is the kind of an event.
type kind int

const (
	ignored  kind = iota
	before        // before a call, which is decided
	after         // after a call, which was successful unless its result says otherwise
	failed        // after a failed call
	turnEnds      // no call of the session is in flight any more
	ends          // the session ends
)

// Limit is the maximum duration of an answer of the gate, so that the hook ends before the timeout
// of docs/hooks.md.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Pass is the answer that leaves a call to the agent's own permissions. It is also the answer to
// events other than those before a call.
var Pass = []byte("{}")

// Deny returns the answer that refuses a call, with the reason for the model.
func (a *Agent) Deny(event, reason string) []byte { return a.deny(event, reason) }

// endReport is how the hooks of an agent report whether a script of its shell succeeded.
type endReport int

const (
	byEvent     endReport = iota // success and failure are different events
	byCode                       // exit code in the event; without one the outcome is unknown
	byReport                     // text for the model
	notReported                  // not reported: the outcome of each script is unknown, and earns nothing
)
