package callclass

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A mapping is a map and its owner, either the policy or a net. A map is a rule that gives labels
// to calls by their arguments.
type mapping struct {
	*gate.Map
	net  int   // index of the net that owns the map; -1 for the policy
	same []int // patterns of all map statements with the same label, tool, field and reader; nil if this map statement has no reader

	readings map[readingKey]gate.Reading // cache shared by all mappings that were created together
}

// A readingKey identifies a cached result of a reader: the reader, the string that it read, and the
// tool or pattern of tools in the map statement.
type readingKey struct {
	reader     gate.Reader
	tool, text string
}

func newMappings(maps []gate.Map, net int) []*mapping {
	out, readings := make([]*mapping, len(maps)), make(map[readingKey]gate.Reading)
	for i := range maps {
		m := &mapping{Map: &maps[i], net: net, readings: readings}
		for k := range maps {
			if o := &maps[k]; m.Reader != nil && o.Tool == m.Tool && o.Glob == m.Glob && o.Field == m.Field && o.As == m.As && o.Reader == m.Reader {
				m.same = append(m.same, o.Pattern)
			}
		}
		out[i] = m
	}
	return out
}

// read returns the reader's result for text. Results are cached.
func (m *mapping) read(text string) gate.Reading {
	key := readingKey{m.Reader, m.Tool, text}
	r, known := m.readings[key]
	if !known {
		if len(m.readings) == maxReadings {
			clear(m.readings)
		}
		r = m.Reader.Read(&gate.Call{Tool: m.Tool}, text)
		m.readings[key] = r
	}
	return r
}

// matches reports whether the map statement matches text, or might match it according to its
// reader.
func (m *mapping) matches(text string) bool {
	if m.Reader != nil {
		return m.read(text).Finds(m.Pattern) != gate.NotFound
	}
	return m.Match(text)
}

// maxReadings is the maximum number of cached results.
const maxReadings = 4096

// matchesTool reports whether the map applies to tools with the given name.
func (m *mapping) matchesTool(tool string) bool {
	return tool == m.Tool || m.Glob && toolnet.MatchGlob(m.Tool, tool)
}
