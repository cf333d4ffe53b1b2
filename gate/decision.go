package gate

import (
	"fmt"
	"time"
)

// A Decision is an [*Allow], a [*Refusal] or an [*Ask]. Only an Allow permits the call. A caller
// that only checks for a Refusal would make calls without their required approval.
type Decision interface{ decision() }

// Refusal rejects a call. It changes nothing but the clocks.
type Refusal struct {
	Kind   Kind
	Names  []Name
	Blocks []Block // the nets that block or ask, in policy order
	Text   string  // the reason in one sentence

	// Retry is the time from the call until the call becomes possible merely because of the clock.
	// It is 0 if the clock never makes the call possible, or does so only in the distant future.
	Retry time.Duration
}

// Ask is a question. The call passes if at least [Ask.Approvals] different people approve all its
// steps.
type Ask struct {
	Number uint64 // number that was assigned to the waiting call
	Call   Call
	Names  []Name
	Steps  []Step
}

// A Step is a manual transition that a person is asked to approve.
type Step struct {
	Net, Transition string
	Name            string // the call's name
	Via             string // channel through which the question must be asked; empty: any
	Approvals       int    // number of different people who must approve; 0 means one
	Rule            Position
	Reason          string
	Key             []KeyValue // for a net with a key: the value that the step is for
	Doubt           *Doubt     // why it is uncertain whether the call has the name in Name; nil: the name is certain
}

// persons returns how many different people must approve the step.
func (s *Step) persons() int { return max(s.Approvals, 1) }

// Approvals returns how many different people must approve the call: the maximum over its steps.
func (a *Ask) Approvals() int {
	n := 1
	for i := range a.Steps {
		n = max(n, a.Steps[i].persons())
	}
	return n
}

// A Grant states that as many people as required have approved the given steps. It does not
// identify them. Its creator must have collected approvals from [Ask.Approvals] different people.
type Grant struct {
	Number uint64 // number of the [Ask] that the grant answers
	Steps  []Step
}

// Grant returns the approval of all steps of the question. The caller must have collected approvals
// from [Ask.Approvals] different people.
func (a *Ask) Grant() *Grant { return &Grant{Number: a.Number, Steps: a.Steps} }

// Kind tells which phase of the decision refused the call.
type Kind string

const (
	KindBlocked      Kind = "blocked"
	KindApproval     Kind = "approval"
	KindValidation   Kind = "validation"
	KindStateChanged Kind = "state-changed"
	KindDefault      Kind = "default"
	KindDuplicate    Kind = "duplicate"
)

// A Block explains why a net blocks a call.
type Block struct {
	Net    string
	Cause  Cause
	Rule   Position
	Reason string        // the reason why the net blocks the call, as a sentence
	Words  string        // the quoted part of the arguments, as it appears in Reason; may be empty
	Name   string        // the call's name
	Holds  []Holder      // some of the calls in flight: those that hold the missing tokens or spoil the evidence, and one that would produce the tokens
	Retry  time.Duration // like [Refusal].Retry, but for this net alone
	Key    []KeyValue    // for a net with a key: the value that is blocked; nil: the call has no value
	More   int           // number of further blocked values
	Doubt  *Doubt        // why it is uncertain whether the call has the name in Name; nil: the name is certain
	Near   []Near        // calls that had a name awaited by the net, but did not count as evidence when they succeeded
}

// A Near is a call that certainly had a name, but whose success did not count as evidence for it.
type Near struct {
	Name string
	Why  Doubt
}

// Sentence names the call that did not count, explains why, and advises what to write instead.
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

// A Holder is a call in flight, or a call with an unknown outcome, that holds tokens or spoils
// other calls' evidence.
type Holder struct {
	Number  uint64
	ID      string // ID of the call; empty for another session's call
	Tool    string // for a call in another session: its name in the net
	Since   time.Time
	Other   bool   // the call belongs to another session
	Unknown bool   // the outcome was reported as unknown; an operator can supply it
	More    uint64 // number of further calls with an unknown outcome that this call represents; see [OpenCall.More]
	Brings  bool   // the call holds no tokens; its success would produce the missing tokens

	// Voids lists the calls whose evidence this call spoils while it is in flight, such as "test or
	// lint". It is empty if the call spoils no evidence.
	Voids string
}

// A Verdict is one net's judgement of a call.
type Verdict struct {
	Net        string
	Kind       VerdictKind
	Transition string // for the verdict Gated: the first chosen transition
	Manual     bool
	Rule       Position
	Shadow     bool       // the net is in shadow mode and has no effect
	Key        []KeyValue // for a net with a key: the first value with this verdict
}

// VerdictKind is ordered by strength. A net's verdict is the strongest verdict over all names of
// the call.
type VerdictKind uint8

const (
	Abstain VerdictKind = iota
	Free
	Gated
	Blocked
	Yields // an advisory net would block but currently yields; see [Net.Advisory]
)

func (*Refusal) decision() {}

func (*Ask) decision() {}

// WouldCount counts the calls that passed, but that would have been refused or would have required
// approval if no net were in shadow mode.
type WouldCount struct {
	Refused int
	Asked   int // a person would have been asked
}

// add counts an answer.
func (c *WouldCount) add(k Kind) {
	if k == KindApproval {
		c.Asked++
	} else {
		c.Refused++
	}
}

// Allow permits a call.
type Allow struct {
	Ticket *Ticket // ticket of the admitted call; the caller must settle or close it
	Names  []Name
	Nets   []Verdict // verdicts of the nets that do not abstain

	// Would is the refusal that the nets in shadow mode would have caused. Its kind is KindApproval
	// if they would have asked a person. It is nil if they would have let the call pass.
	Would *Refusal
}

func (*Allow) decision() {}

// A Ticket represents the duty to settle an admitted call.
type Ticket struct {
	Number  uint64
	Awaited bool // some net waits for the outcome
	session *Session
}
