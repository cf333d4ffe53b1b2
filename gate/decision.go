package gate

import (
	"fmt"
	"time"
)

// A Decision is an [*Allow], a [*Refusal] or an [*Ask]. Only an Allow permits the call: a caller
// that merely checks for a Refusal would make calls without their required approval.
type Decision interface{ decision() }

// Refusal rejects a call. It changes nothing except the clocks.
type Refusal struct {
	Kind   Kind
	Names  []Name
	Blocks []Block // the nets that block or ask, in the order of the policy
	Text   string  // one sentence for the reader of the refusal

	// Retry is the time from the call until the clock alone makes the call possible; 0 if the clock
	// does not, or only in the distant future.
	Retry time.Duration
}

// Ask is a question: the call passes if all its steps are approved, by as many different persons as
// [Ask.Approvals] returns.
type Ask struct {
	Number uint64 // number of the waiting call
	Call   Call
	Names  []Name
	Steps  []Step
}

// A Step is one manual transition whose firing a person is asked to approve.
type Step struct {
	Net, Transition string
	Name            string // name of the call
	Via             string // channel for asking the person; empty: any
	Approvals       int    // number of different people who must approve; 0 means one
	Rule            Position
	Reason          string
	Key             []KeyValue // for a net with a key: the value that the step is for
	Doubt           *Doubt     // why it is uncertain whether the call has the Name; nil: it is certain
}

// persons returns the number of persons who must approve the step.
func (s *Step) persons() int { return max(s.Approvals, 1) }

// Approvals returns the number of different persons who must approve the call: the maximum over its
// steps.
func (a *Ask) Approvals() int {
	n := 1
	for i := range a.Steps {
		n = max(n, a.Steps[i].persons())
	}
	return n
}

// A Grant is the approval of the given steps by as many persons as they require. It does not
// identify the persons: its creator must have collected the approvals of [Ask.Approvals] different
// persons.
type Grant struct {
	Number uint64 // number of the Ask
	Steps  []Step
}

// Grant returns the approval of all steps of a. The caller must have collected the approvals of
// [Ask.Approvals] different persons.
func (a *Ask) Grant() *Grant { return &Grant{Number: a.Number, Steps: a.Steps} }

// Kind is the phase of the decision that refused the call.
type Kind string

const (
	KindBlocked      Kind = "blocked"
	KindApproval     Kind = "approval"
	KindValidation   Kind = "validation"
	KindStateChanged Kind = "state-changed"
	KindDefault      Kind = "default"
	KindDuplicate    Kind = "duplicate"
)

// A Block is the reason why one net blocks a call.
type Block struct {
	Net    string
	Cause  Cause
	Rule   Position
	Reason string        // a sentence
	Words  string        // the quoted part of the arguments, as it appears in Reason; may be empty
	Name   string        // name of the call
	Holds  []Holder      // some calls in flight: one that would produce the missing tokens, those that hold them, and those that spoil the evidence
	Retry  time.Duration // see [Refusal]; for this net alone
	Key    []KeyValue    // for a net with a key: the value that is blocked; nil: the call has no value
	More   int           // number of further blocked values
	Doubt  *Doubt        // why it is uncertain whether the call has the Name; nil: it is certain
	Near   []Near        // calls that had an awaited name but whose success was not evidence
}

// A Near is a call that certainly had a name, but whose success did not count as evidence of it.
type Near struct {
	Name string
	Why  Doubt
}

// Sentence names the call that did not count, with the reason and advice what to write instead.
func (n *Near) Sentence() string {
	code := n.Why.Code
	if code == "" {
		code = "A call"
	} else {
		code = "`" + code + "`"
	}
	sentence := fmt.Sprintf("%s did not count as %s: %s.", code, n.Name, n.Why.What)
	if way := n.Why.Way(); way != "" {
		sentence += " " + way
	}
	return sentence
}

// A Holder is a call with an unknown outcome that holds tokens or spoils the evidence of other
// calls.
type Holder struct {
	Number  uint64
	ID      string // empty for a call of another session
	Tool    string // for a call of another session: its name in the net
	Since   time.Time
	Other   bool   // the call belongs to another session
	Unknown bool   // the outcome was reported as unknown; an operator can supply it
	More    uint64 // number of further calls with unknown outcome that this one represents, see [OpenCall.More]
	Brings  bool   // the call holds nothing: its success would produce the missing tokens

	// Voids lists the calls whose evidence this call spoils while it is in flight, such as "test or
	// lint"; empty: it spoils no evidence.
	Voids string
}

// A Verdict is the result of one net for a call.
type Verdict struct {
	Net        string
	Kind       VerdictKind
	Transition string // for Gated: the first chosen transition
	Manual     bool
	Rule       Position
	Shadow     bool       // the net is in shadow mode and has no effect
	Key        []KeyValue // for a net with a key: the first value with this verdict
}

// VerdictKind is ordered by strength: the verdict of a net is the strongest one over the names of
// the call.
type VerdictKind uint8

const (
	Abstain VerdictKind = iota
	Free
	Gated
	Blocked
	Yields // an advisory net would block but currently yields, see [Net.Advisory]
)

func (*Refusal) decision() {}

func (*Ask) decision() {}

// WouldCount counts the calls that passed but would have been refused, or would have required
// approval, if no net were in shadow mode.
type WouldCount struct {
	Refused int
	Asked   int // a person would have been asked
}

// add counts one answer.
func (c *WouldCount) add(k Kind) {
	if k == KindApproval {
		c.Asked++
	} else {
		c.Refused++
	}
}

// Allow permits a call.
type Allow struct {
	Ticket *Ticket // the caller must settle or close it
	Names  []Name
	Nets   []Verdict // without nets that abstain

	// Would is the refusal that the nets in shadow mode would have caused, with kind approval if
	// they would have asked a person; nil if they would have let the call pass.
	Would *Refusal
}

func (*Allow) decision() {}

// A Ticket represents the duty to settle an admitted call.
type Ticket struct {
	Number  uint64
	Awaited bool // some net waits for the outcome
	session *Session
}
