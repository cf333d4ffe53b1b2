package policydiff

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// hooked adds agents' built-in tools to the alphabet, with the names that hooks give them. It adds
// them regardless of the configuration, because every proxy accepts hook events, at least from its
// own machine.
func (a *alphabet) hooked() {
	for _, agent := range agenttool.Agents() {
		a.prefixes = append(a.prefixes, agent+".")
	}
	for _, agent := range agenttool.Agents() {
		for _, tool := range a.toolsOf(agent) {
			with, without := agentCall(agent, tool, there), agentCall(agent, tool, missing)
			if a.sees(with.labels()) == a.sees(without.labels()) {
				with.command = either
			} else {
				a.add(without)
				a.addRestricting(without)
			}
			a.add(with)
			a.addRestricting(with)
		}
	}
}

// agentCall returns an agent's tool with the names that the agent's hook gives to its calls.
// command specifies whether these calls have the field "command".
func agentCall(agent, tool string, command presence) namedTool {
	return namedTool{name: tool, command: command, also: check.NamesByHook(agent, tool, command == there)}
}

// addRestricting adds variants of t that share some of their names with tools of servers. Under a
// shared name, the success of a call does not count toward requirements.
func (a *alphabet) addRestricting(t namedTool) {
	all := t
	all.foreign, all.also = true, slices.Clone(t.also)
	for i, n := range t.also {
		one := t
		one.also = slices.Clone(t.also)
		one.also[i].Certain, one.also[i].Weak = false, true
		if n.Certain {
			a.add(one)
		}
		all.also[i].Certain, all.also[i].Weak = false, true
	}
	a.add(all)
	t.foreign = true
	a.add(t)
}

// toolsOf returns names for an agent's tools: its built-in tools, an unknown tool, and tools that
// the policies mention by name or match by a pattern.
func (a *alphabet) toolsOf(agent string) []string {
	all, servers := agenttool.Of(agent), a.heads(instances(a.patterns))
	for _, name := range a.bases() {
		bare := strings.TrimPrefix(name, agent+".")
		all = append(all, name, bare, capital(bare))
		all = append(all, list.Map(servers, func(server string) string { return agenttool.Member(agent, server, bare) })...)
		if server, tool, ok := strings.Cut(name, "."); ok && tool != "" {
			all = append(all, agenttool.Member(agent, server, tool))
		}
	}
	all = append(all, "Unknown") // an unknown tool with the field "command" may run a script
	if len(a.patterns) > 0 {
		all = append(all, a.synthesize("", agent+".")...)
		all = append(all, a.spelled()...)
		for _, server := range servers {
			for _, bare := range a.synthesize("", agenttool.Member(agent, server, ""), server+".") {
				all = append(all, agenttool.Member(agent, server, bare))
			}
		}
	}
	all = slices.DeleteFunc(all, func(tool string) bool { return tool == "" || strings.ContainsAny(tool, "*?") })
	return list.Sorted(all)
}

func capital(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// spelled returns names that match the patterns with capital letters. It creates these names by
// capitalizing letters of generated names and of names that the policies mention.
func (a *alphabet) spelled() (all []string) {
	var capitals []string
	small := slices.Clone(a.patterns)
	for _, p := range a.patterns {
		if lower := strings.ToLower(p); lower != p {
			capitals = append(capitals, p)
			small = append(small, lower)
		}
	}
	if capitals == nil {
		return nil
	}
	lower := alphabet{vocabulary: vocabulary{patterns: small}}
	for _, name := range append(lower.synthesize(""), a.names...) {
		for _, p := range capitals {
			if spelt, ok := spelledAs(p, strings.ToLower(name)); ok {
				all = append(all, spelt)
			}
		}
	}
	if lower.why != "" {
		a.why = lower.why
	}
	return all
}

// spelledAs returns name with some letters capitalized so that the pattern matches it. ok is false
// if no such spelling of name matches the pattern.
func spelledAs(pattern, name string) (spelt string, ok bool) {
	if !toolnet.MatchGlob(strings.ToLower(pattern), name) {
		return "", false
	}
	for i, c := range pattern {
		switch c {
		case '*':
			for k := range len(name) + 1 {
				if rest, ok := spelledAs(pattern[i+1:], name[k:]); ok {
					return spelt + name[:k] + rest, true
				}
			}
		case '?':
			spelt, name = spelt+name[:1], name[1:]
		default:
			spelt, name = spelt+string(c), name[1:]
		}
	}
	return spelt, true
}
