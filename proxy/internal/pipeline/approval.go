package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/internal/serve/approval"
)

// Approval says how people are asked. The zero value asks nobody: what needs
// an approval is refused.
type Approval struct {
	Elicit   bool          // ask through the client, where it can
	Operator bool          // hold the call for [Proxy.Resolve]
	Hold     time.Duration // how long a call waits before it is parked; 0: 45 s
	Expire   time.Duration // how long a question and its answer are good; 0: 15 min
	Cooldown time.Duration // how long a denial stands against the same call of the session; 0: 10 min
	Verb     string        // what the log tells operators to run who are to answer; empty: petrigate approvals
}

// Channels are those by which people may answer at all.
func (a Approval) Channels() []string {
	var open []string
	if a.Elicit {
		open = append(open, approval.Elicit)
	}
	if a.Operator {
		open = append(open, approval.CLI)
	}
	return open
}
