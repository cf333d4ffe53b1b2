package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// A giver identifies the maps of one tool that give one label.
type giver struct{ tool, as string }

// checkExamples asks the gate for the names that the maps give each example.
func (c *compiler) checkExamples() {
	maps, refused := make(map[giver][]gate.Map), make(map[giver]bool)
	for _, m := range c.out.Labels.Maps {
		g := giver{m.Tool, m.As}
		maps[g] = append(maps[g], m)
	}
	for _, m := range c.maps {
		if c.failed[m] != nil {
			refused[giver{m.Tool.Text, m.As.Text}] = true
		}
	}
	asked := make(map[giver]*gate.Policy)
	for _, e := range of[*Example](c.statements) {
		g := giver{e.Tool.Text, e.As.Text}
		switch {
		case refused[g]: // reported already
		case maps[g] == nil:
			c.failName(e, e.As, NoSuchMap, c.nearLabel(e), "no map gives calls of %s the name %s", e.Tool, e.As)
		default:
			if asked[g] == nil {
				asked[g] = namer(maps[g])
			}
			if e.holds(asked[g]) == e.Not {
				c.failExample(e, maps[g])
			}
		}
	}
}

// nearLabel suggests a name that calls of the tool can get.
func (c *compiler) nearLabel(e *Example) string {
	var known []string
	for _, m := range c.maps {
		if m.Tool.Text == e.Tool.Text {
			known = append(known, m.As.String())
		}
	}
	return text.Suggest(e.As.String(), known)
}

// namer returns a policy that only names calls. The gate accepts every map that
// was compiled.
func namer(maps []gate.Map) *gate.Policy {
	p, _ := gate.NewPolicy([]gate.Net{{Name: "example", Labels: &gate.Labels{Maps: maps}}}, gate.PolicyOptions{})
	return p
}

// holds reports whether the maps of p meet the example e.
func (e *Example) holds(p *gate.Policy) bool {
	names := p.Names(gate.Call{Tool: e.Tool.Text, Args: e.args()})
	return slices.ContainsFunc(names[1:], func(n gate.Name) bool { return n.Text == e.As.Text }) // the first is the tool
}

// args returns the arguments of the call.
func (e *Example) args() []byte {
	if e.Field == "" {
		return []byte(e.Value)
	}
	doc, _ := json.Marshal(map[string]string{e.Field: e.Value}) // strings cannot fail
	return doc
}

// shownMaps is the maximum number of maps in an error.
const shownMaps = 3

// failExample reports the maps that matched but should not, or those that did
// not match.
func (c *compiler) failExample(e *Example, maps []gate.Map) {
	var found []string
	for _, m := range maps {
		if e.Not && !e.holds(namer([]gate.Map{m})) {
			continue
		}
		if found = append(found, fmt.Sprintf("%s at %s", m.Source, m.Rule)); len(found) == shownMaps {
			break
		}
	}
	format := "this call of %s is not named %s; the maps look for %s"
	if e.Not {
		format = "this call of %s is named %s, by %s"
	}
	c.fail(e, e.line.errorAt(FailedExample, e.value, "", format, e.Tool, e.As, strings.Join(found, ", ")))
}
