package testserver

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// AddTool adds a tool, replacing any tool of the same name, and notifies clients that the list has
// changed.
func (s *Server) AddTool(t Tool) {
	s.mu.Lock()
	if i := slices.IndexFunc(s.tools, func(old Tool) bool { return old.Name == t.Name }); i >= 0 {
		s.tools[i] = t
	} else {
		s.tools = append(s.tools, t)
	}
	s.mu.Unlock()
	s.listChanged()
}

// RemoveTool removes the named tool and notifies clients that the list has changed.
func (s *Server) RemoveTool(name string) {
	s.mu.Lock()
	s.tools = slices.DeleteFunc(s.tools, func(t Tool) bool { return t.Name == name })
	s.mu.Unlock()
	s.listChanged()
}

// visibleTools returns the tools visible to a client with the given capabilities.
func (s *Server) visibleTools(can map[string]json.RawMessage) []Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.tools), func(t Tool) bool { return t.Needs != "" && can[t.Needs] == nil })
}

func (s *Server) find(name string) (Tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(t Tool) bool { return t.Name == name || s.opts.FoldNames && strings.EqualFold(t.Name, name) }
	if t := list.Find(s.tools, is); t != nil {
		return *t, true
	}
	return Tool{}, false
}
