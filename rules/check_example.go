package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// A labelSource is a tool and a name. Together they identify the map statements that give the name
// to calls to the tool.
type labelSource struct{ tool, as string }

// checkExamples compares each example with the names that the gate computes for its call.
func (c *compiler) checkExamples() {
	byLabel := make(map[string][]gate.Map)
	for _, m := range c.out.Labels.Maps {
		byLabel[m.As] = append(byLabel[m.As], m)
	}
	maps, asked := make(map[labelSource][]gate.Map), make(map[labelSource]*gate.Policy)
	for _, e := range statementsOf[*Example](c.statements) {
		for _, tool := range e.Tools {
			g := labelSource{tool.Text, e.As.Text}
			if _, known := maps[g]; !known {
				maps[g] = slices.DeleteFunc(slices.Clone(byLabel[g.as]), func(m gate.Map) bool {
					return m.Tool != g.tool && !(m.Glob && toolnet.MatchGlob(m.Tool, g.tool))
				})
				asked[g] = namingPolicy(maps[g])
			}
			switch {
			case c.hasFailedMap(g): // the error in the map statement has already been reported
			case len(maps[g]) == 0:
				c.failName(e, e.As, NoSuchMap, c.nearLabel(e, tool), "no map gives calls to %s the name %s", tool, e.As)
			case e.hasName(tool, asked[g]) == e.Not:
				c.failExample(e, tool, maps[g])
			case !e.Not && isEvidence(c.out.Nets, g.as):
				if why := e.noEvidenceReason(tool, asked[g]); why != nil {
					c.warnAt(e.Pos, e.line.span(e.value.off, e.value.end), NoProof, why.Advice, "rules restrict this call as %s, but its success does not count as %s: %s", e.As, e.As, why.What)
				}
			}
		}
	}
}

// isEvidence reports whether a call with the given name is required by a rule or refills a limit.
func isEvidence(nets []gate.Net, name string) bool {
	for _, n := range nets {
		for _, t := range n.Transitions {
			if t.Observe && !t.Spoils && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Name == name }) {
				return true
			}
		}
	}
	return false
}

// noEvidenceReason explains why a successful call with the example's arguments does not count
// toward a requirement. It returns nil if the call counts. It also returns nil unless the call
// certainly has the example's name.
func (e *Example) noEvidenceReason(tool Name, p *gate.Policy) *gate.Doubt {
	why, found := p.Why(gate.Call{Tool: tool.Text, Args: e.args()}, e.As.Text)
	if found != gate.Surely || why.What == "" {
		return nil
	}
	return &why
}

// hasFailedMap reports whether an error was found in a map statement that gives the name to the
// tool's calls.
func (c *compiler) hasFailedMap(g labelSource) bool {
	return slices.ContainsFunc(c.labels.maps[g.as], func(m *Map) bool { return c.failed[m.statement()] != nil && m.tool().Matches(g.tool) })
}

// nearLabel suggests a similar name that calls to the tool can get.
func (c *compiler) nearLabel(e *Example, tool Name) string {
	var known []string
	for _, m := range c.maps {
		if m.tool().Matches(tool.Text) {
			known = append(known, m.As.String())
		}
	}
	return text.Suggest(e.As.String(), known)
}

// namingPolicy returns a policy that only computes the names of calls. It ignores the error of
// NewPolicy, because the map statements have already been checked.
func namingPolicy(maps []gate.Map) *gate.Policy {
	p, _ := gate.NewPolicy([]gate.Net{{Name: "example", Labels: &gate.Labels{Maps: maps}}}, gate.PolicyOptions{})
	return p
}

// hasName reports whether p gives the example's name to the example's call.
func (e *Example) hasName(tool Name, p *gate.Policy) bool {
	names := p.Names(gate.Call{Tool: tool.Text, Args: e.args()})
	return slices.ContainsFunc(names[1:], func(n gate.Name) bool { return n.Text == e.As.Text }) // the first name is that of the tool
}

// args returns the call's arguments as JSON.
func (e *Example) args() []byte {
	if e.Field == "" {
		return []byte(e.Value)
	}
	doc, _ := json.Marshal(map[string]string{e.Field: e.Value}) // marshaling strings cannot fail
	return doc
}

// shownMaps is the maximum number of map statements shown in an error.
const shownMaps = 3

// failExample reports an example that does not hold. The error shows the map statements that
// wrongly give the name to the call, or those that should give it.
func (c *compiler) failExample(e *Example, tool Name, maps []gate.Map) {
	var found []string
	for _, m := range maps {
		if e.Not && !e.hasName(tool, namingPolicy([]gate.Map{m})) {
			continue
		}
		if found = append(found, fmt.Sprintf("%s at %s", m.Source, m.Rule)); len(found) == shownMaps {
			break
		}
	}
	format := "this call to %s is not named %s; the maps look for %s"
	if e.Not {
		format = "this call to %s is named %s, by %s"
	}
	c.fail(e, e.line.errorAt(FailedExample, e.value, "", format, tool, e.As, strings.Join(found, ", ")))
}
