package gate

import (
	"fmt"
	"time"
)

// A Decision is an [*Allow], a [*Refusal] or an [*Ask]. Only an Allow lets a call
// pass: a caller that only checks for a Refusal makes calls without the approval
// that they require.
type Decision interface{ decision() }

// Allow lets a call pass.
type Allow struct {
	Ticket *Ticket // the caller must settle it or close it
	Names  []Name
	Nets   []Verdict // of the nets that do not abstain

	// Would is the answer that the nets in shadow would have given, with a kind of
	// approval if they would have asked; nil if they let the call pass.
	Would *Refusal
}

// Refusal rejects a call. It changes nothing, except that the clock moves.
type Refusal struct {
	Kind   Kind
	Names  []Name
	Blocks []Block // the nets that block or ask, in the order of the policy
	Text   string  // one sentence for the reader of the refusal

	// Retry is the time, from that of the call, after which the clock alone makes the
	// call possible; 0 if it does not, or if that is far away.
	Retry time.Duration
}

// Ask is a question: the call passes if a person approves all its steps, or as many
// different persons as [Ask.Approvals] says.
type Ask struct {
	Number uint64 // of the waiting call
	Call   Call
	Names  []Name
	Steps  []Step
}

// A Step is one manual transition that a person is asked to let fire.
type Step struct {
	Net, Transition string
	Name            string // of the call
	Via             string // the channel by which the person is asked; empty: any
	Approvals       int    // how many different persons must approve; 0: one
	Rule            Position
	Reason          string
	Key             []KeyValue // of a net with a key: the value that it is about
	Doubt           *Doubt     // why it is not known whether the call has the Name; nil: it has it
}

// persons returns how many must approve the step.
func (s *Step) persons() int { return max(s.Approvals, 1) }

// Approvals returns how many different persons must approve the call: as many as the
// step that needs the most.
func (a *Ask) Approvals() int {
	n := 1
	for i := range a.Steps {
		n = max(n, a.Steps[i].persons())
	}
	return n
}

// A Grant is the consent to the steps that were shown, of as many persons as they
// need: it does not say who they are, so whoever makes one must have collected
// [Ask.Approvals].
type Grant struct {
	Number uint64 // of the Ask
	Steps  []Step
}

// Grant returns the consent to everything that a asks for. The caller must have
// collected the approvals of [Ask.Approvals] different persons.
func (a *Ask) Grant() *Grant { return &Grant{Number: a.Number, Steps: a.Steps} }

// Withdraw returns the change that ends the wait of a call that will not be decided
// again.
func (a *Ask) Withdraw() *Delta { return &Delta{Answered: a.Number} }

// Kind says which phase of the decision refused.
type Kind string

const (
	KindBlocked      Kind = "blocked"
	KindApproval     Kind = "approval"
	KindValidation   Kind = "validation"
	KindStateChanged Kind = "state-changed"
	KindDefault      Kind = "default"
	KindDuplicate    Kind = "duplicate"
)

// A Block is the reason of one net to block a call.
type Block struct {
	Net    string
	Cause  Cause
	Rule   Position
	Reason string        // a sentence
	Words  string        // the part of the arguments that the sentence quotes, as it is written there; empty: no part
	Name   string        // of the call
	Holds  []Holder      // calls in flight, the first of them: one that brings what is missing, those that hold it, those that spoil the evidence
	Retry  time.Duration // as of [Refusal], for this net alone
	Key    []KeyValue    // of a net with a key: the value for which it blocks; nil: the call has none
	More   int           // further values for which it blocks
	Doubt  *Doubt        // why it is not known whether the call has the Name; nil: it has it
	Near   []Near        // calls with the name that the net waits for, whose success did not count
}

// A Near is a call that has a name for certain, and whose success was no evidence of it.
type Near struct {
	Name string
	Why  Doubt
}

// Sentence names the call that did not count, with the reason and the script to write instead.
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

// A Holder is a call whose outcome is not known yet and which holds tokens, or makes
// other calls no evidence.
type Holder struct {
	Number  uint64
	ID      string // empty for a call of another session
	Tool    string // of a call of another session, the name that the net knows it by
	Since   time.Time
	Other   bool   // it is a call of another session
	Unknown bool   // its outcome was reported as unknown: an operator may say how it ended
	More    uint64 // further calls of unknown outcome that it stands for, see [OpenCall.More]
	Brings  bool   // it holds nothing: its success brings what is missing

	// Voids names the calls that are no evidence while this one is under way, such as
	// "test or lint"; empty: it does not spoil them.
	Voids string
}

// A Verdict is the answer of one net on a call.
type Verdict struct {
	Net        string
	Kind       VerdictKind
	Transition string // of Gated: the first that was chosen
	Manual     bool
	Rule       Position
	Shadow     bool       // of a net in shadow, which does nothing
	Key        []KeyValue // of a net with a key: the first value that has this verdict
}

// VerdictKind orders the verdicts: the strongest of a call's names is its net's.
type VerdictKind uint8

const (
	Abstain VerdictKind = iota
	Free
	Gated
	Blocked
	Yields // an advisory net would block, but yields now, see [Net.Advisory]
)

func (*Allow) decision()   {}
func (*Refusal) decision() {}
func (*Ask) decision()     {}
