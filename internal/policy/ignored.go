package policy

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
)

// ignored returns the arguments that are no part of the identity of calls: those of agents' own tools, and
// those of approval.ignore.
func (s *Source) ignored() (all []gate.Ignored) {
	for _, agent := range agenttool.Agents() {
		for _, tool := range agenttool.Of(agent) {
			for _, field := range agenttool.Asides(agent, tool) {
				all = append(all, gate.Ignored{Tool: agent + "." + tool, Field: field, Usual: true})
			}
		}
	}
	if s.Config == nil {
		return all
	}
	for _, text := range s.Config.Approval.Ignore {
		dot := strings.LastIndexByte(text, '.')
		all = append(all, gate.Ignored{Tool: text[:dot], Field: text[dot+1:]})
	}
	return all
}
