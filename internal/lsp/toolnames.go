package lsp

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// A toolName is the name of a tool, with a description of where it comes from.
type toolName struct {
	name, is string
	fields   []string // names of the tool's arguments
}

// toolNames returns the known tools for a document's policy, as of the last check.
func (s *server) toolNames(d *document) []toolName {
	p := s.project(d.path)
	set, is := check.ToolSet{}, "a tool of the running proxy"
	switch tools := s.recorded(); {
	case tools != nil && p != nil:
		set, is = check.KnownSet(tools, p.source.Config), "a tool in the recorded list"
	case tools != nil:
		set, is = check.KnownSet(tools, nil), "a tool in the recorded list"
	case p != nil:
		set = s.runningTools(p.main).tools
	}
	return list.Map(set.Names(), func(name string) toolName { return toolName{name, is, fieldsOf(set.Schemas[name])} })
}

// fieldsOf returns the sorted names of all arguments that the given schemas define.
func fieldsOf(schemas []policy.Schema) []string {
	var fields []string
	for _, s := range schemas {
		properties, _ := s["properties"].(map[string]any)
		fields = slices.AppendSeq(fields, maps.Keys(properties))
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}
