package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/cel"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// A fieldChecker holds the keys and sums of rules against the schemas of tools.
type fieldChecker struct{ *builder }

// check warns of keys and sums that read an argument which no tool of the rule takes:
// such a rule refuses every call, or waits for evidence that never comes.
func (b fieldChecker) check(s rules.Statement) {
	switch s := s.(type) {
	case *rules.Require:
		for _, k := range s.Key {
			b.checkField(k.Field, s.Before, "so this rule refuses every call of it")
			b.checkField(k.Other, s.First, "so no call of it is evidence for this rule")
		}
	case *rules.Limit:
		for _, k := range s.Key {
			b.checkField(k.Field, s.Tools, "so this rule refuses every call of it")
			if s.Per != nil {
				b.checkField(k.Other, []rules.Name{*s.Per}, "so no call of it gives one back")
			}
		}
		if s.Of != nil {
			b.checkField(*s.Of, s.Tools, "so this rule refuses every call of it")
		}
	}
}

// checkField warns of each name of which no tool takes the argument that the field reads.
func (b fieldChecker) checkField(f rules.Field, names []rules.Name, so string) {
	if f.Result {
		return
	}
	for _, n := range names {
		for _, way := range b.waysOf(f) {
			key, known := b.fieldLacking(b.toolsOf(n), way)
			if key == "" {
				continue
			}
			hint := text.Suggest(key, known)
			if hint == "" && len(known) > 0 {
				hint = "its arguments are " + strings.Join(known, ", ")
			}
			p := problem(diag.Warning, UnknownField, f.Pos, fmt.Sprintf("%s has no argument %q, %s", n.Text, key, so), hint)
			p.Excerpt = f.Excerpt()
			b.add(p)
		}
	}
}

// waysOf are the keys that lead to what the field reads, of an expression the members of
// args that it names.
func (b fieldChecker) waysOf(f rules.Field) (ways [][]string) {
	if !f.Expression {
		return [][]string{wayOf(f.Text)}
	}
	if b.result.Policy == nil {
		return nil // no reader is known
	}
	for _, n := range b.result.Policy.Nets() {
		fields := slices.Clone(n.Key)
		for _, t := range n.Transitions {
			fields = append(fields, t.Key...)
		}
		if n.Sum != nil {
			fields = append(fields, n.Sum.Field)
		}
		for _, g := range fields {
			reader, ok := g.Reader.(*cel.Reader)
			if !ok || g.Source != f.String() {
				continue
			}
			for _, key := range reader.Arguments(g.Number) {
				ways = append(ways, []string{key})
			}
			return ways
		}
	}
	return nil
}

// toolsOf tells which tools have calls of the name: as their own, as an action, or by a map.
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
