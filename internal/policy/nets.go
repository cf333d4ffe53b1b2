package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// nets makes what the gate understands of the hand-written nets.
func (b *builder) nets() []gate.Net {
	nets := make([]gate.Net, 0, len(b.source.Nets))
	for i := range b.source.Nets {
		nets = append(nets, b.net(&b.source.Nets[i]))
	}
	return nets
}

func (b *builder) net(n *config.Net) gate.Net {
	out := gate.Net{
		Name:           n.Name,
		Places:         n.Places,
		Initial:        n.InitialMarking,
		Terminal:       n.TerminalPlaces,
		Free:           n.FreeTools,
		MatchFirst:     n.Match == "first",
		Cause:          gate.CauseNet,
		Reason:         n.Reason,
		Rule:           position(n.Position),
		AllowUnbounded: n.AllowUnbounded,
	}
	for _, m := range n.Map {
		out.Maps = append(out.Maps, b.mapEntry(n, m))
	}
	for _, t := range n.Transitions {
		out.Transitions = append(out.Transitions, transition(t))
	}
	b.checkNet(n)
	return out
}

func transition(t config.Transition) gate.Transition {
	return gate.Transition{
		Name:     t.Name,
		Inputs:   t.Inputs,
		Outputs:  t.Outputs,
		Tools:    gate.Tools(t.Tools...),
		Manual:   t.Type == "manual",
		Deferred: t.Deferred,
		Observe:  t.Observe,
		Release:  t.Unknown == "release",
	}
}

func (b *builder) mapEntry(n *config.Net, m config.Map) gate.Map {
	out := gate.Map{Tool: m.Tool, Field: m.Field, As: m.As, Source: m.Word, Rule: position(m.Position)}
	if m.Pattern == "" {
		out.Match = rules.MatchWord(m.Word)
		return out
	}
	match, err := rules.MatchRegex(m.Pattern)
	if err != nil {
		b.inNet(n, problem(Error, BadPattern, position(m.Position), err.Error(), "patterns are RE2"))
		match = func(string) bool { return false } // one error is enough
	}
	out.Match, out.Source = match, "/"+m.Pattern+"/"
	return out
}

// inNet records a problem of a net.
func (b *builder) inNet(n *config.Net, p Problem) {
	p.Net = n.Name
	b.add(p)
}

// checkNet warns of what loads and lets more through than its author may think.
func (b *builder) checkNet(n *config.Net) {
	if n.Match == "first" && len(n.Map) > 1 {
		b.inNet(n, problem(Warning, FirstMatch, position(n.Position),
			`with "match: first" a call that matches several entries passes as the first alone: "cp a && rm a" as a copy`, "leave match out"))
	}
	for _, t := range n.Transitions {
		if t.Unknown == "release" {
			b.inNet(n, problem(Warning, ReleasedToken, position(t.Position),
				fmt.Sprintf("the transition %q counts a call whose outcome is unknown as not made, and it may have been", t.Name), ""))
		}
		b.warnGlobs(n, t.Tools, position(t.Position))
	}
	b.warnGlobs(n, n.FreeTools, position(n.Position))
}

func (b *builder) warnGlobs(n *config.Net, tools []string, at gate.Position) {
	for _, tool := range tools {
		if strings.ContainsAny(tool, "*?") {
			b.inNet(n, problem(Warning, GlobInNet, at, fmt.Sprintf("the tools of a net are exact names: %q is no pattern", tool), "patterns work in rules"))
		}
	}
}

// netError is a mistake that the gate found, at the transition where it is.
func (b *builder) netError(e *gate.NetError) Problem {
	p := problem(Error, InvalidNet, e.Rule, e.Msg, e.Hint)
	if e.Transition != "" {
		p.Message = fmt.Sprintf("transition %q: %s", e.Transition, e.Msg)
	}
	i := slices.IndexFunc(b.source.Nets, func(n config.Net) bool { return n.Name == e.Net && position(n.Position) == e.Rule })
	if i < 0 {
		return p
	}
	p.Net = e.Net
	for _, t := range b.source.Nets[i].Transitions {
		if t.Name == e.Transition && t.Position.Line > 0 {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	return p
}
