package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// ignored returns the arguments that are ignored when calls are compared: those in approval.ignore,
// and those of agents' built-in tools that do not change what a call does.
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

// A readIgnored finds the arguments in approval.ignore that are read by rules or nets. An approval
// does not depend on the value of such an argument, but the decision of a rule might.
type readIgnored struct{ fieldChecker }

// check warns about each map statement, key and sum that reads an argument in approval.ignore.
func (b readIgnored) check() {
	if b.source.Config == nil || len(b.source.Config.Approval.Ignore) == 0 {
		return
	}
	byPlace := b.labelsByPlace()
	for s := range b.statements {
		switch s := s.(type) {
		case *rules.Map:
			for _, tool := range s.Tools {
				b.warn(fieldsRead(byPlace[s.Pos]), tool.Matches, tool.Pos, "this map", func(p diag.Problem) { b.atName(tool, p) })
			}
		case *rules.Require:
			for _, k := range s.Key {
				b.field(k.Field, slices.Concat(s.Before, s.Since))
				b.field(k.Other, s.First)
			}
		case *rules.Limit:
			for _, k := range s.Key {
				b.field(k.Field, s.Tools)
			}
			if s.Of != nil {
				b.field(*s.Of, s.Tools)
			}
		}
	}
	for i := range b.source.Nets {
		b.net(&b.source.Nets[i])
	}
}

// net checks the map entries and the keys of a hand-written net.
func (b readIgnored) net(n *config.Net) {
	warned := make(map[[2]int]bool) // positions of earlier warnings, to warn only once about a key that several transitions share
	inNet := func(p diag.Problem) {
		if at := [2]int{p.Line, p.Column}; !warned[at] {
			warned[at] = true
			b.inNet(n, p)
		}
	}
	for _, m := range b.netMaps[n.Name] {
		b.warn(fieldsRead(m), func(tool string) bool { return tool == m.Tool }, m.Rule, "this map", inNet)
	}
	for _, t := range n.Transitions {
		key := t.Key
		if key == nil {
			key = n.Key
		}
		called := func(tool string) bool {
			return slices.ContainsFunc(t.Tools, func(name string) bool { return b.canHaveName(n, name, tool) })
		}
		for _, f := range key {
			b.warn(b.waysIn(f), called, position(f.Position), "this key", inNet)
		}
	}
}

// field warns if f, a field of a rule's key or sum, reads an argument in approval.ignore. It
// considers only tools whose calls can have one of the names.
func (b readIgnored) field(f rules.Field, names []rules.Name) {
	called := func(tool string) bool {
		return slices.ContainsFunc(names, func(n rules.Name) bool { return b.toolsOf(n)(tool) })
	}
	b.warn(b.waysTo(f), called, f.Pos, "this rule", func(p diag.Problem) {
		p.Excerpt = f.Excerpt()
		b.add(p)
	})
}

// warn issues a warning if one of the paths leads to an argument in approval.ignore and called
// returns true for the tool of this argument.
func (b readIgnored) warn(ways [][]string, called func(tool string) bool, where gate.Position, what string, add func(diag.Problem)) {
	for _, entry := range b.source.Config.Approval.Ignore {
		dot := strings.LastIndexByte(entry, '.')
		tool, field := entry[:dot], entry[dot+1:]
		bare := tool[strings.LastIndexByte(tool, '.')+1:]
		if (called(tool) || called(bare)) && slices.ContainsFunc(ways, func(way []string) bool { return len(way) > 0 && way[0] == field }) {
			add(problem(diag.Warning, ReadIgnored, where, fmt.Sprintf("%s reads %s, which approval.ignore lists: approving one value of it approves all values", what, entry),
				"remove it from approval.ignore, unless it only describes or times the call"))
			return
		}
	}
}
