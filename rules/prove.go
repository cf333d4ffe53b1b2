package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Prove is a claim about the whole policy. Compile does not prove it; the caller that loads the
// policy must do so. The field Claim is the kind of claim. It determines which of the other fields
// are set.
//
// A claim about several calls is equivalent to one claim for each of them, except for AtMost and
// Only; see [Prove.Each].
type Prove struct {
	Pos    gate.Position
	Claim  Claim
	Tools  []Name // calls that the claim is about
	Others []Name // for NeverBefore, NeverAfter and NeverWhile, the calls after the keyword "before", "after" or "while"; for AtMost, the calls that restart the count, or nil if the claim has a span
	Until  []Name // for NeverAfter, the calls after the keyword "until"; a success of one of them ends the restriction; may be nil
	Once   bool   // for NeverBefore, whether one successful call to Others is enough for all calls to Tools

	Key []KeyField // for NeverBefore and AtMost, key of the claim; the claim must hold separately for each value of the key

	Approval *Approval // for NeverWithoutApproval, NeverAfter and Only, the approval that the claim mentions, or nil; a call with this approval does not violate the claim

	Count      int  // for AtMost, maximum number of calls
	Over       Span // for AtMost, span over which calls are counted, unless Others restart the count
	User       bool // for AtMost, whether calls are counted per user in each time span, as in "per user per day"; Over is then the time span
	Successful bool // for AtMost, whether only successes of Others restart the count

	OwnBudget bool   // for AlwaysPossible, whether to ignore limits that restrict only the call that the claim is about
	File      Name   // for NarrowerThan, the file of the other policy
	Net       Name   // for Conserved, DeadlockFree and NoTerminalStates, the name of the net
	Places    []Name // for Exclusive, two or more places
}

// An Approval describes the human approval that a claim mentions.
type Approval struct {
	Count int    // number of people; at least 1
	Via   string // channel for asking these people; empty means any
}

// A Claim is the kind of a [Prove].
type Claim uint8

// Kinds of claims, each with an example.
const (
	Never                Claim = iota // prove never A
	NeverBefore                       // prove never A before B
	NeverWithoutApproval              // prove never A without human-approval
	NeverAfter                        // prove never A after B until C
	NeverWhile                        // prove never A while B
	AtMost                            // prove at-most 3 A per session
	Only                              // prove only A, B without human-approval
	NarrowerThan                      // prove narrower-than FILE
	Reachable                         // prove reachable A
	AlwaysPossible                    // prove always-possible A
	NoFailureLocks                    // prove no-failure-locks A
	Conserved                         // prove conserved NET
	Exclusive                         // prove exclusive PLACE, PLACE
	DeadlockFree                      // prove deadlock-free NET
	NoTerminalStates                  // prove no-terminal-states NET
)

// claimWords lists the first words of claims, indexed by kind.
var claimWords = [...]string{
	"never", "never", "never", "never", "never", "at-most", "only", "narrower-than", "reachable", "always-possible", "no-failure-locks",
	"conserved", "exclusive", "deadlock-free", "no-terminal-states",
}

// String returns the claim's first word.
func (c Claim) String() string { return claimWords[c] }

// Position returns the start of the statement.
func (s *Prove) Position() gate.Position { return s.Pos }

func (s *Prove) names() []Name { return slices.Concat(s.Tools, s.Others, s.Until) }

// allNames returns all names in the statement: names of calls, a net, places or a file.
func (s *Prove) allNames() []Name {
	switch s.Claim {
	case Conserved, DeadlockFree, NoTerminalStates:
		return []Name{s.Net}
	case Exclusive:
		return s.Places
	case NarrowerThan:
		return []Name{s.File}
	}
	return s.names()
}

// Each splits s into claims about a single name or a single pair of names. Together, these claims
// are equivalent to s. The calls of AtMost and Only are not split.
func (s *Prove) Each() []*Prove {
	var out []*Prove
	tools := [][]Name{s.Tools}
	if s.Claim != AtMost && s.Claim != Only {
		tools = listOfEach(s.Tools)
	}
	for _, t := range tools {
		for _, o := range listOfEach(s.Others) {
			one := *s
			one.Tools, one.Others = t, o
			out = append(out, &one)
		}
	}
	return out
}

// listOfEach splits the names into lists of one name each. If names is empty, the result is one
// empty list.
func listOfEach(names []Name) [][]Name {
	if len(names) == 0 {
		return [][]Name{nil}
	}
	var out [][]Name
	for i := range names {
		out = append(out, names[i:i+1:i+1])
	}
	return out
}

func (s *Prove) String() string {
	text := fmt.Sprintf("prove %s %s", s.Claim, joinNames(s.allNames()))
	switch s.Claim {
	case Never, NeverBefore, NeverWithoutApproval, NeverAfter, NeverWhile:
		text = "prove never " + s.neverText()
	case AtMost:
		text = fmt.Sprintf("prove at-most %d %s%s per %s", s.Count, joinNames(s.Tools), keyEach(s.Key), s.perText())
	case Only:
		text += s.Approval.withoutClause()
	case AlwaysPossible:
		if s.OwnBudget {
			text += " but for its own budget"
		}
	}
	return text
}

// neverText returns the words after "never".
func (s *Prove) neverText() string {
	var b strings.Builder
	b.WriteString(joinNames(s.Tools))
	switch s.Claim {
	case NeverBefore:
		b.WriteString(" before " + joinNames(s.Others))
	case NeverAfter:
		b.WriteString(" after " + joinNames(s.Others))
	case NeverWhile:
		b.WriteString(" while " + joinNames(s.Others))
	}
	if s.Once {
		b.WriteString(" once")
	}
	b.WriteString(keyOf(s.Key))
	b.WriteString(s.Approval.withoutClause())
	if len(s.Until) > 0 {
		b.WriteString(" until " + joinNames(s.Until))
	}
	return b.String()
}

// withoutClause returns the words that restrict a claim to calls without an approval.
func (a *Approval) withoutClause() string {
	if a == nil {
		return ""
	}
	words := " without human-approval"
	if a.Count > 1 {
		words = fmt.Sprintf(" without %d human-approvals", a.Count)
	}
	if a.Via != "" {
		words += " via " + a.Via
	}
	return words
}

// perText returns the words after "per".
func (s *Prove) perText() string {
	switch {
	case len(s.Others) > 0 && s.Successful:
		return "successful " + joinNames(s.Others)
	case len(s.Others) > 0:
		return joinNames(s.Others)
	case s.User:
		return "user per " + spans[s.Over].word
	default:
		return spans[s.Over].word
	}
}
