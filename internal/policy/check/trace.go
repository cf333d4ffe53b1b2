package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// Events converts a trace to events. It grants every approval and gives each call all names of its
// tool.
func (s ToolSet) Events(t verify.Trace) []sandbox.Event {
	events := []sandbox.Event{}
	returns := make(map[int]json.RawMessage) // results that successful calls return, by call number
	for _, step := range t {
		id := strconv.Itoa(step.Call)
		switch {
		case step.Ends:
			e := sandbox.Event{Type: "result", ID: id, Outcome: sandbox.Outcomes[step.Outcome]}
			if step.Outcome == gate.Success {
				e.Returns = returns[step.Call]
			}
			events = append(events, e)
		case step.Wait > 0:
			events = append(events, sandbox.Event{Type: "wait", For: (step.Wait * time.Duration(max(step.Times, 1))).String()})
		default:
			call := s.call(step)
			call.ID = id
			e := sandbox.CallOf(call)
			e.Approve, e.Times = sandbox.Yes, step.Times
			if step.Result != "" {
				returns[step.Call] = json.RawMessage(step.Result)
			}
			if step.Times > 0 {
				e.Returns = returns[step.Call]
			}
			events = append(events, e)
		}
	}
	return events
}

// unasked removes the approval of the last call, because [ToolSet.Events] approves every call. It
// is used for counterexamples that end with a call admitted without approval.
func unasked(events []sandbox.Event) []sandbox.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == "call" {
			events[i].Approve = sandbox.Nobody
			break
		}
	}
	return events
}

// TraceLines returns a trace as readable lines. The beginning and the end of a call are separate
// lines, unless the call ends before the next event. A long series of identical calls, or of
// identical pairs of calls, takes only one line.
func TraceLines(t verify.Trace) []string {
	names, begun := make(map[int]string), make(map[int]verify.Step)
	var lines []string
	for i := 0; i < len(t); {
		if n := countRepeats(t[i:]); n >= minSame {
			what, steps := outcomeOf(t[i:])
			lines = append(lines, fmt.Sprintf("%s %s %d times", Called(t[i]), what, n))
			i += n * steps
			continue
		}
		if n, steps := pairs(t[i:]); n >= minPairs {
			first, at := outcomeOf(t[i:])
			second, _ := outcomeOf(t[i+at:])
			lines = append(lines, fmt.Sprintf("%d times: %s %s, %s %s", n, Called(t[i]), first, Called(t[i+at]), second))
			i += n * steps
			continue
		}
		s, steps, line := t[i], 1, ""
		switch {
		case s.Wait > 0:
			line = text.Exact(s.Wait*time.Duration(max(s.Times, 1))) + " pass"
		case s.Ends:
			line = names[s.Call] + " " + ending(begun[s.Call], s.Outcome)
		case s.Times > 1:
			line = fmt.Sprintf("%s %s %d times", Called(s), ending(s, gate.Success), s.Times)
		default:
			line, steps = outcomeOf(t[i:])
			line = Called(s) + " " + line
			begun[s.Call] = s
			names[s.Call] = "the " + text.Escape(s.Name) + " of step " + strconv.Itoa(len(lines)+1)
		}
		lines = append(lines, line)
		i += steps
	}
	return lines
}

// outcomeOf describes the outcome of the first call in t. It also returns the number of steps that
// this call takes.
func outcomeOf(t verify.Trace) (what string, steps int) {
	switch {
	case t[0].Times == 1:
		return ending(t[0], gate.Success), 1
	case !ends(t[1:], t[0].Call):
		return "is admitted", 1
	case t[1].Ends && t[1].Call == t[0].Call:
		return ending(t[0], t[1].Outcome), 2
	}
	return "begins", 1
}

// minSame is the minimum number of identical calls that are merged into one line.
const minSame = 4

// countRepeats returns the number of identical calls with the same outcome that t begins with. It
// does not count a call that ends only after another event, because the end of such a call is a
// separate line.
func countRepeats(t verify.Trace) int {
	n := 0
	for i := 0; i < len(t); n++ {
		if t[i].Ends || t[i].Wait > 0 || t[i].Times > 0 || Called(t[i]) != Called(t[0]) {
			break
		}
		what, steps := outcomeOf(t[i:])
		if first, _ := outcomeOf(t); what != first || what == "begins" {
			break
		}
		i += steps
	}
	return n
}

// minPairs is the minimum number of identical consecutive pairs of calls that are merged into one
// line.
const minPairs = 3

// pairs checks whether t begins with a pair of calls that occurs several times in a row, with the
// same outcomes. It returns how many times the pair occurs, and the number of steps of one pair.
func pairs(t verify.Trace) (n, steps int) {
	whole := func(t verify.Trace) (said string, steps int) {
		if len(t) == 0 || t[0].Ends || t[0].Wait > 0 || t[0].Times > 0 {
			return "", 0
		}
		what, steps := outcomeOf(t)
		if what == "begins" {
			return "", 0
		}
		return Called(t[0]) + " " + what, steps
	}
	pair := func(t verify.Trace) (said string, steps int) {
		first, a := whole(t)
		second, b := whole(t[a:])
		if a == 0 || b == 0 {
			return "", 0
		}
		return first + ", " + second, a + b
	}
	said, steps := pair(t)
	if steps == 0 {
		return 0, 0
	}
	for i := 0; i < len(t); n++ {
		next, more := pair(t[i:])
		if next != said {
			break
		}
		i += more
	}
	return n, steps
}

func ends(t verify.Trace, call int) bool {
	return slices.ContainsFunc(t, func(s verify.Step) bool { return s.Ends && s.Call == call })
}

// Called returns the name of the call. If the tool has a different name, or if the call has
// arguments or other names, Called adds them in parentheses.
func Called(s verify.Step) string {
	if s.Name == s.Tool && (s.Args == "" || s.Args == "{}") && otherNames(s) == "" {
		return text.Escape(s.Name)
	}
	called := strings.TrimSuffix(text.Escape(s.Tool)+" "+text.Escape(s.Args), " ")
	return fmt.Sprintf("%s (%s%s)", text.Escape(s.Name), called, otherNames(s))
}

// otherNames returns a phrase that lists the other names of the step's call, such as ", also called
// release", or "" if the other names are not known.
func otherNames(s verify.Step) string {
	if s.Names == nil {
		return ""
	}
	var certain, weak []string
	for _, n := range s.Names.Also {
		if n.Weak {
			weak = append(weak, text.Escape(n.Text))
		} else {
			certain = append(certain, text.Escape(n.Text))
		}
	}
	var also string
	if certain != nil {
		also = ", also called " + text.Join(certain, "and")
	}
	if weak != nil {
		also += ", perhaps called " + text.Join(weak, "and")
	}
	return also
}

// ending returns a phrase for the outcome of the step's call, such as "fails". If the step requires
// a particular result of a successful call, the phrase includes the result.
func ending(s verify.Step, o gate.Outcome) string {
	if o == gate.Success && s.Result != "" {
		return "succeeds and returns " + text.Escape(s.Result)
	}
	return [...]string{gate.Unknown: "ends with an unknown outcome", gate.Success: "succeeds", gate.Failure: "fails"}[o]
}

// steps formats t as numbered lines.
func steps(t verify.Trace) string {
	var b strings.Builder
	for i, line := range TraceLines(t) {
		fmt.Fprintf(&b, "    %2d. %s\n", i+1, line)
	}
	return b.String()
}
