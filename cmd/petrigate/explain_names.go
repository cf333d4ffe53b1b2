package main

import (
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/policytest"
	"github.com/petrigate/petrigate/internal/toolname"
)

// callsOf makes calls of tools with the names that they have behind the proxy
// of a configuration: gh_push, or gh.push, is the tool push of the server gh.
// Without one a tool has one name.
func callsOf(cfg *config.Config) func(tool string) gate.Call {
	return func(tool string) gate.Call {
		if cfg == nil {
			return gate.Call{Tool: tool}
		}
		listed := listedTool{Name: tool}
		servers := enabled(cfg)
		for _, s := range servers {
			if bare, ok := strings.CutPrefix(tool, s.Name+"."); ok {
				listed = listedTool{Exposed: toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(servers) == 1) + bare, Bare: bare, Canonical: tool}
			}
		}
		owners := ownersIn(cfg)
		listed.complete(owners)
		named := joined([]listedTool{listed}, owners)[0]
		return gate.Call{Tool: named.Name, Foreign: owners.Foreign(listed.names()), Also: named.Also, Upstream: listed.names().Upstream}
	}
}

// callsUnder is callsOf for the policy of tests.
func callsUnder(p *policytest.Policy) func(tool string) gate.Call { return callsOf(p.Config) }
