package verify

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

type (
	// Never claims that no call of Tool is admitted.
	Never struct{ Tool gate.Tool }

	// NeverBefore claims that no call of Tool is admitted unless a call of First has succeeded
	// since the previous call of Tool. With Once, it is enough that a call of First has succeeded
	// at any time before.
	NeverBefore struct {
		Tool, First gate.Tool
		Once        bool
	}
)

// AtMost claims that per period, at most Count calls of Tools are admitted. The calls of all these
// tools are counted together, whatever their outcomes are.
type AtMost struct {
	Count int
	Tools []gate.Tool
	Per   Period
}

// A Period determines how long calls are counted together. The zero Period means: per session.
type Period struct {
	Call       gate.Tool     // a call of this tool restarts the count; empty name: no call does
	Successful bool          // only a success of Call restarts the count
	Window     time.Duration // if set, as in a limit's token bucket: Count calls may be made at once, and another call after each Window/Count
	User       bool          // the calls in all sessions of a user are counted together
}

type (
	// Reachable claims that some sequence of successful calls leads to a call of Tool.
	Reachable struct{ Tool gate.Tool }

	// AlwaysPossible claims that successful calls lead to a call of Tool from every reachable state
	// of the policy. With ButBudget, it ignores limits that gate only Tool.
	AlwaysPossible struct {
		Tool      gate.Tool
		ButBudget bool

		each bool // make the claim for each value of the keys separately
	}
)

type (
	// Conserved claims that the total number of tokens in Net never changes.
	Conserved struct{ Net string }

	// Exclusive claims that no two of Places in Net are ever marked at the same time. A token in
	// flight counts for the place that it was taken from, even after an unknown outcome has
	// released it, because the call may still be running.
	Exclusive struct {
		Net    string
		Places []string
	}

	// DeadlockFree claims that successful calls always lead to a call that Net gates, unless a
	// terminal place of Net is marked.
	DeadlockFree struct{ Net string }

	// NoTerminalStates claims that successful calls always lead to a call that Net gates, even if a
	// terminal place is marked.
	NoTerminalStates struct{ Net string }
)

// NoFailureLocks claims that a failure or unknown outcome of a call never makes Tool unreachable if
// the call's success would not: whenever successful calls lead to Tool after the success, they also
// do so after the other outcomes. If keys read the calls of Tool, the claim is made for each value
// of these keys separately, and calls with other values do not count.
type NoFailureLocks struct{ Tool gate.Tool }

// Each claims that all assertions in Of hold.
type Each struct{ Of []Assertion }

// NeverAfter claims that, after a call of After was admitted, whatever its outcome, no call of Tool
// is admitted until a call of one of the tools in Until has succeeded. If Unapproved is set, the
// claim covers only calls that need no approval.
type NeverAfter struct {
	Tool, After gate.Tool
	Until       []gate.Tool // the calls that end the restriction; empty: it is permanent
	Unapproved  *Approval   // nil: the claim covers all calls
}

// NeverWhile claims that no call of Tool is admitted while a call of Other is in flight or has an
// unknown outcome, and vice versa. If Tool and Other are the same, no two calls of this tool are
// ever in flight at the same time.
type NeverWhile struct{ Tool, Other gate.Tool }

// An Approval is an approval that must be requested before a call. The zero value requires one
// person, on any channel.
type Approval struct {
	Count int    // number of approvers; less than 2: one
	Via   string // required approval channel; empty: any
}

type (
	// NeverWithoutApproval claims that every call of Tool needs an approval.
	NeverWithoutApproval struct {
		Tool gate.Tool
		Approval
	}

	// Only claims that every admitted call is certain to have one of the names. If Unapproved is
	// set, the claim covers only calls that need no approval.
	Only struct {
		Tools      []gate.Tool
		Unapproved *Approval // nil: the claim covers all calls
	}
)
