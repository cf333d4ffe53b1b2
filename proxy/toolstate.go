package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// Tools lists the tools, and describes how the proxy would currently decide on a call to each of
// them in a session. If the session ID is empty and this process has exactly one session, Tools
// uses that session. Otherwise, an empty ID stands for a new session, which starts with the current
// shared state.
func (p *Proxy) Tools(sessionID string) ([]operator.ToolInfo, error) {
	if sessions := p.sessions.All(); sessionID == "" && len(sessions) == 1 {
		sessionID = sessions[0].ID
	}
	state, err := p.State(sessionID)
	if err != nil {
		return nil, err
	}
	now := p.life.Now()
	view := p.pool.Catalogue.Load()
	state.Tools = view.Calls
	list := []operator.ToolInfo{}
	for _, t := range view.Order {
		info := operator.ToolInfo{Canonical: t.Canonical, Bare: t.Name, Exposed: t.Exposed, Upstream: t.Upstream.Config.Name, Session: sessionID}
		info.InputSchema, _ = rawjson.Member(t.Object, "inputSchema")
		info.Description = rawjson.StringAt(t.Object, "description")
		info.Annotations, info.Definition = t.Annotations, t.Definition
		c := t.Call()
		c.Time = now
		info.Nets = toolVerdicts(p.admission.Generation().Policy, state, c, p.where)
		info.Depends = dependsOnArguments(info, state.Policy(), c)
		decision, _ := state.Policy().Decide(state, c, nil) // Decide has no side effects
		info.Decision, info.Says = p.predict(decision, info, now)
		list = append(list, info)
	}
	return list, nil
}

func toolVerdicts(inForce *gate.Policy, s *gate.State, c gate.Call, where func(gate.Position) string) []operator.ToolVerdict {
	list := []operator.ToolVerdict{}
	for _, v := range s.Policy().Classify(s, c) {
		if v.Kind == gate.Abstain {
			continue
		}
		one := operator.ToolVerdict{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Rule: where(v.Rule), Shadow: v.Shadow || inForce.Shadow()}
		if left, ok := s.Policy().Left(s, v); ok && v.Kind == gate.Gated {
			one.Left = &left
		}
		list = append(list, one)
	}
	return list
}

// dependsOnArguments reports whether the policy's decisions on calls to the tool can depend on the
// arguments. This is the case if a map statement applies to the tool; such a statement gives names
// to calls (see [gate.Map]). It is also the case if a net for the tool treats each value of a field
// separately, or limits the sum of a field. A map statement for a pattern of tools is ignored if
// this tool does not accept the argument that the statement reads.
func dependsOnArguments(t operator.ToolInfo, policy *gate.Policy, c gate.Call) bool {
	names := policy.Names(c)
	mapped := slices.ContainsFunc(policy.Maps(), func(m gate.Map) bool {
		return slices.ContainsFunc(names, func(n gate.Name) bool {
			return n.Text == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, n.Text) && (m.Field == "" || takesArgument(t.InputSchema, m.Field))
		})
	})
	return mapped || slices.ContainsFunc(policy.Nets(), func(n gate.NetInfo) bool {
		keyed := func(t gate.Transition) bool { return len(t.Key) > 0 }
		says := func(v operator.ToolVerdict) bool { return v.Net == n.Name }
		return (n.Sum != nil || slices.ContainsFunc(n.Transitions, keyed)) && slices.ContainsFunc(t.Nets, says)
	})
}

// takesArgument reports whether a tool with the given input schema could accept the named argument.
func takesArgument(schema json.RawMessage, argument string) bool {
	if len(schema) == 0 || strings.HasPrefix(argument, "$.") {
		return true
	}
	_, has := rawjson.MemberAt(schema, "properties", argument)
	return has
}

// predict describes how calls to the tool would be decided, based on the decision on a call without
// arguments.
func (p *Proxy) predict(d gate.Decision, info operator.ToolInfo, now time.Time) (decision, says string) {
	switch d := d.(type) {
	case *gate.Ask:
		decision, says = "ask", "asks "+text.People(d.Approvals(), "", "")+askedByRule(d, p.where)
	case *gate.Refusal:
		decision, says = "refuse", "refused: "+p.admission.Text(d, "", now)
	case *gate.Allow:
		decision, says = "allow", "passes"+remainingNets(info.Nets)
		if w := d.Would; w != nil && w.Kind == gate.KindApproval {
			says += "; rules in shadow mode would require approval"
		} else if w != nil {
			says += "; rules in shadow mode would refuse: " + p.admission.Text(w, "", now)
		}
	}
	if info.Depends {
		says = "depends on the arguments; without them: " + says
	}
	return decision, says
}

// askedByRule returns the part of a message that names the rules requiring approval, or "" if their
// positions are unknown.
func askedByRule(a *gate.Ask, where func(gate.Position) string) string {
	var rules []string
	for _, step := range a.Steps {
		if rule := where(step.Rule); rule != "" && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.Join(rules, ", "))
}

// remainingNets returns the part of a message that tells how many more calls each net's limit
// allows.
func remainingNets(nets []operator.ToolVerdict) string {
	text := ""
	for _, n := range nets {
		if n.Left == nil || n.Shadow {
			continue
		}
		text += fmt.Sprintf(", %d left", *n.Left)
		if n.Rule != "" {
			text += fmt.Sprintf(" (%s)", n.Rule)
		}
	}
	return text
}

// inShadow reports whether the policy has nets but all of them are in shadow mode.
func inShadow(g *admission.Generation) bool { return !g.Enforces && len(g.Policy.Nets()) > 0 }

// Offered is an immutable snapshot of the tools that clients can call.
type Offered struct{ view *pool.ToolView }

// Offered returns the tools that clients can call now.
func (p *Proxy) Offered() Offered { return Offered{p.pool.Catalogue.Load()} }

// Names returns one [gate.Call] for each tool, in list order. The fields Tool and Also of the call
// hold all names of the tool; the call has no arguments.
func (o Offered) Names() []gate.Call { return slices.Clone(o.view.Calls) }

// Definition returns a hash of the server's definition of the tool with the given exposed name, or
// "" if the tool is unknown.
func (o Offered) Definition(tool string) string {
	if t := o.view.Tool(tool); t != nil {
		return t.Definition
	}
	return ""
}

// Schema returns the inputSchema of a tool, or nil if its server provides none.
func (o Offered) Schema(tool string) json.RawMessage {
	t := o.view.Tool(tool)
	if t == nil {
		return nil
	}
	schema, _ := rawjson.Member(t.Object, "inputSchema")
	return schema
}
