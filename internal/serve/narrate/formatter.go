package narrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	maxCalls = 10_000 // maximum number of in-flight calls to keep track of
	maxShown = 1000
)

// A formatter turns audit records into lines of output. It is not safe for concurrent use.
type formatter struct {
	lines     *lines
	calls     map[callKey]call // in-flight calls
	approvals []shownApproval  // recently printed approvals, oldest first
	hintShown bool             // whether the full hint on how to answer an approval request has been printed
	hintKnown bool             // whether someone has already answered a request in the way that the hint describes; if so, no more hints are needed

	passed, failed, stopped, waited, lost int
}

// A shownApproval is an approval whose request has been printed.
type shownApproval struct {
	id       string
	at       time.Time
	answered bool // whether the answer has been printed
}

type callKey struct {
	session string
	number  uint64
}

// A call holds the details of an in-flight call that the record of its outcome does not contain.
type call struct{ tool, caller, would string }

func newFormatter(l *lines) *formatter { return &formatter{lines: l, calls: map[callKey]call{}} }

// missed prints the number of events that were dropped because they arrived faster than they could
// be printed.
func (s *formatter) missed(at time.Time, n int) {
	s.lost += n
	if n > 0 {
		s.lines.print(line{at: at, verb: "lost", about: text.Count(n, "line"), text: "too many events for this terminal", vital: true})
	}
}

// approval prints that an approval was requested or answered.
func (s *formatter) approval(a *approval) {
	tool := audit.Canonical(a.Upstream, a.Tool)
	if !a.answered {
		s.wait(a.at, a.ID, tool, callerOf(a.Principal, a.Client), a.Rules)
		s.hint(a)
		return
	}
	answer := answer{at: a.at, since: a.Created, id: a.ID, tool: tool, channel: a.Channel, actor: a.Actor, reason: a.Reason, denied: a.State == operator.Denied}
	if a.State == operator.Pending { // more people must approve the call
		answer.count = fmt.Sprintf("%d of %d people", a.Approvals, a.Needs)
	} else if q := s.findShown(a.ID); q != nil {
		if q.answered { // answeredByCall has already printed the answer
			return
		}
		q.answered = true
	}
	s.answer(answer)
}

// An answer holds the details to print about a person's answer to an approval request.
type answer struct {
	at, since                               time.Time
	id, tool, channel, actor, reason, count string
	denied                                  bool
}

func (s *formatter) answer(a answer) {
	l := line{at: a.at, verb: "yes", about: a.tool, vital: true}
	if a.denied {
		l.verb = "no"
	}
	if c, _ := channel.Find(a.channel); c.Command != "" {
		s.hintKnown = true
	}
	after := ""
	if waited := a.at.Sub(a.since); !a.since.IsZero() && waited >= 0 {
		after = "after " + duration(float64(waited.Milliseconds()))
	}
	l.text = join(a.id, strings.TrimSpace(by(a.actor)+" via "+a.channel), after, a.count, a.reason)
	s.lines.print(l)
}

// wait prints that a call is waiting for approval, unless this has already been printed.
func (s *formatter) wait(at time.Time, id, tool, caller string, rules []string) {
	if s.findShown(id) != nil {
		return
	}
	if s.approvals = append(s.approvals, shownApproval{id: id, at: at}); len(s.approvals) > maxShown {
		s.approvals = s.approvals[1:]
	}
	s.waited++
	s.lines.print(line{at: at, verb: "wait", about: tool, text: join(id, by(caller), s.rules(rules)), vital: true})
}

// hint prints how to answer an approval request on this machine. The first hint is printed in full,
// and later ones in short form. Once someone has answered in this way, no more hints are printed.
func (s *formatter) hint(a *approval) {
	var ways []string
	for _, c := range slices.Backward(channel.All()) {
		switch {
		case c.Command == "" || !slices.Contains(a.Channels, c.Name):
		case s.hintShown:
			ways = append(ways, c.Command)
		default:
			ways = append(ways, c.Command+c.Place)
		}
	}
	if s.hintKnown || len(ways) == 0 {
		return
	}
	s.hintShown = true
	s.lines.print(line{at: a.at, verb: "hint", about: "to answer it", text: strings.Join(ways, "; or "), vital: true})
}

// findShown returns the approval with the given ID, or nil if it has not been printed recently.
func (s *formatter) findShown(id string) *shownApproval {
	return list.Find(s.approvals, func(q shownApproval) bool { return q.id == id })
}

// entry prints an audit record if users are likely to be interested in records of its kind.
func (s *formatter) entry(e *trail.Entry) {
	l := line{at: e.Time}
	switch e.Event {
	case "decision":
		s.decision(e)
		return
	case "outcome":
		s.outcome(e)
		return
	case "session opened":
		l.verb, l.about, l.text = "open", "session "+e.Session, "of "+e.Principal
	case "session closed":
		l.verb, l.about = "shut", "session "+e.Session
	case "resumed":
		l.verb, l.about, l.vital = "note", "records", true
		l.text = "they can be written again, and petrigate decides on calls again"
	case "end":
		l.verb, l.about, l.text = "end", "petrigate", s.summary()
	default:
		return
	}
	s.lines.print(l)
}

// decision prints a call that must wait or has been refused. An allowed call is printed once its
// outcome is known.
func (s *formatter) decision(e *trail.Entry) {
	tool := e.Canonical()
	s.answeredByCall(e)
	switch e.Decision.Decision {
	case "allow":
		if len(s.calls) < maxCalls {
			c := call{tool: tool, caller: callerOf(e.Principal, e.Client)}
			if w := e.Would; w != nil {
				c.would = "in shadow: " + w.Decision + ", " + s.why(e, w.Reason, w.Nets)
			}
			s.calls[callKey{e.Session, e.Call}] = c
		}
	case "ask":
		s.wait(e.Time, e.Approval, tool, callerOf(e.Principal, e.Client), blocking(e.Nets))
	default:
		s.stopped++
		s.lines.print(line{at: e.Time, verb: "stop", about: tool, text: s.why(e, e.Reason, e.Nets)})
	}
}

// answeredByCall prints the answer to an approval request. It takes the answer from e, the record
// of the approved or denied call, because no other event reports an answer that another process
// received. It prints nothing if e contains no answer or if the answer has already been printed.
func (s *formatter) answeredByCall(e *trail.Entry) {
	q := s.findShown(e.Approval)
	if q == nil || q.answered || e.Channel == "" {
		return
	}
	q.answered = true
	s.answer(answer{at: e.Time, since: q.at, id: e.Approval, tool: e.Canonical(), channel: e.Channel, actor: e.Actor, denied: e.Decision.Decision == "refuse" && e.Kind == "approval"})
}

// summary describes in words how many calls passed, failed, were stopped or required approval.
func (s *formatter) summary() string {
	said := fmt.Sprintf("%d passed, %d failed, %d stopped, %d asked", s.passed, s.failed, s.stopped, s.waited)
	if s.lost > 0 {
		return "at least " + said
	}
	return said
}

// outcome prints whether a call passed or failed, and updates the totals.
func (s *formatter) outcome(e *trail.Entry) {
	key := callKey{e.Session, e.Call}
	c, ok := s.calls[key]
	if !ok {
		c.tool = e.Tool
	}
	delete(s.calls, key)
	l := line{at: e.Time, verb: "fail", about: c.tool}
	said := ""
	switch e.Outcome {
	case "success":
		l.verb = "pass"
		s.passed++
	case "unknown":
		said = "its outcome is unknown"
		s.failed++
	default:
		s.failed++
	}
	l.text = join(duration(e.Millis), c.caller, said, by(e.By), c.would)
	s.lines.print(l)
}

// callerOf returns a short description of the caller.
func callerOf(principal, client string) string { return text.Caller(principal, client, maxName) }

func by(who string) string {
	if who == "" {
		return ""
	}
	return "by " + who
}

// duration formats a number of milliseconds for display.
func duration(ms float64) string {
	if ms < 1000 {
		return strconv.Itoa(int(math.Ceil(ms))) + "ms"
	}
	return text.Duration((time.Duration(ms) * time.Millisecond).Round(time.Second))
}

// why returns a short explanation of a refusal: the first sentence of the given reason, without the
// name of the tool, followed by the blocking rules. It leaves out rules that the sentence already
// mentions.
func (s *formatter) why(e *trail.Entry, reason string, nets []audit.NetVerdict) string {
	sentence, _, _ := strings.Cut(reason, ". ")
	sentence = strings.TrimSuffix(sentence, ".")
	for _, name := range []string{e.Canonical(), e.Tool, strings.TrimPrefix(e.Tool, e.Upstream+".")} {
		sentence = strings.TrimPrefix(sentence, name+" ")
	}
	sentence = s.lines.plain(sentence, maxSentence)
	named := slices.DeleteFunc(blocking(nets), func(rule string) bool { return strings.Contains(sentence, rule) })
	return strings.TrimSpace(sentence + " " + s.rules(named))
}

// blocking returns the rules that block a call, without duplicates.
func blocking(nets []audit.NetVerdict) (rules []string) {
	for _, n := range nets {
		if n.Verdict == "blocked" && n.Rule != "" && !slices.Contains(rules, n.Rule) {
			rules = append(rules, n.Rule)
		}
	}
	return rules
}

// rules formats rule names in parentheses.
func (s *formatter) rules(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "(" + s.lines.plain(text.First(3, names), maxRules) + ")"
}

// An approval is an event to print: a new approval request, or the answer to one.
type approval struct {
	operator.ApprovalInfo
	at       time.Time
	answered bool
}
