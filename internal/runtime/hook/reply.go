package hook

import "cmp"

// Reply is the answer to an event.
type Reply struct {
	Output []byte // JSON for the agent
	Denied string // reason for the refusal; empty: the call is not refused
}

// refuse returns the answer that refuses the event's call. The reason is never empty, because Codex
// would make a call that is refused without a reason.
func refuse(e *Event, reason string) Reply {
	reason = cmp.Or(reason, "The call was not made.")
	return Reply{Output: e.agent.Deny(e.Name, reason), Denied: reason}
}
