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

// A wayOut is the remedy for a refused call, with its sentence.
type wayOut struct {
	verify.Remedy
	sentence string // "": the way is not known, or time will do
}

// wayOut finds the way out of a refusal. As in a running proxy, a tool that an agent has of its
// own is part of it only where the calls that hooks report count for the nets that refuse.
func (s *Simulation) wayOut(written Call, c gate.Call, r *gate.Refusal) wayOut {
	w := wayOut{Remedy: s.guide.Remedy(s.session.Snapshot(), c, r)}
	counts := w.Shared || !s.hooksInOtherSessions()
	switch {
	case s.source.Config == nil:
	case s.tools.Known && w.None && counts:
		if s.withAgents(&w, c, r); w.Found && s.hooksInOtherSessions() {
			w.Remedy = verify.Remedy{}
			w.sentence = verify.OwnToolMay
			return w
		}
	case !s.tools.Known && w.Found && !counts:
		if s.onlyServers(&w, c.Tool); !w.Found {
			return w
		}
	}
	switch {
	case w.None && r.Retry > 0:
		return w // time will do
	case r.Kind == gate.KindValidation:
		w.sentence = "Other arguments may be allowed."
	default:
		w.sentence = strings.TrimSpace(w.Sentence(written.Tool) + " " + w.sentence)
	}
	return w
}

// hooksInOtherSessions reports whether the calls that hooks report are in other sessions than those of servers' tools.
func (s *Simulation) hooksInOtherSessions() bool {
	c := s.source.Config
	return c != nil && cmp.Or(c.Session.By, "connection") == "connection"
}

// withAgents looks for a way by the tools that agents have of their own, beside those of servers.
func (s *Simulation) withAgents(w *wayOut, c gate.Call, r *gate.Refusal) {
	if !slices.ContainsFunc(r.Blocks, func(b gate.Block) bool { return b.Cause != gate.CauseBlock }) {
		return
	}
	tools := slices.Concat(s.tools.Tools, check.ToolsOf())
	all := verify.NewRemedyFinder(s.result.Policy, verify.Options{Tools: tools, Lacks: s.tools.Lacks()})
	if found := all.Remedy(s.session.Snapshot(), c, r); !found.None {
		w.Remedy = found
	}
}

// onlyServers restricts a way of made-up tools to those that servers may have.
func (s *Simulation) onlyServers(w *wayOut, tool string) {
	own := agenttool.Names()
	if slices.Contains(own, tool) {
		return // the call is in the session of an agent itself
	}
	for _, step := range w.Steps {
		agent, _, qualified := strings.Cut(step.Name, ".") // perhaps an action of a tool that is called like the agent
		switch ours := func(c config.Server) bool { return c.Name == agent }; {
		case qualified && slices.Contains(own, step.Name) && !slices.ContainsFunc(s.source.Config.Servers, ours):
			w.Remedy = verify.Remedy{Why: fmt.Sprintf("%s is an agent's own tool, and session.by is connection: its calls are in another session", quoted(step.Name))}
			return
		case slices.Contains(own, step.Tool):
			w.sentence = fmt.Sprintf("%s has to be a server's tool: session.by is connection, so calls that hooks report are in other sessions.", quoted(step.Tool))
		}
	}
}

// quoted is a name as ways out write it.
func quoted(name string) string { return "`" + name + "`" }
