package hook

import (
	"time"
)

// Agent describes a program that reports its calls as hook events.
type Agent struct {
	Name string // the agent's name; in rules, also the name of the upstream that has the agent's tools

	// DenyExit is the exit code of a hook process that refuses a call. The process also prints the
	// refusal as JSON. If the exit code is 2, agents show the process's stderr to the model, so the
	// refusal works even if something else, such as a login shell, writes to stdout. Cursor reads
	// the reason only from the JSON, and treats invalid JSON as a refusal.
	DenyExit int

	hold   time.Duration                      // maximum time that a hook waits for a person; shorter than the timeout in docs/hooks.md
	hasIDs bool                               // whether the agent assigns an ID to each call
	ends   endReport                          // how the agent's events report the outcome of a shell script
	Deny   func(event, reason string) []byte  // returns the answer that refuses a call and tells the model why
	change func(e *Event, args []byte) []byte // returns an answer that replaces a call's arguments but does not bypass the agent's own permissions. The answer is nil if the call cannot be changed. The field is nil if the agent does not support such answers.
	read   func(*Event, []byte)               // reads the fields of an event that are specific to the agent; may be nil
}

// Limit returns the maximum time that the gate takes to answer an event. A hook that waits this
// long still ends before the timeout in docs/hooks.md.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Pass is the answer that leaves a call to the agent's own permissions. It is also the answer to
// events that do not precede a call.
var Pass = []byte("{}")

// endReport is the way an agent reports whether a shell script succeeded.
type endReport int

const (
	byEvent     endReport = iota // the agent sends different events for success and failure
	byCode                       // the event contains an exit code; without an exit code, the outcome is unknown
	byReport                     // the outcome is in the text that the model gets as the result
	notReported                  // the agent does not report the outcome
)
