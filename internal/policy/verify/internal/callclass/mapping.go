package callclass

import "github.com/petrigate/petrigate/gate"

// A mapping is a map of the policy or of a net.
type mapping struct {
	*gate.Map
	net  int   // whose own map it is; -1: of the policy
	same []int // patterns for its reader that give the same label in the same place

	readings map[heard]gate.Reading // that are known; of all maps together
}

// A heard text is one that a reader has read, of a tool.
type heard struct {
	reader     gate.Reader
	tool, text string
}

func newMappings(maps []gate.Map, net int) []*mapping {
	out, readings := make([]*mapping, len(maps)), make(map[heard]gate.Reading)
	for i := range maps {
		m := &mapping{Map: &maps[i], net: net, readings: readings}
		for k := range maps {
			if o := &maps[k]; m.Reader != nil && o.Tool == m.Tool && o.Field == m.Field && o.As == m.As && o.Reader == m.Reader {
				m.same = append(m.same, o.Pattern)
			}
		}
		out[i] = m
	}
	return out
}

// read is what the reader of the map makes of the text.
func (m *mapping) read(text string) gate.Reading {
	key := heard{m.Reader, m.Tool, text}
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

// matches reports whether the text has what the map looks for, or its reader
// cannot tell.
func (m *mapping) matches(text string) bool {
	if m.Reader != nil {
		return m.read(text).Finds(m.Pattern) != gate.NotFound
	}
	return m.Match(text)
}

// maxReadings bounds what is remembered at a time.
const maxReadings = 4096

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
