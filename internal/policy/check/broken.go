package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// part returns the part of the claim that was not proved, without the leading word "prove".
func (p claimProof) part() string { return strings.TrimPrefix(p.Parts[p.Part].Text, "prove ") }

// brokenBy returns a phrase that describes how the end of the counterexample violates the claim.
func brokenBy(p claimProof) string {
	if p.Kind == rules.NarrowerThan {
		return ", but the last is refused, or requires approval, by " + text.Escape(p.File)
	}
	switch a := p.Assertion.(type) {
	case verify.AtMost:
		if _, window, _ := strings.Cut(p.Text, " per "); a.Per.Window > 0 {
			return fmt.Sprintf(", and a limit of %d per %s would refuse the last %s", a.Count, window, alternatives(a.Tools))
		}
		return fmt.Sprintf(", and more than %d of them are %s", a.Count, alternatives(a.Tools)) + restartPhrase(a.Per)
	case verify.NeverBefore:
		if a.Once {
			return fmt.Sprintf(", and no %s has succeeded before the last %s", called(a.First), called(a.Tool))
		}
		return fmt.Sprintf(", and the last %s has no successful %s of its own before it", called(a.Tool), called(a.First))
	case verify.NeverAfter:
		if len(a.Until) > 0 {
			return fmt.Sprintf(", and no %s has succeeded between the %s and the last %s", alternatives(a.Until), called(a.After), called(a.Tool)) + unapprovedText(a.Unapproved)
		}
		return fmt.Sprintf(", the last %s after %s", called(a.Tool), called(a.After)) + unapprovedText(a.Unapproved)
	case verify.NeverWhile:
		return ", the last of them while another is in progress or has an unknown outcome"
	case verify.NeverWithoutApproval:
		return unapprovedText(&a.Approval)
	case verify.Only:
		return fmt.Sprintf(", and the last is not certainly %s", alternatives(a.Tools)) + unapprovedText(a.Unapproved)
	case verify.NoFailureLocks:
		return ", and no successful calls lead to " + called(a.Tool) + " from there, as they would had the last call succeeded"
	case verify.AlwaysPossible:
		return ", and no successful calls lead to " + called(a.Tool) + " from there"
	case verify.DeadlockFree, verify.NoTerminalStates:
		return ", and no call that " + p.Net + " gates can be made after them"
	case verify.Conserved:
		return ", and " + p.Net + " does not keep its tokens"
	case verify.Exclusive:
		if slices.ContainsFunc(p.Counterexample, func(s verify.Step) bool { return s.Ends && s.Outcome == gate.Unknown }) {
			return ", and two of the places are then occupied, one by a call that may still be running"
		}
		return ", and two of the places are then marked"
	}
	return ""
}

func called(t gate.Tool) string { return text.Escape(t.Name) }

// alternatives joins the names of the tools with the word "or".
func alternatives(tools []gate.Tool) string { return strings.Join(list.Map(tools, called), " or ") }

// unapprovedText returns a phrase that names the approval that the last call lacks, or "" if the
// claim does not require approval.
func unapprovedText(a *verify.Approval) string {
	switch {
	case a == nil:
		return ""
	case a.Via != "":
		return fmt.Sprintf(", and %s asked via %s to approve the last", persons(a.Count), a.Via)
	default:
		return fmt.Sprintf(", and %s asked to approve the last", persons(a.Count))
	}
}

func persons(count int) string {
	if count < 2 {
		return "no person is"
	}
	return fmt.Sprintf("no %d people are", count)
}

// restartPhrase returns a phrase that names the call that restarts the count of calls, or "" if no
// call restarts it.
func restartPhrase(p verify.Period) string {
	switch {
	case p.Call.Name == "":
		return ""
	case p.Successful:
		return fmt.Sprintf(" without a success of %s between them", called(p.Call))
	}
	return fmt.Sprintf(" without %s between them", called(p.Call))
}
