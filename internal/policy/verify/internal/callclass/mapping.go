package callclass

import "github.com/petrigate/petrigate/gate"

// A mapping is a map of the policy or of a net.
type mapping struct {
	*gate.Map
	net  int   // whose own map it is; -1: of the policy
	same []int // patterns for its reader that give the same label in the same place

	readings map[readingKey]gate.Reading // that are known; of all maps together
}

// A readingKey text is one that a reader has read, of a tool.
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

// read is what the reader of the map makes of the text.
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

// maxRead is how many overlaps are looked for of maps that a reader serves: of
// two commands there is hardly ever no script that runs both.
const maxRead = 200

// Overlaps finds maps of one field that one text can match. There may be more where
// stop says so, or where readers serve many of the maps.
func Overlaps(p *gate.Policy, stop func() bool) (found []Overlap, more bool) {
	o := overlaps{stop: stop}
	o.look(p.Maps())
	for _, n := range p.Nets() {
		if n.Labels == nil {
			o.look(n.Maps)
		}
	}
	return o.found, o.more
}

// overlaps are those found so far.
type overlaps struct {
	found []Overlap
	more  bool
	read  int // of maps that a reader serves
	stop  func() bool
}

func (o *overlaps) look(maps []gate.Map) {
	var patterns []pattern
	for _, m := range newMappings(maps, -1) {
		if o.more = o.more || o.stop(); o.stop() {
			return
		}
		p := newPattern(m)
		for i := range patterns {
			o.try(&patterns[i], &p)
		}
		patterns = append(patterns, p)
	}
}

// try looks for a text that both match.
func (o *overlaps) try(a, b *pattern) {
	read := a.Reader != nil && b.Reader != nil
	switch {
	case a.Tool != b.Tool || a.Field != b.Field || a.As == b.As:
		return
	case read && o.read == maxRead:
		o.more = true
		return
	}
	if text, ok := witness([]pattern{*a, *b}, 3); ok {
		o.found = append(o.found, Overlap{*a.Map, *b.Map, text})
		if read {
			o.read++
		}
	}
}
