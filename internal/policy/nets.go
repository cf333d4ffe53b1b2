package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// nets converts the hand-written nets to [gate.Net] values.
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
		Scope:          scopes[n.Scope],
		Shadow:         n.Shadow,
		Priority:       n.Priority,
		Advisory:       n.Class == "advisory",
		Recovery:       n.Recovery,
	}
	for _, m := range n.Map {
		out.Maps = append(out.Maps, netMaps{b, n}.entries(m)...)
	}
	out.Key = b.key(n, n.Key)
	for _, t := range n.Transitions {
		made := transition(t)
		made.Key = b.key(n, t.Key)
		out.Transitions = append(out.Transitions, made)
	}
	out.Phases = phases(n)
	b.hooks(n, &out)
	b.checkNet(n)
	return out
}

// scopes maps keywords in configurations to scopes. Any other value means session scope. The map
// must not be modified.
var scopes = map[string]gate.Scope{"principal": gate.ScopePrincipal, "global": gate.ScopeGlobal}

// phases converts the allowlists of a net's places to [gate.Phase] values, in the order of the
// places.
func phases(n *config.Net) []gate.Phase {
	return list.Map(allowed(n), func(place string) gate.Phase {
		return gate.Phase{Place: place, Tools: tools(n.Allow[place], gate.Glob)}
	})
}

// allowed returns the places that have an allowlist, without duplicates.
func allowed(n *config.Net) (with []string) {
	for i, place := range n.Places {
		if _, ok := n.Allow[place]; ok && !slices.Contains(n.Places[:i], place) {
			with = append(with, place)
		}
	}
	return with
}

// isPattern reports whether a name contains wildcards.
func isPattern(name string) bool { return strings.ContainsAny(name, "*?") }

// transition converts a transition of a configuration to a [gate.Transition] without its key. A
// transition with exceptions must have "*" as its only tool.
func transition(t config.Transition) gate.Transition {
	out := gate.Transition{
		Name:      t.Name,
		Inputs:    t.Inputs,
		Outputs:   t.Outputs,
		Tools:     exact(t.Tools),
		Manual:    t.Type == "manual",
		Deferred:  t.Deferred,
		Observe:   t.Observe,
		Release:   t.Unknown == "release",
		Via:       t.Via,
		Approvals: t.Approvals,
		Unless:    exact(t.Unless),

		WeakProgress: t.Weak == "progress",
	}
	if len(t.Except) > 0 {
		out.Tools[0].Kind = gate.Glob
		for _, tool := range exact(t.Except) {
			tool.Spared = true
			out.Unless = append(out.Unless, tool)
		}
	}
	return out
}

// exact returns tools with the given names. Wildcards in the names have no special meaning.
func exact(names []string) []gate.Tool { return tools(names, gate.Literal) }

// tools returns tools with the given names. A tool whose name contains wildcards gets the given
// kind.
func tools(names []string, pattern gate.ToolKind) []gate.Tool {
	tools := gate.Tools(names...)
	for i := range tools {
		if isPattern(tools[i].Name) {
			tools[i].Kind = pattern
		}
	}
	return tools
}

// checkNet warns about constructs that are valid but admit more calls than their author might
// expect.
func (r *netReader) checkNet(n *config.Net) {
	if n.Match == "first" && len(n.Map) > 1 {
		r.inNet(n, problem(diag.Warning, FirstMatch, at(n.Of("match", ""), n.Position),
			`with "match: first", a call that matches several entries gets only the first one's name: "cp a && rm a" counts as a copy`, "omit match"))
	}
	for _, t := range n.Transitions {
		if t.Unknown == "release" {
			r.inNet(n, problem(diag.Warning, ReleasedToken, at(t.Of("unknown", ""), t.Position),
				fmt.Sprintf("the transition %q treats a call with an unknown outcome as not made, but it may have been made", t.Name), ""))
		}
		if t.Weak == "progress" {
			r.inNet(n, problem(diag.Warning, WeakProgress, at(t.Of("weak", ""), t.Position),
				fmt.Sprintf("the transition %q can fire for calls that may not be the ones it waits for", t.Name), ""))
		}
		if len(t.Except) == 0 {
			r.warnGlobs(n, t.Tools, places(t.Of, "tools", t.Position))
		}
		r.checkUnless(n, t)
	}
	r.warnGlobs(n, n.FreeTools, places(n.Of, "freeTools", n.Position))
	r.warnWindows(n)
	r.warnPlaces(n)
}

// warnPlaces warns about places that no transition or expression can use.
func (r *netReader) warnPlaces(n *config.Net) {
	if len(n.Validate)+len(n.Remember) > 0 || len(n.Transitions) == 0 {
		return // expressions might read the tokens in the place
	}
	for i, place := range n.Places {
		if slices.Contains(n.Places[:i], place) {
			continue // other checks report duplicate names as errors
		}
		if _, allows := n.Allow[place]; allows {
			continue
		}
		used := slices.ContainsFunc(n.Transitions, func(t config.Transition) bool {
			return slices.Contains(t.Inputs, place) || slices.Contains(t.Outputs, place)
		})
		if !used {
			r.inNet(n, problem(diag.Warning, UnusedPlace, at(n.Of("places", place), n.Position), fmt.Sprintf("no transition uses the place %q", place), "delete it, or name it in inputs or outputs"))
		}
	}
}

// checkUnless reports exemptions that never apply. An exemption applies only to a call that
// certainly has the exempted name. If map entries assign the name, at least one of them must
// contain "runs" or "when". Otherwise, no call certainly has the name.
func (r *netReader) checkUnless(n *config.Net, t config.Transition) {
	check := func(key, name string) {
		gives := func(certain bool) bool {
			return slices.ContainsFunc(n.Map, func(m config.Map) bool { return m.As == name && (len(m.Runs) > 0 || m.When.Text != "") == certain })
		}
		if gives(false) && !gives(true) {
			r.inNet(n, problem(diag.Error, WeakUnless, at(t.Of(key, name), t.Position),
				fmt.Sprintf("the transition %q exempts %q, but no call certainly has this name", t.Name, name), "map it with runs or when"))
		}
	}
	for _, name := range t.Unless {
		check("unless", name)
	}
	for _, name := range t.Except {
		check("except", name)
	}
}

// moves reports whether the transition changes the marking.
func moves(t config.Transition) bool {
	return !slices.Equal(slices.Sorted(slices.Values(t.Inputs)), slices.Sorted(slices.Values(t.Outputs)))
}

// warnWindows warns if a net with session scope should probably span several sessions. For example,
// two windows of the same client have separate sessions.
func (r *netReader) warnWindows(n *config.Net) {
	if n.Scope != "" {
		return // the user chose the scope explicitly
	}
	for _, p := range n.Prove {
		if p.Claim == "exclusive" {
			r.inNet(n, problem(diag.Warning, TwoWindows, position(p.Position),
				`"exclusive" holds only within one session: two windows are two sessions`, "write scope: principal, or scope: session to keep it this way"))
			return
		}
	}
	for _, t := range n.Transitions {
		if t.Deferred && !t.Observe && moves(t) {
			r.inNet(n, problem(diag.Warning, TwoWindows, position(t.Position),
				fmt.Sprintf("while %q is in flight, only calls in the same session wait: two windows are two sessions", t.Name), "write scope: principal, or scope: session to keep it this way"))
			return
		}
	}
}

func (r *netReader) warnGlobs(n *config.Net, tools []string, where func(tool string) gate.Position) {
	for _, tool := range tools {
		if isPattern(tool) {
			r.inNet(n, problem(diag.Warning, GlobInNet, where(tool), fmt.Sprintf("the tools of a net are exact names, but %q looks like a pattern", tool), "use a rule for patterns"))
		}
	}
}

// netError converts an error from the gate to a problem at the position of the transition.
func (b *builder) netError(e *gate.NetError) diag.Problem {
	p := problem(diag.Error, InvalidNet, e.Rule, e.Msg, e.Hint)
	if e.Transition != "" {
		p.Msg = fmt.Sprintf("transition %q: %s", e.Transition, e.Msg)
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
	p.Excerpt = b.source.Nets[i].Excerpt(p.Line, p.Column)
	return p
}
