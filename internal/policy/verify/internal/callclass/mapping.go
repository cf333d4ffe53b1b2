package callclass

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A mapping is a map of the policy or of a net.
type mapping struct {
	*gate.Map
	net  int   // whose own map it is; -1: of the policy
	same []int // patterns for its reader that give the same label in the same place
}

func newMappings(maps []gate.Map, net int) []*mapping {
	out := make([]*mapping, len(maps))
	for i := range maps {
		m := &mapping{Map: &maps[i], net: net}
		for k := range maps {
			if o := &maps[k]; m.Reader != nil && o.Tool == m.Tool && o.Field == m.Field && o.As == m.As && o.Reader == m.Reader {
				m.same = append(m.same, o.Pattern)
			}
		}
		out[i] = m
	}
	return out
}

func (m *mapping) read(text string) gate.Reading {
	return m.Reader.Read(&gate.Call{Tool: m.Tool}, text)
}

// matches reports whether the text has what the map looks for, or its reader
// cannot tell.
func (m *mapping) matches(text string) bool {
	if m.Reader != nil {
		return m.read(text).Finds(m.Pattern) != gate.NotFound
	}
	return m.Match(text)
}

// remembering are the maps, but that no text is matched or read twice.
func remembering(maps []gate.Map) []gate.Map {
	out := slices.Clone(maps)
	readers := make(map[gate.Reader]gate.Reader)
	for i := range out {
		if r := out[i].Reader; r != nil {
			if readers[r] == nil {
				readers[r] = &memory{Reader: r, readings: make(map[heard]gate.Reading)}
			}
			out[i].Reader = readers[r]
		}
		if out[i].Match == nil {
			continue
		}
		match, known := out[i].Match, make(map[string]bool)
		out[i].Match = func(s string) bool {
			yes, ok := known[s]
			if !ok {
				yes = match(s)
				known[s] = yes
			}
			return yes
		}
	}
	return out
}

// A memory is a reader that knows what it has read of texts. Calls as a whole it
// reads anew.
type memory struct {
	gate.Reader
	readings map[heard]gate.Reading
}

// A heard text is one of a tool.
type heard struct{ tool, text string }

// maxReadings bounds what is remembered at a time.
const maxReadings = 4096

func (m *memory) Read(c *gate.Call, text string) gate.Reading {
	if len(c.Args) > 0 {
		return m.Reader.Read(c, text)
	}
	key := heard{c.Tool, text}
	r, known := m.readings[key]
	if !known {
		if len(m.readings) == maxReadings {
			clear(m.readings)
		}
		r = m.Reader.Read(c, text)
		m.readings[key] = r
	}
	return r
}

// An Overlap is two maps of one field that can match one call.
type Overlap struct {
	First, Second gate.Map
	Text          string // that both match
}

// Overlaps finds maps of one field that one text can match; fewer where stop says so.
func Overlaps(p *gate.Policy, stop func() bool) []Overlap {
	out := overlapping(p.Maps(), stop)
	for _, n := range p.Nets() {
		if n.Labels == nil {
			out = append(out, overlapping(n.Maps, stop)...)
		}
	}
	return out
}

func overlapping(maps []gate.Map, stop func() bool) []Overlap {
	var out []Overlap
	var patterns []pattern
	for _, m := range newMappings(maps, -1) {
		if stop() {
			return out
		}
		p := newPattern(m)
		for _, other := range patterns {
			if other.Tool != p.Tool || other.Field != p.Field || other.As == p.As {
				continue
			}
			if text, ok := witness([]pattern{other, p}, 3); ok {
				out = append(out, Overlap{*other.Map, *p.Map, text})
			}
		}
		patterns = append(patterns, p)
	}
	return out
}
