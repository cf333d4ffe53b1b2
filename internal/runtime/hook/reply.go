package hook

import "cmp"

// Reply is the answer to an event.
type Reply struct {
	Output []byte // the answer as JSON, to be sent to the agent
	Denied string // the reason the call is refused; empty if the call is not refused
}

// refuse returns the answer for a refused call. It replaces an empty reason, because Codex ignores
// a refusal without a reason and makes the call.
func refuse(e *Event, reason string) Reply {
	reason = cmp.Or(reason, "The call was not made.")
	return Reply{Output: e.agent.Deny(e.Name, reason), Denied: reason}
}
