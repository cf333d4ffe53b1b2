package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/cel"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// Lacks returns an argument that field f reads but none of the schemas lists, or "" if f reads only
// listed arguments.
func Lacks(schemas []Schema, f gate.Field) (argument string) {
	ways := [][]string{wayOf(f.Path)}
	if f.Path == "" {
		ways = mentioned(f.Reader, f.Number)
	}
	for _, way := range ways {
		for _, s := range schemas {
			if argument, _ = s.lacks(way); argument == "" {
				break
			}
		}
		if argument != "" {
			return argument
		}
	}
	return ""
}

// fieldLacking looks for an argument that is missing from the schemas of all tools accepted by
// matches. It returns the first missing key on the path to the argument, and the keys that a schema
// lists in its place. If some schema has the argument, or the tools have no schemas, the returned
// key is empty.
func (b *builder) fieldLacking(matches func(tool string) bool, way []string) (key string, known []string) {
	for _, tool := range slices.Sorted(maps.Keys(b.source.Schemas)) {
		if !matches(tool) {
			continue
		}
		for _, s := range b.source.Schemas[tool] {
			if key, known = s.lacks(way); key == "" {
				return "", nil
			}
		}
	}
	return key, known
}

// wayOf returns the object keys on the path to an argument. The field is either a path such as
// $.user.id, or a single key.
func wayOf(field string) []string {
	if !strings.HasPrefix(field, "$.") && !strings.HasPrefix(field, "$[") {
		return []string{field}
	}
	path, _ := jsonpath.Parse(field) // the gate has already accepted the path
	return path.Keys()
}

// fieldsRead returns the path to each argument that the given [gate.Map] reads.
func fieldsRead(m gate.Map) [][]string {
	if m.Field != "" {
		return [][]string{wayOf(m.Field)}
	}
	return mentioned(m.Reader, m.Pattern)
}

// mentioned returns the path to each argument that an expression mentions. number is the number of
// the expression in the reader. If the reader does not evaluate expressions, mentioned returns nil.
func mentioned(reader any, number int) [][]string {
	expressions, ok := reader.(*cel.Reader)
	if !ok {
		return nil
	}
	return list.Map(expressions.Arguments(number), func(key string) []string { return []string{key} })
}

// checkMaps warns about map statements in rules that name an unknown tool or read an argument that
// the tool does not have. It returns the names assigned by the map statements that can apply to a
// call.
func (b *builder) checkMaps() (given []string) {
	byPlace := b.labelsByPlace()
	for s := range b.statements {
		if m, ok := s.(*rules.Map); ok && b.mapApplies(m, byPlace[m.Pos]) {
			given = append(given, m.As.Text)
		}
	}
	return given
}

// labelsByPlace returns the compiled map statements of the rules, keyed by position.
func (b *builder) labelsByPlace() map[gate.Position]gate.Map {
	byPlace := make(map[gate.Position]gate.Map)
	for _, m := range b.labels.Maps {
		byPlace[m.Rule] = m
	}
	return byPlace
}

// mapApplies reports whether the map statement can apply to any call. It also warns about unknown
// tools, and about arguments that the tools do not accept.
func (b *builder) mapApplies(m *rules.Map, of gate.Map) (applies bool) {
	so := "so this map never applies"
	if len(m.Tools) > 1 {
		so += " to it"
	}
	for _, tool := range m.Tools {
		applies = (fieldChecker{b}).mapApplies(tool, of, so) || applies
	}
	return applies
}

// mapApplies reports whether the map statement can apply to calls to the given tool. If not, it
// warns about the unknown tool or argument. The warning ends with the given consequence, such as
// "so this map never applies".
func (b fieldChecker) mapApplies(tool rules.Name, of gate.Map, consequence string) bool {
	if !isKnown(tool, b.source.Tools) {
		msg, hint := fmt.Sprintf("unknown tool %q", tool.Text), b.nearestTool(tool.Text, b.source.Tools)
		if tool.Glob() {
			msg, hint = fmt.Sprintf("the pattern %q matches no known tool", tool.Text), text.Suggest(tool.Text, b.source.Tools)
		}
		b.atName(tool, problem(diag.Warning, UnknownTool, tool.Pos, msg+", "+consequence, hint))
		return false
	}
	applies := true
	for _, way := range fieldsRead(of) {
		key, known := b.fieldLacking(tool.Matches, way)
		if key == "" {
			continue
		}
		b.atName(tool, noField(tool.Text, key, known, tool.Pos, mapReads(of, consequence)))
		applies = applies && of.Field == ""
	}
	return applies
}

// checkNetField warns if a map entry of a hand-written net reads an argument that the entry's tool
// does not accept.
func (b *builder) checkNetField(n *config.Net, m config.Map) {
	for _, of := range b.netMaps[n.Name] {
		if of.Rule != position(m.Position) {
			continue
		}
		for _, way := range fieldsRead(of) {
			if key, known := b.fieldLacking(func(tool string) bool { return tool == m.Tool }, way); key != "" {
				b.inNet(n, noField(m.Tool, key, known, at(m.Of("field", ""), m.Of("when", ""), m.Position), mapReads(of, "so this map never applies")))
			}
		}
	}
}

// mapReads returns the phrase at the end of a warning about an unknown argument. If the map's
// expression reads the argument, the phrase mentions the expression. Otherwise, the phrase is the
// given consequence.
func mapReads(m gate.Map, consequence string) string {
	if m.Field == "" {
		return "which this map's expression reads"
	}
	return consequence
}

func noField(tool, key string, known []string, where gate.Position, so string) diag.Problem {
	hint := text.Suggest(key, known)
	if hint == "" && len(known) > 0 {
		hint = "its arguments are " + strings.Join(known, ", ")
	}
	return problem(diag.Warning, UnknownField, where, fmt.Sprintf("%s has no argument %q, %s", tool, key, so), hint)
}

// unknownAction splits a name of the form tool.action if the tool's schema does not list the
// action. Otherwise, it returns empty strings.
func (b *builder) unknownAction(n rules.Name) (action, tool string) {
	if n.Quoted || n.Glob() {
		return "", ""
	}
	for i := range n.Text {
		if n.Text[i] != '.' || slices.Contains(b.source.Tools, n.Text) {
			continue
		}
		if schemas := b.source.Schemas[n.Text[:i]]; len(schemas) > 0 && !slices.ContainsFunc(schemas, func(s Schema) bool { return s.hasAction(n.Text[i+1:]) }) {
			return n.Text[i+1:], n.Text[:i]
		}
	}
	return "", ""
}

func (b *builder) nearestAction(tool, action string) string {
	known := list.FlatMap(b.source.Schemas[tool], Schema.actions)
	if near := text.Nearest(action, known); near != "" {
		return fmt.Sprintf("did you mean %q?", tool+"."+near)
	}
	if len(known) == 0 {
		return tool + " has no argument \"action\""
	}
	return "its actions are " + strings.Join(known, ", ")
}

// A fieldChecker checks whether the tools' schemas list the arguments that a policy reads, for
// example to count calls separately for each value (a key) or to add up amounts (a sum).
type fieldChecker struct{ *builder }
