package verify

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

type (
	// Never claims that no call of Tool is admitted.
	Never struct{ Tool gate.Tool }

	// NeverBefore claims that no call of Tool is admitted without a success of First since the
	// previous call of Tool; with Once, without any earlier success of First.
	NeverBefore struct {
		Tool, First gate.Tool
		Once        bool
	}
)

// AtMost claims that at most Count calls of Tools together are admitted over the period, regardless
// of their outcomes.
type AtMost struct {
	Count int
	Tools []gate.Tool
	Per   Period
}

// A Period delimits the calls that are counted together. The zero value is a session.
type Period struct {
	Call       gate.Tool     // restarts the count; no name: no call does
	Successful bool          // only the success of Call restarts it
	Window     time.Duration // token bucket as in a limit: Count calls at once, and one more after each Window/Count; 0: no window
	User       bool          // over all sessions of a user
}

type (
	// Reachable claims that successful calls lead to a call of Tool.
	Reachable struct{ Tool gate.Tool }

	// AlwaysPossible claims that successful calls lead to a call of Tool from every reachable state
	// of the policy. With ButBudget, limits that gate only Tool are ignored.
	AlwaysPossible struct {
		Tool      gate.Tool
		ButBudget bool

		each bool // for each value of keys separately
	}
)

type (
	// Conserved claims that the number of tokens in Net never changes.
	Conserved struct{ Net string }

	// Exclusive claims that no two of Places in Net are ever marked at the same time. Tokens in
	// flight count for the place that they were taken from, even after an unknown outcome has
	// released them, since the call may still be running.
	Exclusive struct {
		Net    string
		Places []string
	}

	// DeadlockFree claims that successful calls always lead to a call that Net gates, except where
	// a terminal place of Net is marked.
	DeadlockFree struct{ Net string }

	// NoTerminalStates claims the same without exception.
	NoTerminalStates struct{ Net string }
)

// NoFailureLocks claims that no failure or unknown outcome of a call makes Tool unreachable if the
// success of the same call would not: if successful calls lead to Tool after the success, they do
// so after the other outcomes too. If keys read the calls of Tool, the claim is about each value
// separately: a call with another value does not count.
type NoFailureLocks struct{ Tool gate.Tool }

// Each claims that all of the assertions hold.
type Each struct{ Of []Assertion }

// NeverAfter claims that no call of Tool is admitted after a call of After was admitted, regardless
// of its outcome, until a call of one of Until has succeeded. With Unapproved the claim covers only
// calls that need no approval.
type NeverAfter struct {
	Tool, After gate.Tool
	Until       []gate.Tool // empty: nothing ends the restriction
	Unapproved  *Approval   // nil: no call may be admitted
}

// NeverWhile claims that no call of Tool is admitted while a call of Other is in flight or its
// outcome is unknown, and vice versa. If both are the same tool, no two of its calls are ever in
// flight together.
type NeverWhile struct{ Tool, Other gate.Tool }

// An Approval is the approval that must be requested before a call. The zero value is one person,
// by any channel.
type Approval struct {
	Count int    // number of people; less than 2: one
	Via   string // approval channel; empty: any
}

type (
	// NeverWithoutApproval claims that every call of Tool needs an approval.
	NeverWithoutApproval struct {
		Tool gate.Tool
		Approval
	}

	// Only claims that every admitted call certainly has one of the names. With Unapproved the
	// claim covers only calls that need no approval.
	Only struct {
		Tools      []gate.Tool
		Unapproved *Approval // nil: the claim covers all calls
	}
)
