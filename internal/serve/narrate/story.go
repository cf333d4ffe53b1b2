package narrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	callsKnown     = 10_000 // that are under way
	approvalsKnown = 1000
)

// A story makes lines of records. It is for one goroutine.
type story struct {
	lines *lines
	calls map[callKey]call // that are under way
	asked []string         // approvals that were told, the oldest first
}

type callKey struct {
	session string
	number  uint64
}

// A call is what its outcome does not say.
type call struct{ tool, client, would string }

func newStory(l *lines) *story { return &story{lines: l, calls: map[callKey]call{}} }

// missed says how much was lost of what came too fast.
func (s *story) missed(at time.Time, n int) {
	if n > 0 {
		s.lines.tell(line{at: at, verb: "lost", about: text.Count(n, "line"), says: "more came than this terminal takes", vital: true})
	}
}

// approval tells of one that was asked for or answered.
func (s *story) approval(a *approval) {
	l := line{at: a.at, about: toolOf(a.Upstream, a.Tool), vital: true}
	if !a.answered {
		s.remember(a.ID)
		l.verb, l.says = "wait", join(a.ID, by(s.clientOf(a.Client)), s.rules(a.Rules))
		s.lines.tell(l)
		return
	}
	l.verb = "yes"
	if a.State == "denied" {
		l.verb = "no"
	}
	count := ""
	if a.Needs > 1 && l.verb == "yes" {
		count = fmt.Sprintf("%d of %d persons", a.Approvals, a.Needs)
	}
	l.says = join(a.ID, strings.TrimSpace(by(a.Actor)+" via "+a.Channel), count, a.Reason)
	s.lines.tell(l)
}

func (s *story) remember(id string) {
	if s.asked = append(s.asked, id); len(s.asked) > approvalsKnown {
		s.asked = s.asked[1:]
	}
}

// entry tells of a record, if it says something to a person.
func (s *story) entry(e *trail.Entry) {
	l := line{at: e.Time}
	switch e.Event {
	case "decision":
		s.decision(e)
		return
	case "outcome":
		s.outcome(e)
		return
	case "session opened":
		l.verb, l.about, l.says = "open", "session "+e.Session, "of "+e.Principal
	case "session closed":
		l.verb, l.about = "shut", "session "+e.Session
	case "resumed":
		l.verb, l.about, l.vital = "note", "records", true
		l.says = "they can be written again, and calls are decided"
	case "end":
		l.verb, l.about = "end", "petrigate"
	default:
		return
	}
	s.lines.tell(l)
}

// decision tells of a call that does not pass now. One that passes is told with its outcome.
func (s *story) decision(e *trail.Entry) {
	tool := toolOf(e.Upstream, e.Tool)
	l := line{at: e.Time, about: tool}
	switch e.Decision.Decision {
	case "allow":
		if len(s.calls) < callsKnown {
			c := call{tool: tool, client: s.clientOf(e.Client)}
			if w := e.Would; w != nil {
				c.would = "in shadow: " + w.Decision + ", " + s.why(e, w.Reason, w.Nets)
			}
			s.calls[callKey{e.Session, e.Call}] = c
		}
		return
	case "ask":
		if slices.Contains(s.asked, e.Approval) {
			return
		}
		s.remember(e.Approval)
		l.verb, l.says, l.vital = "wait", join(e.Approval, by(s.clientOf(e.Client))), true
	default:
		l.verb, l.says = "stop", s.why(e, e.Reason, e.Nets)
	}
	s.lines.tell(l)
}

// outcome tells how a call has ended.
func (s *story) outcome(e *trail.Entry) {
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
	case "unknown":
		said = "its outcome is unknown"
	}
	l.says = join(took(e.Millis), c.client, said, by(e.By), c.would)
	s.lines.tell(l)
}

// toolOf is the name of a tool with its upstream.
func toolOf(upstream, tool string) string {
	if upstream == "" || strings.HasPrefix(tool, upstream+".") {
		return tool
	}
	return upstream + "." + tool
}

// clientOf is a client as it calls itself, short.
func (s *story) clientOf(name string) string { return s.lines.plain(name, maxName) }

func by(who string) string {
	if who == "" {
		return ""
	}
	return "by " + who
}

// took is a time of milliseconds for people.
func took(ms float64) string {
	if ms < 1000 {
		return strconv.Itoa(int(math.Ceil(ms))) + "ms"
	}
	return text.Duration((time.Duration(ms) * time.Millisecond).Round(time.Second))
}

// why is the first sentence of a refusal, without the name of the tool that stands before it,
// and with the rules behind it that it does not name.
func (s *story) why(e *trail.Entry, reason string, nets []audit.NetSays) string {
	sentence, _, _ := strings.Cut(reason, ". ")
	sentence = strings.TrimSuffix(sentence, ".")
	for _, name := range []string{toolOf(e.Upstream, e.Tool), e.Tool, strings.TrimPrefix(e.Tool, e.Upstream+".")} {
		sentence = strings.TrimPrefix(sentence, name+" ")
	}
	sentence = s.lines.plain(sentence, maxSentence)
	var named []string
	for _, n := range nets {
		if n.Verdict == "blocked" && n.Rule != "" && !strings.Contains(sentence, n.Rule) && !slices.Contains(named, n.Rule) {
			named = append(named, n.Rule)
		}
	}
	return strings.TrimSpace(sentence + " " + s.rules(named))
}

// rules are rules in brackets.
func (s *story) rules(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "(" + s.lines.plain(text.First(3, names), maxRules) + ")"
}
