package mining

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

// A Note is an observation, usually about an existing rule.
type Note struct {
	Kind  string `json:"kind"`           // "shadow", "approvals" or "opening"
	Rule  string `json:"rule,omitempty"` // position of the rule
	Net   string `json:"net,omitempty"`
	Count int    `json:"count"`
	Text  string `json:"text"`
}

// A ruleActivity counts the effects of the existing rules, including effects that shadow mode
// suppressed.
type ruleActivity struct {
	nets   map[[2]string]*netActivity
	shadow int // number of decisions involving a net in shadow mode
}

// A netActivity counts the effects of one net. The fields refuse and ask count the refusals and
// approval requests that shadow mode suppressed. The field approved counts the calls that were
// approved, and denied counts the calls that were refused because they were not approved.
type netActivity struct {
	refuse, ask      int
	approved, denied int
	sessions         sessionSet
}

func newSeen() *ruleActivity { return &ruleActivity{nets: map[[2]string]*netActivity{}} }

// Maximum numbers of nets and sessions that are counted separately.
const (
	maxNets     = 200
	maxSessions = 5000
)

func (s *ruleActivity) of(net, rule, session string) *netActivity {
	n := entry(s.nets, [2]string{net, rule}, maxNets)
	n.sessions.add(session)
	return n
}

// count adds a recorded decision to the counts of the nets responsible for it.
func (s *ruleActivity) count(e *trail.Entry) {
	shadow := e.Shadow
	for _, n := range e.Nets {
		shadow = shadow || n.Shadow
		asks := strings.HasPrefix(n.Net, "approve-before-")
		switch {
		case !asks || n.Shadow || e.Shadow:
		case e.Decision.Decision == "allow" && e.Approval != "":
			s.of(n.Net, n.Rule, e.Session).approved++
		case e.Kind == "approval":
			s.of(n.Net, n.Rule, e.Session).denied++
		}
	}
	if shadow {
		s.shadow++
	}
	if e.Would == nil {
		return
	}
	for _, n := range e.Would.Nets {
		if e.Would.Decision == "ask" {
			s.of(n.Net, n.Rule, e.Session).ask++
		} else {
			s.of(n.Net, n.Rule, e.Session).refuse++
		}
	}
}

// shadowEffect describes the effect that the net would have had outside shadow mode.
func (n *netActivity) shadowEffect() string {
	var all []string
	if n.refuse > 0 {
		all = append(all, "refused "+calls(n.refuse))
	}
	if n.ask > 0 {
		all = append(all, "asked about "+calls(n.ask))
	}
	return text.And(all)
}

// notes returns the observations, sorted for display.
func (s *ruleActivity) notes(least int) []Note {
	all := []Note{}
	would := 0
	for key, n := range s.nets {
		note := Note{Net: key[0], Rule: key[1]}
		where := cmp.Or(text.Escape(key[1]), text.Escape(key[0]))
		if n.refuse+n.ask > 0 {
			would++
			note.Kind, note.Count = "shadow", n.refuse+n.ask
			note.Text = fmt.Sprintf("in shadow, %s would have %s in %s", where, n.shadowEffect(), text.Count(len(n.sessions), "session"))
			all = append(all, note)
		}
		if n.approved >= least && n.denied == 0 {
			note.Kind, note.Count = "approvals", n.approved
			note.Text = fmt.Sprintf("%[2]s required approval %[1]s, and it was never denied: a grant (petrigate approvals approve --for) or unless would avoid the question", text.Grouped(n.approved)+" times", where)
			all = append(all, note)
		}
	}
	if s.shadow > 0 && would == 0 {
		all = append(all, Note{Kind: "shadow", Count: s.shadow, Text: fmt.Sprintf("no rule in shadow mode would have refused, or required approval for, any of %s: you can enforce them", calls(s.shadow))})
	}
	slices.SortFunc(all, func(a, b Note) int {
		return cmp.Or(strings.Compare(b.Kind, a.Kind), b.Count-a.Count, strings.Compare(a.Text, b.Text))
	})
	return all
}
