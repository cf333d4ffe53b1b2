package mining

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/rules"
)

// A tool is put on an allow list only if it was used in at least this many sessions and calls.
const (
	minAllowedSessions = 2
	minAllowedCalls    = 5
)

// Allowed describes a candidate for an allow list: a tool that was used often, was never refused
// and never needed approval.
type Allowed struct {
	Tool     string `json:"tool"` // name of the tool, as written in rules
	Calls    int    `json:"calls"`
	Sessions int    `json:"sessions"`
}

// A toolActivity counts the decisions about one tool.
type toolActivity struct {
	calls    int
	sessions sessionSet
	stopped  bool // whether any call was refused, needed approval, or passed only because of shadow mode
}

// An allowCounter counts decisions per tool.
type allowCounter map[string]*toolActivity

func (a allowCounter) count(e *trail.Entry) {
	if e.Event != "decision" || e.Tool == "" {
		return
	}
	name := e.Tool
	if e.Upstream != "" {
		name = e.Upstream + "." + e.Tool
	}
	t := entry(a, name, maxTools)
	if e.Decision.Decision != "allow" || e.Approval != "" || e.Would != nil {
		t.stopped = true
		return
	}
	t.calls++
	t.sessions.add(e.Session)
}

// list returns the candidates for an allow list, most frequent first. It leaves out tools that run
// scripts or destroy data, because their past calls say little about later ones.
func (a allowCounter) list() []Allowed {
	all := []Allowed{}
	for name, t := range a {
		_, bare, _ := strings.Cut(name, ".")
		kind := toolkind.Classify(toolkind.ListedTool{Name: cmp.Or(bare, name)}, nil).Kind
		if t.stopped || t.calls < minAllowedCalls || len(t.sessions) < minAllowedSessions || kind == toolkind.Run || kind == toolkind.Destroy {
			continue
		}
		all = append(all, Allowed{Tool: rules.Written(name), Calls: t.calls, Sessions: len(t.sessions)})
	}
	slices.SortFunc(all, func(a, b Allowed) int { return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Tool, b.Tool)) })
	return all
}
