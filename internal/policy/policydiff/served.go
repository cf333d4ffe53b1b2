package policydiff

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
)

// tooManyNames is the reason why the alphabet is incomplete if patterns match names in too many
// ways.
const tooManyNames = "the patterns match names in too many ways"

// served adds the tools of the configured servers. If neither policy has a configuration, it adds
// tools of the servers suggested by the names in the policies; see [alphabet.supposed].
func (a *alphabet) served(sides [2]*Side) {
	known := false
	for _, s := range sides {
		if !s.configured {
			continue
		}
		known = true
		for _, o := range s.owners {
			a.prefixes = append(a.prefixes, o.Upstream+".")
			if o.Prefix != "" {
				a.prefixes = append(a.prefixes, o.Prefix)
			}
			bares := a.bares(o)
			more := a.synthesize("", o.Prefix, o.Upstream+".")
			for _, bare := range append(bares, more...) {
				a.tool(s.owners, o, bare)
			}
		}
	}
	if !known {
		a.supposed()
	}
}

// bares returns the tool names that server o might use, judging by the names in the policies. It
// tries each of these names as written and without the server's prefixes.
func (a *alphabet) bares(o toolname.Owner) []string {
	var all []string
	for _, name := range a.bases() {
		all = append(all, name)
		for _, prefix := range []string{o.Prefix, o.Upstream + "."} {
			if bare := strings.TrimPrefix(name, prefix); bare != "" {
				all = append(all, bare)
			}
		}
	}
	return list.Sorted(all)
}

// synthesize returns unused names, one for each combination of patterns that can match the same
// name. It tries each name with each of the prefixes, which must include the empty prefix.
func (a *alphabet) synthesize(prefixes ...string) []string {
	if len(a.patterns) == 0 {
		return nil
	}
	slices.Sort(prefixes)
	taken := make(map[string]bool)
	for _, name := range a.names {
		taken[name] = true
	}
	names, complete := verify.Synthesize(a.patterns, slices.Compact(prefixes), taken)
	if !complete {
		a.why = tooManyNames
	}
	return names
}

// tool adds a tool of server o with the names that the proxy gives to it. bare is the server's own
// name for the tool.
func (a *alphabet) tool(owners toolname.Owners, o toolname.Owner, bare string) {
	names := toolname.Names{Upstream: o.Upstream, Bare: bare, Exposed: toolname.Exposed(o.Prefix, bare), Canonical: o.Upstream + "." + bare}
	t := namedTool{name: names.Exposed, foreign: owners.Foreign(names), also: toolname.AdditionalNames([]toolname.Names{names}, owners)[0]}
	a.add(t)
	if len(owners) == 1 { // add a variant of the tool whose bare name only restricts calls, because another tool of the server may have the same name
		t.also = slices.Clone(t.also)
		for i := range t.also {
			if t.also[i].Text == bare && bare != names.Exposed {
				t.also[i].Certain, t.also[i].Weak = false, true
			}
		}
		a.add(t)
	}
}

// supposed adds tools of the servers suggested by the names that the policies mention. For example,
// "sh.bash" and "sh_bash" are names of the tool "bash" if there is a server "sh".
func (a *alphabet) supposed() {
	owners := a.heads(append(a.bases(), instances(a.patterns)...))
	bares := list.FlatMap(owners, func(o string) []string { return a.bares(toolname.Owner{Upstream: o, Prefix: o + "_"}) })
	bares = append(bares, list.FlatMap(a.heads(instances(a.patterns)), func(o string) []string { return a.synthesize("", o+"_", o+".") })...)
	for _, bare := range list.Sorted(bares) {
		for _, upstream := range a.mentionedOwners(owners, "."+bare) {
			o := toolname.Owner{Upstream: upstream}
			a.tool(toolname.Owners{o}, o, bare)
			for _, prefix := range a.mentionedOwners(owners, "_"+bare) {
				o.Prefix = prefix + "_"
				a.tool(toolname.Owners{o}, o, bare)
				a.tool(toolname.Owners{o, {Upstream: unnamed + "2", Prefix: unnamed + "2_"}}, o, bare)
			}
		}
	}
}

// unnamed is the name of a server that neither policy mentions.
const unnamed = "server"

// heads returns names of possible servers. It takes the parts of the given names before a dot or an
// underscore, and adds unnamed.
func (a *alphabet) heads(names []string) []string {
	all := []string{unnamed}
	for _, name := range names {
		for i := 1; i < len(name)-1; i++ {
			if name[i] == '.' || name[i] == '_' {
				all = append(all, name[:i])
			}
		}
	}
	return list.Sorted(all)
}

// mentionedOwners returns the servers that the policies mention. It appends the suffix to the name
// of each server and looks for the result among the names and patterns of the policies. For
// example, if the suffix is ".push" and a policy mentions git.push, the result contains the server
// git. The result always contains unnamed, which stands for all other servers.
func (a *alphabet) mentionedOwners(owners []string, rest string) []string {
	all := []string{unnamed}
	for _, o := range owners {
		name := o + rest
		is := func(other string) bool { return other == name || strings.HasPrefix(other, name+".") }
		matches := func(pattern string) bool { return toolnet.MatchGlob(pattern, name) }
		if o != unnamed && (slices.ContainsFunc(a.names, is) || slices.ContainsFunc(a.patterns, matches)) {
			all = append(all, o)
		}
	}
	return all
}

// instances returns, for each pattern, a few short names that it matches.
func instances(patterns []string) []string {
	return list.FlatMap(patterns, func(p string) []string {
		return []string{strings.NewReplacer("*", "", "?", "x").Replace(p), strings.NewReplacer("*", "x", "?", "x").Replace(p)}
	})
}
