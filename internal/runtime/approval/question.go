package approval

import (
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A Question is what a person is asked.
type Question struct {
	Call  Call // the call; its long parts are removed once the request has ended
	Steps []gate.Step
	Since *Comparison `json:",omitempty"` // comparison with the last approved call; nil: none
}

// Conditions restrict how a request may be answered. They never change.
type Conditions struct {
	Via   string // the only channel through which the request may be answered; empty: any
	Needs int    // number of different people who must approve, at least 1
	Size  int    // size in bytes of the contents that the client supplied
}

// Progress is the part of a request that changes: its answers and its end.
type Progress struct {
	Answer     Answer
	Approvers  []approver  `json:",omitempty"` // people who have approved so far
	Shared     bool        `json:",omitempty"` // calls at several brokers are waiting for this request
	Unasked    bool        `json:",omitempty"` // the client reported that it asked no person
	Stands     time.Time   // time until which a denial remains in force; zero: not denied
	Rejections []Rejection `json:",omitempty"` // answers that do not count, oldest first
}

// A Key identifies the one call that an approval is valid for.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes returns an unambiguous encoding of k.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// digest returns the key's stored form, which has a fixed length.
func (k Key) digest() string { return audit.HashOf(k.Bytes()) }
