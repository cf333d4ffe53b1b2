package verify

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

type (
	// Never is the claim that no call to Tool is admitted.
	Never struct{ Tool gate.Tool }

	// NeverBefore claims that each call to Tool is admitted only if a call to First has succeeded
	// since the previous call to Tool. If Once is set, any earlier success of First suffices.
	NeverBefore struct {
		Tool, First gate.Tool
		Once        bool
	}
)

// AtMost claims that at most Count calls to Tools are admitted per period. The calls to all these
// tools are counted together, whatever their outcomes.
type AtMost struct {
	Count int
	Tools []gate.Tool
	Per   Period
}

// A Period specifies when the count of an [AtMost] starts again at zero or, if Window is set, how
// it falls over time. With the zero Period, each session is counted separately and its count never
// restarts.
type Period struct {
	Call       gate.Tool     // tool whose calls restart the count; if its name is empty, no call restarts the count
	Successful bool          // whether only successful calls to Call restart the count
	Window     time.Duration // if positive, the limit is a token bucket: it permits Count calls at once, and then one more every Window/Count
	User       bool          // whether to count the calls in all sessions of a user together
}

type (
	// Reachable claims that some sequence of successful calls ends with a call to Tool.
	Reachable struct{ Tool gate.Tool }

	// AlwaysPossible claims that, from every reachable state of the policy, Tool can be called,
	// possibly after other successful calls. If ButBudget is set, limits that gate only Tool are
	// ignored.
	AlwaysPossible struct {
		Tool      gate.Tool
		ButBudget bool

		each bool // whether the claim is made for each value of the nets' keys separately
	}
)

type (
	// Conserved claims that the total number of tokens in Net never changes.
	Conserved struct{ Net string }

	// Exclusive claims that no two of Places in Net are marked at the same time. While a call in
	// flight holds the token of a place, the place still counts as marked. If the outcome of the
	// call is unknown and the net releases the token, the place counts as marked from then on,
	// because the call might still be running.
	Exclusive struct {
		Net    string
		Places []string
	}

	// DeadlockFree claims that, from every reachable state, successful calls can lead to a call
	// gated by Net. States where a terminal place of Net is marked are exempt.
	DeadlockFree struct{ Net string }

	// NoTerminalStates claims that, from every reachable state, successful calls can lead to a call
	// gated by Net, even if a terminal place is marked.
	NoTerminalStates struct{ Net string }
)

// NoFailureLocks claims that Tool never becomes unreachable because a call fails or ends with an
// unknown outcome. Tool is reachable if successful calls can lead to a call to it. If a net with a
// key gates Tool, the claim is checked separately for each value of the key.
type NoFailureLocks struct{ Tool gate.Tool }

// Each claims that all assertions in Of hold.
type Each struct{ Of []Assertion }

// NeverAfter claims that, once a call to After has been admitted, no call to Tool is admitted until
// a call to any tool in Until has succeeded. The outcome of the call to After does not matter. If
// Unapproved is set, calls to Tool that need the approval in Unapproved are allowed.
type NeverAfter struct {
	Tool, After gate.Tool
	Until       []gate.Tool // the restriction ends when a call to any of these tools succeeds; if empty, the restriction is permanent
	Unapproved  *Approval   // if not nil, calls to Tool that need this approval are allowed
}

// NeverWhile claims that no call to Tool is admitted while a call to Other is in flight or has an
// unknown outcome, and vice versa. If Tool and Other are the same tool, the claim is that no two of
// its calls are ever in flight at the same time.
type NeverWhile struct{ Tool, Other gate.Tool }

// An Approval describes an approval that a call needs. The zero value requires one person, on any
// channel.
type Approval struct {
	Count int    // number of approvers; less than 2 means one
	Via   string // approval channel; empty means any
}

type (
	// NeverWithoutApproval claims that every call to Tool needs an approval.
	NeverWithoutApproval struct {
		Tool gate.Tool
		Approval
	}

	// Only claims that each admitted call is certain to have one of the names in Tools.
	Only struct {
		Tools      []gate.Tool
		Unapproved *Approval // if not nil, calls with other names are allowed if they need this approval
	}
)
