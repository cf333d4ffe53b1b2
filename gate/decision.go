package gate

import (
	"fmt"
	"time"
)

// A Decision is an [*Allow], a [*Refusal] or an [*Ask]. Only an Allow permits the call. A caller
// that treats everything except a Refusal as permission skips the required approvals.
type Decision interface{ decision() }

// Refusal rejects a call. A refused call fires no transition.
type Refusal struct {
	Kind   Kind
	Names  []Name
	Blocks []Block // the nets that refuse the call or require approval, in policy order
	Text   string  // the reason in one sentence

	// Retry is the time from the call until the call becomes possible merely because time passes.
	// It is 0 if this never happens, or only in the distant future.
	Retry time.Duration
}

// An Ask requests approval of a call. The call passes if at least [Ask.Approvals] different people
// approve all its steps.
type Ask struct {
	Number uint64 // number of this request; a [Grant] refers to it
	Call   Call
	Names  []Name
	Steps  []Step
}

// A Step is a manual transition that a person is asked to approve.
type Step struct {
	Net, Transition string
	Name            string // the name or pattern that makes the transition apply to the call
	Via             string // channel for asking the question; empty means any
	Approvals       int    // number of different people who must approve; 0 means one
	Rule            Position
	Reason          string
	Key             []KeyValue // the step's key value, if the net has a key
	Doubt           *Doubt     // why the call might not have this name; nil if the name is certain
}

// persons returns the number of different people who must approve the step.
func (s *Step) persons() int { return max(s.Approvals, 1) }

// Approvals returns the number of different people who must approve the call: the maximum over its
// steps.
func (a *Ask) Approvals() int {
	n := 1
	for i := range a.Steps {
		n = max(n, a.Steps[i].persons())
	}
	return n
}

// A Grant certifies that the required number of people have approved the steps. It does not
// identify these people. Its creator must have collected approvals from [Ask.Approvals] different
// people.
type Grant struct {
	Number uint64 // number of the [Ask] that was approved
	Steps  []Step

	call *Call // the call that was approved; nil in a grant that was not made by [Ask.Grant]
}

// Grant returns a grant for all steps of a. The caller must have collected approvals from
// [Ask.Approvals] different people.
func (a *Ask) Grant() *Grant { return &Grant{Number: a.Number, Steps: a.Steps, call: &a.Call} }

// A Kind identifies the check that a refused call did not pass.
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
	Reason string        // why the net blocks the call, as a sentence
	Words  string        // the part of the arguments that Reason quotes; may be empty
	Name   string        // blocked name of the call; the name of the tool if a pattern or no particular name is blocked
	Holds  []Holder      // some of the open calls that cause the block
	Retry  time.Duration // like [Refusal].Retry, but for this net alone
	Key    []KeyValue    // key value that is blocked, if the net has a key; nil if the call has no value for the key
	More   int           // number of further key values that the net blocks
	Doubt  *Doubt        // why the call might not have this name; nil if the name is certain
	Near   []Near        // calls that seem to meet the net's requirements, but do not count
}

// A Near is a near miss: a call that seems to meet a requirement for calls with a certain name, but
// does not count.
type Near struct {
	Name string
	Why  Doubt
}

// Sentence returns text that identifies the call that did not count, explains the reason, and
// advises what to write instead.
func (n *Near) Sentence() string {
	call := "A call"
	if n.Why.Code != "" {
		call = "`" + n.Why.Code + "`"
	}
	sentence := fmt.Sprintf("%s did not count as %s: %s.", call, n.Name, n.Why.What)
	if way := n.Why.Way(); way != "" {
		sentence += " " + way
	}
	return sentence
}

// A Holder describes an open call: a call in flight, or a call with an unknown outcome. In
// [Block].Holds, the call has taken the missing tokens, would produce them, or keeps other calls
// from counting; see [Transition.Spoils]. [Session.Open] leaves Brings and Voids unset.
type Holder struct {
	Number  uint64
	ID      string // ID of the call; empty for another session's call
	Tool    string // name of the tool; for another session's call, a name listed by the net
	Since   time.Time
	Other   bool   // whether the call belongs to another session
	Unknown bool   // whether the outcome was reported as unknown; an operator can supply the outcome later
	More    uint64 // number of further calls with an unknown outcome that this call represents; see [OpenCall.More]
	Brings  bool   // whether the call does not hold the missing tokens but would produce them if it succeeded

	// Voids names the calls whose success does not count while this call is in flight, as in "test
	// or lint". It is empty if this call does not affect the success of others.
	Voids string
}

// A Verdict is one net's judgement of a call.
type Verdict struct {
	Net        string
	Kind       VerdictKind
	Transition string // name of the first transition chosen for the call, if Kind is Gated
	Manual     bool
	Rule       Position
	Shadow     bool       // whether the net is in shadow mode, so that the verdict has no effect
	Key        []KeyValue // first key value with this verdict, if the net has a key
}

// A VerdictKind is a kind of verdict. The kinds are ordered by strength: a net's verdict is the
// strongest over all names of the call.
type VerdictKind uint8

const (
	Abstain VerdictKind = iota
	Free
	Gated
	Blocked
	Yields // the net is advisory and would block, but currently has no effect; see [Net.Advisory]
)

func (*Refusal) decision() {}

func (*Ask) decision() {}

// WouldCount counts the calls that passed but would have been refused, or would have required
// approval, if no net had been in shadow mode.
type WouldCount struct {
	Refused int
	Asked   int // calls that a person would have been asked about
}

// add counts a call that would have received a refusal of kind k.
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

	// Would is the refusal that the nets in shadow mode would have caused, or nil if they would
	// have let the call pass. Its kind is KindApproval if they would have asked a person.
	Would *Refusal
}

func (*Allow) decision() {}

// A Ticket represents an admitted call, which the caller must settle.
type Ticket struct {
	Number  uint64
	Awaited bool // whether any net waits for the outcome
	session *Session
}
