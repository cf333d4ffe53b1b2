package approval

import (
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A Question holds what a person is asked to approve: the call and its steps (see [gate.Step]).
type Question struct {
	Call  Call // the call to approve; its long parts are removed once the request has ended
	Steps []gate.Step
	Since *Comparison `json:",omitempty"` // comparison with the last approved call; nil if no such call is known
}

// Conditions restrict how a request can be answered. They never change.
type Conditions struct {
	Via   string // the only channel for answering the request; empty means any channel
	Needs int    // number of different people who must approve the request; at least 1
	Size  int    // size in bytes of the content that the client supplied
}

// Progress is the part of a request that changes, such as its state and the answers to it.
type Progress struct {
	Answer     Answer
	Approvers  []approver  `json:",omitempty"` // people who have approved so far
	Shared     bool        `json:",omitempty"` // whether calls at several brokers are waiting for the answer
	Unasked    bool        `json:",omitempty"` // whether the client reported that it did not ask anyone
	Stands     time.Time   // time until which a denial stays in force; zero if the request was not denied
	Rejections []Rejection `json:",omitempty"` // rejected answers, oldest first
}

// A Key identifies the call that an approval is for. Only a call with an equal key can use the
// approval.
type Key struct {
	Session, Tool, Definition, Arguments, Beside, Policy, Steps string
}

// Bytes returns an unambiguous encoding of k.
func (k Key) Bytes() []byte {
	return []byte(strings.Join([]string{k.Session, k.Tool, k.Definition, k.Arguments, k.Beside, k.Policy, k.Steps}, "\x00"))
}

// digest returns the hash of k that identifies the request in the store.
func (k Key) digest() string { return audit.HashOf(k.Bytes()) }
