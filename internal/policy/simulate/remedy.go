package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A remedy is a [verify.Remedy] for a refused call, together with a sentence that describes it.
type remedy struct {
	verify.Remedy
	sentence string // description of the remedy; empty if the remedy is unknown, or if the call only needs to wait
}

// findRemedy finds the remedy for a refusal. The remedy may include agents' built-in tools only if
// the refusing nets count calls reported by hooks. A running proxy has the same restriction.
func (s *Simulation) findRemedy(written Call, c gate.Call, r *gate.Refusal) remedy {
	w := remedy{Remedy: s.guide.Remedy(s.session.Snapshot(), c, r)}
	counts := w.Shared || !s.hooksInOtherSessions()
	switch {
	case s.source.Config == nil:
	case s.tools.Known && w.None && counts:
		if s.allowAgents(&w, c, r); w.Found && s.hooksInOtherSessions() {
			w.Remedy = verify.Remedy{}
			w.sentence = verify.OwnToolMay
			return w
		}
	case !s.tools.Known && w.Found && !counts:
		if s.restrictToServers(&w, c.Tool); !w.Found {
			return w
		}
	}
	switch {
	case w.None && r.Retry > 0:
		return w // the call only needs to wait
	case r.Kind == gate.KindValidation:
		w.sentence = "Other arguments may be allowed."
	default:
		w.sentence = strings.TrimSpace(w.Sentence(written.Tool) + " " + w.sentence)
	}
	return w
}

// hooksInOtherSessions reports whether calls reported by hooks and calls to servers' tools belong
// to different sessions.
func (s *Simulation) hooksInOtherSessions() bool {
	c := s.source.Config
	return c != nil && cmp.Or(c.Session.By, "connection") == "connection"
}

// allowAgents repeats the search for a remedy with agents' built-in tools included. It stores the
// result in w.Remedy, unless the search proves that no such remedy exists. If only block rules
// refuse the call, allowAgents does not search.
func (s *Simulation) allowAgents(w *remedy, c gate.Call, r *gate.Refusal) {
	if !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		return
	}
	tools := slices.Concat(s.tools.Tools, check.ToolsOf())
	all := verify.NewRemedyFinder(s.result.Policy, verify.Options{Tools: tools, Lacks: s.tools.Lacks()})
	if found := all.Remedy(s.session.Snapshot(), c, r); !found.None {
		w.Remedy = found
	}
}

// restrictToServers removes agents' built-in tools from a remedy. If the remedy needs such a tool,
// it is discarded. If a server's tool in the remedy has the same name as a built-in tool, the
// remedy's sentence points out that the server's tool is meant. If the refused call itself has the
// name of a built-in tool, restrictToServers does nothing.
func (s *Simulation) restrictToServers(w *remedy, tool string) {
	own := agenttool.Names()
	if slices.Contains(own, tool) {
		return // the call belongs to an agent's session
	}
	for _, step := range w.Steps {
		agent, _, qualified := strings.Cut(step.Name, ".") // the part before the dot might not be an agent; it can also be a server before its tool, or a tool before its action
		switch ours := func(c config.Server) bool { return c.Name == agent }; {
		case qualified && slices.Contains(own, step.Name) && !slices.ContainsFunc(s.source.Config.Servers, ours):
			w.Remedy = verify.Remedy{Why: fmt.Sprintf("%s is an agent's own tool, and session.by is connection, so its calls are in a different session", quoteName(step.Name))}
			return
		case slices.Contains(own, step.Tool):
			w.sentence = fmt.Sprintf("%s must be a server's tool: session.by is connection, so calls that hooks report are in other sessions.", quoteName(step.Tool))
		}
	}
}

// quoteName encloses a name in backquotes. All remedies quote names in this way.
func quoteName(name string) string { return "`" + name + "`" }
