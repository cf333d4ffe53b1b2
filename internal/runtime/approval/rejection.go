package approval

import (
	"time"
)

// Reasons why an answer to a displayed request does not count.
const (
	TooLate = "late" // another answer was first, or the request has ended
	OwnCall = "own"  // the caller approves its own call

	WrongPIN = "pin" // the person did not enter the PIN of the proxy
)

const maxRejections = 20 // maximum number kept per request

// A Rejection is an answer that does not count. It only appears in the history of its request.
type Rejection struct {
	Kind    string
	Approve bool
	Channel string
	Actor   string
	Reason  string `json:",omitempty"`
	At      time.Time
}
