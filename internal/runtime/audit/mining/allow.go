package mining

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// What an allow list needs of a tool.
const (
	leastAllowedSessions = 2
	leastAllowedCalls    = 5
)

// An Allowed is a tool that ran often, was never refused, and was never asked about: an allow
// list could have it.
type Allowed struct {
	Tool     string `json:"tool"` // as rules name it
	Calls    int    `json:"calls"`
	Sessions int    `json:"sessions"`
}

// A toolSeen counts for a tool.
type toolSeen struct {
	calls    int
	sessions map[string]bool
	stopped  bool // a call was refused, asked about, or would have been
}

// allowing counts decisions by their tools.
type allowing map[string]*toolSeen

func (a allowing) take(e *trail.Entry) {
	if e.Event != "decision" || e.Tool == "" {
		return
	}
	name := e.Tool
	if e.Upstream != "" {
		name = e.Upstream + "." + e.Tool
	}
	t := a[name]
	if t == nil {
		t = &toolSeen{sessions: make(map[string]bool)}
		if len(a) < mostTools {
			a[name] = t
		}
	}
	if e.Decision.Decision != "allow" || e.Approval != "" || e.Would != nil {
		t.stopped = true
		return
	}
	t.calls++
	if len(t.sessions) < mostSessions {
		t.sessions[e.Session] = true
	}
}

// list are the tools for an allow list, those that ran most first. A tool that runs scripts or
// destroys is not among them: what one call of it does says nothing of the next.
func (a allowing) list() []Allowed {
	all := []Allowed{}
	for name, t := range a {
		_, bare, _ := strings.Cut(name, ".")
		kind := toolkind.Of(toolkind.Listed{Name: cmp.Or(bare, name)}, nil).Kind
		if t.stopped || t.calls < leastAllowedCalls || len(t.sessions) < leastAllowedSessions || kind == toolkind.Run || kind == toolkind.Destroy {
			continue
		}
		all = append(all, Allowed{Tool: rules.Written(name), Calls: t.calls, Sessions: len(t.sessions)})
	}
	slices.SortFunc(all, func(a, b Allowed) int { return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Tool, b.Tool)) })
	return all
}

// allowed is the allow list, in comments: it has an effect with default: deny only.
func (r *Report) allowed() string {
	if len(r.Allow) == 0 {
		return ""
	}
	var names, counts []string
	for _, a := range r.Allow {
		names = append(names, a.Tool)
		counts = append(counts, fmt.Sprintf("%s %s in %s", a.Tool, calls(a.Calls), text.Count(a.Sessions, "session")))
	}
	return "\n# An allow list for default: deny, of tools that ran often, were never refused, and were never asked about\n" +
		"# (" + text.Escape(strings.Join(counts, "; ")) + "):\n# allow " + text.Escape(strings.Join(names, ", ")) + "\n"
}
