package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/rules"
)

// check warns if a rule's key or sum reads an argument that some tool of the rule does not accept.
// The rule may then refuse every call to this tool.
func (b fieldChecker) check(s rules.Statement) {
	switch s := s.(type) {
	case *rules.Require:
		for _, k := range s.Key {
			b.checkField(k.Field, s.Before, "so this rule refuses every call to it")
			b.checkField(k.Other, s.First, "so no call to it counts as evidence for this rule")
			b.checkField(k.Field, s.Since, "so each call to it cancels the successes for all values")
		}
	case *rules.Limit:
		for _, k := range s.Key {
			b.checkField(k.Field, s.Tools, "so this rule refuses every call to it")
			if s.Per != nil {
				b.checkField(k.Other, []rules.Name{*s.Per}, "so no call to it refills the limit")
			}
		}
		if s.Of != nil {
			b.checkField(*s.Of, s.Tools, "so this rule refuses every call to it")
		}
	}
}

// checkField warns about each name whose tools do not accept the argument that f reads.
func (b fieldChecker) checkField(f rules.Field, names []rules.Name, so string) {
	for _, n := range names {
		for _, p := range b.lacking(n.Text, b.toolsOf(n), b.waysTo(f), f.Pos, so) {
			p.Excerpt = f.Excerpt()
			b.add(p)
		}
	}
}

// lacking returns a problem for each path that does not lead to an argument of the tools with the
// given name.
func (b fieldChecker) lacking(name string, tools func(string) bool, ways [][]string, where gate.Position, so string) (ps diag.List) {
	for _, way := range ways {
		if key, known := b.fieldLacking(tools, way); key != "" {
			ps = append(ps, noField(name, key, known, where, so))
		}
	}
	return ps
}

// checkNet warns about keys of a hand-written net that read an argument that a tool of the
// transition does not accept. A gating transition then refuses every call to this tool, and an
// observing transition never fires for it.
func (b fieldChecker) checkNet(n *config.Net) {
	for _, t := range n.Transitions {
		key, so := t.Key, "so this net refuses every call to it"
		if key == nil {
			key = n.Key
		}
		if t.Observe {
			so = fmt.Sprintf("so no call to it fires %q", t.Name)
		}
		for _, f := range key {
			for _, name := range t.Tools {
				tools := func(tool string) bool { return b.canHaveName(n, name, tool) }
				for _, p := range b.lacking(name, tools, b.waysIn(f), position(f.Position), so) {
					b.inNet(n, p)
				}
			}
		}
	}
}

// canHaveName reports whether a call to the tool can have the name in net n. This is so if it is
// the name of the tool, or if a map entry of the net assigns it to calls to the tool.
func (b fieldChecker) canHaveName(n *config.Net, name, tool string) bool {
	return name == tool || slices.ContainsFunc(n.Map, func(m config.Map) bool { return m.As == name && m.Tool == tool })
}

// waysTo returns the path to each argument that f reads. f is part of a rule's key or sum. If f
// reads the result of a call, waysTo returns nil.
func (b fieldChecker) waysTo(f rules.Field) [][]string {
	switch {
	case f.Result:
		return nil
	case f.Expression:
		return b.waysOf(f.String())
	}
	return [][]string{wayOf(f.Text)}
}

// waysIn returns the path to each argument that f reads. f is a field of the key of a hand-written
// net.
func (b fieldChecker) waysIn(f config.KeyField) [][]string {
	switch {
	case f.Result:
		return nil
	case f.Expression.Text != "":
		return b.waysOf(f.String())
	}
	return [][]string{wayOf(f.Path)}
}

// waysOf returns the path to each argument that an expression mentions.
func (b fieldChecker) waysOf(source string) [][]string {
	if b.result.Policy == nil {
		return nil // without a policy, the paths in expressions are unknown
	}
	for _, n := range b.result.Policy.Nets() {
		fields := slices.Concat(n.Key, list.FlatMap(n.Transitions, func(t gate.Transition) []gate.Field { return t.Key }))
		if n.Sum != nil {
			fields = append(fields, n.Sum.Field)
		}
		for _, g := range fields {
			if _, ok := g.Reader.(*cel.Reader); ok && g.Source == source {
				return mentioned(g.Reader, g.Number)
			}
		}
	}
	return nil
}

// toolsOf returns a function that reports whether calls to a tool can have the name n, directly or
// through a map statement.
func (b fieldChecker) toolsOf(n rules.Name) func(tool string) bool {
	return func(tool string) bool {
		if n.Matches(tool) || !n.Quoted && strings.HasPrefix(n.Text, tool+".") {
			return true
		}
		return slices.ContainsFunc(b.labels.Maps, func(m gate.Map) bool {
			return n.Matches(m.As) && rules.Name{Text: m.Tool, Quoted: !m.Glob}.Matches(tool)
		})
	}
}
